#!/bin/sh
# Tries the portable llama.cpp on old processors, by emulation:  cpu_check.sh PYTHON
# Each must answer; a build for this machine's own processor would die of an illegal instruction.
# The oldest also recognises a title on a page, which takes minutes there.
set -eu
cd "$(dirname "$0")/.."
python=${1:-build/package/venv/bin/python}
emulator=$(command -v qemu-x86_64-static || command -v qemu-x86_64) || {
  echo "qemu-user isn't installed; left out." >&2
  exit 0
}
interpreter=$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))')
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
recognise=--recognise wanted="Supply and Services Agreement"
for processor in Westmere SandyBridge Haswell; do
  answer=$(PYTHONPATH="$site:." OMP_NUM_THREADS=1 "$emulator" -cpu "$processor" "$interpreter" \
    packaging/cpu_answer.py $recognise 2>/dev/null) || {
    echo "$processor: no answer (exit code $?)" >&2
    exit 1
  }
  echo "$processor: $answer"
  case $answer in *Paris*"$wanted"*) ;; *) exit 1 ;; esac
  recognise="" wanted=""
done
