#!/bin/sh
# Puts Clausebook and what it needs into the virtual environment:  install.sh VENV run|test
set -eu
venv=${1:?the virtual environment}
purpose=${2:?run or test}
here=$(dirname "$0")
python=$venv/bin/python

extras=models
[ "$purpose" = test ] && extras=models,torch,reference,dev
constraints=""
if "$here/has_gpu.sh"; then
  [ "$purpose" = test ] || extras=$extras,torch
else
  constraints="--constraint $here/../constraints-cpu.txt"
fi

wheel=$("$python" "$here/../build_llama.py" native)
echo "Installing Python packages (a few minutes the first time) …" >&2
# shellcheck disable=SC2086
"$python" -m pip install --quiet --disable-pip-version-check $constraints "$wheel" -e ".[$extras]"
