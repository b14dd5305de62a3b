#!/bin/sh
# Installs the Debian package in a clean root and uses it there as an ordinary user would:
#     clean_root.sh bookworm|trixie dist/clausebook_…_amd64.deb [NEXT [SCAN]]
# NEXT is the program of the next version, for the trial of an upgrade (bundle.py makes one); SCAN
# is a scanned page of a sample (scan.py makes one).
# No Python, no compiler and, after the installation, no network in the root; the user's home is
# "/home/张 三", the locale POSIX. Needs root and debootstrap. The bare root is kept in the user's
# cache for the next run; the changed one is thrown away.
set -eu
release=${1:?bookworm or trixie}
package=$(readlink -f "${2:?the .deb}")
next=${3:-}
scan=${4:-}
here=$(dirname "$(readlink -f "$0")")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/clausebook/roots
out=$(dirname "$package")
fail() { echo "$release: $*" >&2; exit 1; }

if [ ! -d "$cache/$release" ]; then
  mkdir -p "$cache"
  echo "Making the bare root of $release, once …"
  rm -rf --one-file-system "$cache/$release.partial"
  debootstrap --variant=minbase "$release" "$cache/$release.partial" >"$cache/$release.log" 2>&1 \
    || fail "debootstrap made no root; its last words in $cache/$release.log: $(tail -n 1 "$cache/$release.log")"
  mv "$cache/$release.partial" "$cache/$release"
fi

scratch=$(mktemp -d "$cache/trial.XXXXXX")
root=$scratch/root
home="$root/home/张 三"
mkdir -p "$scratch/upper" "$scratch/work" "$root"
cleanup() {
  for mounted in "$home" "$root/tmp/disk" "$root/sys" "$root/proc" "$root/dev/shm" "$root/dev" "$root"; do
    umount -l "$mounted" 2>/dev/null || true
  done
  rm -rf --one-file-system "$scratch"
}
trap cleanup EXIT INT TERM
# No overlay lies on another one, as in a container's own files: there the root is copied.
mount -t overlay overlay -o "lowerdir=$cache/$release,upperdir=$scratch/upper,workdir=$scratch/work" \
  "$root" 2>/dev/null || cp -a "$cache/$release/." "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
mount -t sysfs -o ro sysfs "$root/sys"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/tmp/clausebook.deb"
cp -r "$here/trial" "$root/tmp/trial"
[ -z "$scan" ] || cp "$scan" "$root/tmp/scan.pdf"
if command -v cc >/dev/null 2>&1; then
  # A library that would run if anything of the current folder were loaded.
  echo 'static void __attribute__((constructor)) run(void) { extern int creat(const char *, unsigned); creat("/tmp/planted-library-ran", 0600); }' \
    | cc -shared -fPIC -w -x c - -o "$root/tmp/libggml-cpu-x64.so"
fi

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive "$@"; }
install() {
  inside apt-get install -y -qq --no-install-recommends "$@" >"$scratch/log" 2>&1 \
    || fail "apt-get install $*: $(cat "$scratch/log")"
}
as_user() { unshare --net chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=POSIX LANG=C \
  USER=zhangsan HOME="/home/张 三" setpriv --reuid zhangsan --regid zhangsan --init-groups \
  sh "/tmp/trial/$1.sh" ${2:-}; }

echo "-- $release: installing"
inside apt-get update -qq
install /tmp/clausebook.deb
# For the trial only: a screen, a look at it, keys, and Chinese characters.
install xvfb x11-apps xdotool xclip xz-utils fonts-noto-cjk fonts-dejavu-core
if inside sh -c 'command -v python3 || command -v gcc' >/dev/null; then fail "the root isn't clean"; fi
inside useradd --create-home --home-dir "/home/张 三" --shell /bin/sh zhangsan

echo "-- $release: using it, without network"
as_user terminal
[ ! -e "$root/tmp/planted-library-ran" ] || fail "a library planted in the current folder was run"
as_user window
as_user killed

echo "-- $release: starting it"
sync -f "$root"
# Its files and the system's out of memory, as after a start of the machine.
find "$root/opt/clausebook" "$root/usr/lib" "$root/usr/share/fonts" -type f \
  -exec dd if={} iflag=nocache count=0 status=none \;
as_user start cold
as_user start warm

echo "-- $release: when things go wrong"
mkdir "$root/tmp/disk"
mount -t tmpfs -o size=48m,mode=0777 none "$root/tmp/disk"
as_user full_disk
mount --bind "$home" "$home"
mount -o remount,ro,bind "$home"
as_user read_only_home
umount "$home"

for addon in "$out"/clausebook-torch_*.deb; do
  [ -e "$addon" ] || continue
  echo "-- $release: the add-on"
  cp "$addon" "$root/tmp/addon.deb"
  inside dpkg --install /tmp/addon.deb >/dev/null
  as_user addon
  inside dpkg --remove clausebook-torch >/dev/null
  [ ! -e "$root/opt/clausebook/addons" ] || fail "the add-on left files behind"
done

echo "-- $release: upgrading it"
if [ -n "$next" ]; then
  inside dpkg-deb --raw-extract /tmp/clausebook.deb /tmp/next
  sed -i 's/^Version: .*/&.1/' "$root/tmp/next/DEBIAN/control"
  cp "$next" "$root/tmp/next/opt/clausebook/clausebook"
  inside dpkg-deb --root-owner-group -Znone --build /tmp/next /tmp/next.deb >/dev/null
  rm -r "$root/tmp/next"
  inside dpkg --install /tmp/next.deb >/dev/null
  as_user upgraded
else
  echo "Left out: no program of the next version was named."
fi
for picture in answer killed read-only; do
  convert "xwd:$root/tmp/window-$picture.xwd" "$out/window-$release-$picture.png" 2>/dev/null || true
done

# What lies in the user's home is the program's, the desktop's fonts, or what the user put there.
strange=$(find "$home" -type f -not -path "*/.local/share/clausebook/*" \
  -not -path "*/.local/state/clausebook/*" -not -path "*/.config/clausebook/*" \
  -not -path "*/.cache/fontconfig/*" -not -path "*/合同 contracts/*" -not -path "$home/.bash*" \
  -not -path "$home/.profile")
[ -z "$strange" ] || fail "files that nobody asked for: $strange"

echo "-- $release: removing it"
inside apt-get purge -y -qq clausebook >/dev/null
[ ! -e "$root/opt/clausebook" ] && [ ! -e "$root/usr/bin/clausebook" ] || fail "purge left files behind"
[ -s "$home/.local/share/clausebook/library/library.sqlite3" ] || fail "purge removed the user's data"
left=$(find "$root" -xdev -iname '*clausebook*' -not -path "$root/home/*" -not -path "$root/tmp/*" \
  -not -path "$root/proc/*" -not -path "$root/sys/*" -not -path "$root/var/cache/apt/*")
[ -z "$left" ] || fail "purge left $left"
for archive in "$out"/clausebook-*-linux-x86_64.tar.xz; do
  [ -e "$archive" ] || continue
  echo "-- $release: the archive in its place"
  cp "$archive" "$root/tmp/clausebook.tar.xz"
  as_user archive
done
echo "-- $release: passed"
