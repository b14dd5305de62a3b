#!/bin/sh
# Installs the Debian package in a clean root and uses it there as an ordinary user would:
#     clean_root.sh bookworm|trixie dist/clausebook_…_amd64.deb
# No Python, no compiler and, after the installation, no network in it; the user's home is
# "/home/张 三", the locale POSIX. Needs root and debootstrap. The bare root is kept in the user's
# cache for the next run; the changed one is thrown away.
set -eu
release=${1:?bookworm or trixie}
package=$(readlink -f "${2:?the .deb}")
here=$(dirname "$(readlink -f "$0")")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/clausebook/roots
out=$(dirname "$package")

if [ ! -d "$cache/$release" ]; then
  mkdir -p "$cache"
  echo "Making the bare root of $release, once …"
  debootstrap --variant=minbase "$release" "$cache/$release.partial" >"$cache/$release.log" 2>&1
  mv "$cache/$release.partial" "$cache/$release"
fi

scratch=$(mktemp -d "$cache/trial.XXXXXX")
root=$scratch/root
mkdir -p "$scratch/upper" "$scratch/work" "$root"
cleanup() {
  for mounted in "$root/proc" "$root/dev/shm" "$root/dev" "$root"; do
    umount -l "$mounted" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap cleanup EXIT INT TERM
mount -t overlay overlay -o "lowerdir=$cache/$release,upperdir=$scratch/upper,workdir=$scratch/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/tmp/clausebook.deb"
cp "$here/clean_root_user.sh" "$root/tmp/trial.sh"
if command -v cc >/dev/null 2>&1; then
  # A library that would run if anything of the current folder were loaded.
  echo 'static void __attribute__((constructor)) run(void) { extern int creat(const char *, unsigned); creat("/tmp/planted-library-ran", 0600); }' \
    | cc -shared -fPIC -w -x c - -o "$root/tmp/libggml-cpu-x64.so"
fi

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive "$@"; }

echo "-- $release: installing"
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends /tmp/clausebook.deb >/dev/null
# For the trial only: a screen, a look at it, and Chinese characters.
inside apt-get install -y -qq --no-install-recommends xvfb x11-apps xdotool fonts-noto-cjk \
  fonts-dejavu-core >/dev/null
if inside sh -c 'command -v python3 || command -v gcc' >/dev/null; then
  echo "$release: the root isn't clean" >&2
  exit 1
fi
inside useradd --create-home --home-dir "/home/张 三" --shell /bin/sh zhangsan

as_user() { unshare --net chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=POSIX LANG=C \
  USER=zhangsan HOME="/home/张 三" setpriv --reuid zhangsan --regid zhangsan --init-groups "$@"; }

echo "-- $release: using it, without network"
as_user sh /tmp/trial.sh first
if [ -e "$root/tmp/planted-library-ran" ]; then
  echo "$release: a library planted in the current folder was run" >&2
  exit 1
fi

echo "-- $release: upgrading it"
inside dpkg-deb --raw-extract /tmp/clausebook.deb /tmp/next
sed -i 's/^Version: .*/&+next/' "$root/tmp/next/DEBIAN/control"
inside dpkg-deb --root-owner-group -Znone --build /tmp/next /tmp/next.deb >/dev/null
rm -r "$root/tmp/next"
inside dpkg --install /tmp/next.deb >/dev/null
as_user sh /tmp/trial.sh upgraded
convert "xwd:$root/tmp/window.xwd" "$out/window-$release.png" 2>/dev/null || true

echo "-- $release: removing it"
inside apt-get purge -y -qq clausebook >/dev/null
if [ -e "$root/opt/clausebook" ] || [ -e "$root/usr/bin/clausebook" ]; then
  echo "$release: purge left files behind" >&2
  exit 1
fi
if [ ! -d "$root/home/张 三/.local/share/clausebook/library" ]; then
  echo "$release: purge removed the user's data" >&2
  exit 1
fi
echo "-- $release: passed"
