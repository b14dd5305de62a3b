#!/bin/sh
# Prints the first Python that can run Clausebook: 3.11 or newer, with venv. $PYTHON goes first.
# With a version it prints one of that version:  find_python.sh 3.11
wanted=${1:-}
for python in ${PYTHON:-} ${wanted:+python$wanted} python3 python3.13 python3.12 python3.11 python3.14; do
  if "$python" -c 'import sys, venv, ensurepip
version = "%d.%d" % sys.version_info[:2]
sys.exit(sys.version_info < (3, 11) or sys.argv[1] not in ("", version))' "$wanted" 2>/dev/null
  then
    command -v "$python"
    exit 0
  fi
done
what="Clausebook needs Python 3.11 or newer with venv"
[ -z "$wanted" ] || what="The packages are built with Python $wanted (packaging/locks) and its venv"
echo "$what, and none was found." >&2
echo "Install one, or name it: make PYTHON=/path/to/python${wanted:-3.12} …" >&2
exit 1
