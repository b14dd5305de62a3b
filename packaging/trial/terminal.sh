#!/bin/sh
# Self-test, documents, an answer with a citation, a follow-up after a restart, a scanned page; in
# the terminal. Nothing tries the network.
set -eu
. /tmp/trial/common.sh
cd "$HOME"
mkdir -p "合同 contracts"
cd "合同 contracts"
cp $samples/*.pdf .
# A library that would leave a trace if anything of the current folder were loaded.
[ ! -e /tmp/libggml-cpu-x64.so ] || cp /tmp/libggml-cpu-x64.so .

echo "version, doctor and self-test"
clausebook --version >/tmp/version.before
clausebook doctor >/tmp/doctor.txt || fail "doctor: $(cat /tmp/doctor.txt)"
clausebook doctor --self-test --json >/tmp/doctor.json || fail "self-test: $(cat /tmp/doctor.json)"

echo "documents, an answer with a citation, a follow-up after a restart"
clausebook ingest supply-agreement.pdf purchase-contract-zh.pdf --json >/tmp/ingest.json
[ "$(grep -c '"status": "ready"' /tmp/ingest.json)" = 2 ] || fail "ingest: $(cat /tmp/ingest.json)"
clausebook ask "How is payment made?" --document supply-agreement.pdf --conversation trial \
  --json >/tmp/first.json
grep -q '"quote": "8.1 Payment is made by bank transfer' /tmp/first.json \
  || fail "no citation: $(cat /tmp/first.json)"
clausebook ask "And how is liability for breach determined?" --conversation trial \
  --json >/tmp/second.json
reused=$(value reused_tokens </tmp/second.json)
from=$(value restored_from </tmp/second.json)
[ "${reused:-0}" -gt 100 ] || fail "the follow-up reused nothing: $(cat /tmp/second.json)"
[ "$from" = disk ] || fail "the follow-up came from '$from'"
echo "  the follow-up reused $reused tokens from $from, read $(value prefilled_tokens </tmp/second.json)"

if [ -e /tmp/scan.pdf ]; then
  echo "a scanned page, in a library of its own"
  cp /tmp/scan.pdf "scan 扫描.pdf"
  began=$(now_ms)
  clausebook ingest "scan 扫描.pdf" --library /tmp/scans --json >/tmp/scan.json 2>/tmp/scan.err \
    || fail "ingest: $(cat /tmp/scan.err)"
  echo "  added after $(($(now_ms) - began)) ms"
  grep -q '"status": "ready"' /tmp/scan.json || fail "ingest: $(cat /tmp/scan.json)"
  [ ! -s /tmp/scan.err ] || fail "ingest says: $(cat /tmp/scan.err)"
  clausebook ask "How is payment made?" --library /tmp/scans --json >/tmp/scan.json
  grep -q '"quote": "8.1 Payment is made by bank transfer' /tmp/scan.json \
    || fail "no citation of the scan: $(cat /tmp/scan.json)"
else
  echo "a scanned page: left out, none was named"
fi

echo "a broken file"
printf 'not a PDF' >broken.pdf
if clausebook ingest broken.pdf >/tmp/bad.out 2>/tmp/bad.err; then fail "a broken file was taken"; fi
one_line /tmp/bad.err broken.pdf

left=$(find / -xdev -iname '*onnxruntime*' -user "$(id -un)" 2>/dev/null || true)
[ -z "$left" ] || fail "onnxruntime keeps an id: $left"
sent_nothing
