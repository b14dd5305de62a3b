#!/bin/sh
# Prints the first Python that can run Clausebook: 3.11 or newer, with venv. $PYTHON goes first.
for python in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.14; do
  if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
  then
    command -v "$python"
    exit 0
  fi
done
echo "Clausebook needs Python 3.11 or newer with venv, and found none." >&2
echo "Install one, or name it: make PYTHON=/path/to/python3.12 …" >&2
exit 1
