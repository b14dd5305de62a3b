#!/bin/sh
# Starts Clausebook from its folder, after a look at what the system must bring.
here=$(dirname "$(readlink -f "$0")")
missing=$(for library in $(cat "$here/needs.txt"); do
  if ! /sbin/ldconfig -p 2>/dev/null | grep -q "^[[:space:]]*$library " \
    && ! ls /lib64/"$library" /usr/lib/"$library" /usr/lib64/"$library" >/dev/null 2>&1; then
    echo "$library"
  fi
done)
libc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //')
oldest=$(printf '%s\n2.35\n' "${libc:-0}" | sort -V | head -n 1)
if [ "$oldest" != 2.35 ]; then
  echo "Clausebook needs glibc 2.35 or newer; this system has ${libc:-another C library}." >&2
  exit 1
fi
if [ -n "$missing" ]; then
  echo "Clausebook needs libraries that this system lacks:" $missing >&2
  echo "On Debian or Ubuntu this brings them:" >&2
  echo "    sudo apt-get install $(cat "$here/packages.txt")" >&2
  exit 1
fi
exec "$here/program/clausebook" "$@"
