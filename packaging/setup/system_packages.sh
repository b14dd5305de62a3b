#!/bin/sh
# Makes sure that the system packages for a purpose are there:  system_packages.sh run|test|package
# As root they are installed; otherwise the one command to run is named. Writes nothing else.
set -eu
purpose=${1:?run, test or package}
look=${2:-1}
find_python=$(dirname "$0")/find_python.sh

# "a|b" is satisfied by either; the first one that apt knows is installed.
run_packages="python3 python3-venv g++ cmake
  libgl1 libegl1 libglib2.0-0|libglib2.0-0t64 libdbus-1-3 libfontconfig1 libfreetype6 libgomp1
  libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1
  libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libxcb-xinerama0
  fonts-dejavu-core|fonts-liberation"
test_packages="xvfb xauth fonts-noto-cjk|fonts-wqy-zenhei|fonts-droid-fallback"
package_packages="binutils chrpath debootstrap desktop-file-utils appstream lintian
  qemu-user-static xz-utils gnupg file imagemagick"

case $purpose in
  run) wanted=$run_packages ;;
  test) wanted="$run_packages $test_packages" ;;
  package) wanted="$run_packages $test_packages $package_packages" ;;
  *) echo "system_packages.sh: '$purpose' is none of run, test, package." >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null 2>&1; then
  missing=""
  for program in python3 c++ cmake; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
  done
  if [ -n "$missing" ]; then
    echo "Please install these first, with this system's package manager:$missing" >&2
    exit 1
  fi
  exit 0
fi

present() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -q '^installed$'; }
# What a program is frozen with: Debian's python3 comes without its shared library.
libpython() {
  python=$("$find_python" 3.11 2>/dev/null) || return 0
  "$python" -c 'import sys; v = "libpython%d.%d" % sys.version_info[:2]
if sys.base_prefix == "/usr": print(v + "|" + v + "t64")'
}
new_enough() { "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

[ "$purpose" != package ] || wanted="$wanted $(libpython)"
missing=""
for alternatives in $wanted; do
  found=""
  for name in $(echo "$alternatives" | tr '|' ' '); do
    if present "$name"; then found=yes; break; fi
  done
  [ -n "$found" ] || missing="$missing $alternatives"
done
# A python3 older than 3.11 (Ubuntu 22.04) is helped by the release's own python3.11.
if present python3 && ! new_enough python3 && ! new_enough python3.13 && ! new_enough python3.12 \
  && ! new_enough python3.11; then
  case " $missing " in *" python3-venv "*) ;; *) missing="$missing python3.11 python3.11-venv" ;; esac
fi
if [ -z "$missing" ]; then
  [ "$purpose" != package ] || "$find_python" 3.11 >/dev/null
  exit 0
fi

if [ "$(id -u)" -ne 0 ]; then
  names=$(for alternatives in $missing; do echo "${alternatives%%|*}"; done | tr '\n' ' ')
  echo "System packages are missing: $names" >&2
  echo "Please run this once, then the same make command again:" >&2
  echo "    sudo $0 $purpose" >&2
  exit 1
fi
echo "Installing system packages:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
names=""
for alternatives in $missing; do
  chosen=${alternatives%%|*}
  for name in $(echo "$alternatives" | tr '|' ' '); do
    if [ -n "$(apt-cache show "$name" 2>/dev/null | head -n 1)" ]; then chosen=$name; break; fi
  done
  names="$names $chosen"
done
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $names >/dev/null
# Another look: the list grows where python3 has turned out to be too old, and by its library.
[ "$look" -ge 3 ] || exec "$0" "$purpose" $((look + 1))
