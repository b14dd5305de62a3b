#!/bin/sh
# Builds the Linux packages and tries them:  package.sh [--quick]
# Quick: uncompressed, one clean root. The clean roots need root and the right to mount; without
# them they are left out. Run by the Makefile, which sees to the system packages.
set -eu
cd "$(dirname "$0")/.."
quick=""
[ "${1:-}" = --quick ] && quick=yes
work=build/package
out=dist
python=$work/venv/bin/python
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
export PYTHONDONTWRITEBYTECODE=1 ORT_DISABLE_TELEMETRY=1
step() { echo "== $* ($(date +%H:%M:%S))"; }

step "Packaging environment"
mkdir -p $work $out
stamp=$(cat packaging/locks/linux.lock packaging/locks/llama-source.lock | sha256sum)
if [ "$(cat $work/venv/locked 2>/dev/null)" != "$stamp" ]; then
  rm -rf $work/venv
  "$(packaging/setup/find_python.sh 3.11)" -m venv $work/venv
  $python -m pip install --quiet --disable-pip-version-check --require-hashes \
    --requirement packaging/locks/linux.lock
  # An index without network is enough: the wheel's own needs are in the lock.
  $python -m pip install --quiet --disable-pip-version-check --no-deps \
    "$($python packaging/build_llama.py portable)"
  echo "$stamp" > $work/venv/locked
fi
# For preparing the models only; what they need is not frozen.
if [ ! -e $work/models-venv/whole ]; then
  rm -rf $work/models-venv
  "$(packaging/setup/find_python.sh 3.11)" -m venv $work/models-venv
  $work/models-venv/bin/python -m pip install --quiet --disable-pip-version-check \
    onnx safetensors numpy
  touch $work/models-venv/whole
fi
$work/models-venv/bin/python packaging/fetch_models.py build/models

step "Program"
$python packaging/icons.py $work
$python packaging/bundle.py $work/clausebook
$python packaging/elf_audit.py $work/clausebook
$python packaging/documents.py $work/clausebook $work/documents

desktop-file-validate packaging/linux/clausebook.desktop

step "Packages"
rm -f $out/*
if [ -n "$quick" ]; then
  $python packaging/debian.py $work/clausebook $work/documents $out --compression none
else
  $python packaging/debian.py $work/clausebook $work/documents $out --compression xz
  $python packaging/tarball.py $work/clausebook $work/documents $out
  cp -a $work/clausebook $work/bare
  rm -r $work/bare/_internal/models
  $python packaging/debian.py $work/bare $work/documents $out --compression xz
  rm -r $work/bare
  $python packaging/addon.py $work/clausebook $out
  step "Other processors, and this one"
  packaging/cpu_check.sh $python
  # A time, and so no condition: other jobs on the machine change it. It is printed.
  $python packaging/speed_check.py .venv/bin/python $python --limit inf
fi
cp $work/documents/clausebook.cdx.json $out/
$python packaging/integrity.py $out
$python packaging/sizes.py $work/clausebook $out
if [ -z "$quick" ]; then
  # Left out: what a frozen program is by its nature, and an address that nobody has yet.
  lintian --fail-on error --suppress-tags dir-or-file-in-opt,embedded-library \
    --suppress-tags library-not-linked-against-libc,unstripped-binary-or-object \
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog \
    --suppress-tags package-installs-python-bytecode \
    $out/clausebook_*_amd64.deb
fi

step "Clean roots"
if [ "$(id -u)" -ne 0 ] || ! unshare --mount --propagation unchanged true 2>/dev/null; then
  echo "Left out: clean roots need root and the right to mount (a container has it if privileged)."
else
  package=$(ls $out/clausebook_*_amd64.deb)
  $python packaging/scan.py assets/samples/supply-agreement.pdf "8.1 Payment" $work/scan.pdf
  packaging/clean_root.sh bookworm "$package" $work/clausebook-next $work/scan.pdf
  [ -n "$quick" ] || packaging/clean_root.sh trixie "$package" $work/clausebook-next $work/scan.pdf
fi
step "Done: $out"
ls -l $out
