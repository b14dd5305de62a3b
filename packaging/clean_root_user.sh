#!/bin/sh
# The user's part of clean_root.sh; runs inside the clean root, without network.
#     clean_root_user.sh first|upgraded
set -eu
cd "$HOME"
mkdir -p "合同 contracts"
cd "合同 contracts"
cp /opt/clausebook/_internal/assets/samples/*.pdf .
[ ! -e /tmp/libggml-cpu-x64.so ] || cp /tmp/libggml-cpu-x64.so .
fail() { echo "FAILED: $*" >&2; exit 1; }
value() { sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" | head -n 1; }

if [ "$1" = upgraded ]; then
  echo "documents and conversation of the version before"
  clausebook ask "Who pays the deposit?" --document supply-agreement.pdf --conversation trial --json > /tmp/third.json
  [ "$(value restored_from < /tmp/third.json)" = disk ] || fail "after the upgrade: $(cat /tmp/third.json)"
  exit 0
fi

echo "self-test"
clausebook doctor --self-test --json > /tmp/doctor.json || { cat /tmp/doctor.json; fail "doctor --self-test"; }

echo "ingest, ask with a citation, follow-up after a restart"
clausebook ingest supply-agreement.pdf purchase-contract-zh.pdf --json > /tmp/ingest.json
grep -q '"status": "ready"' /tmp/ingest.json || fail "ingest: $(cat /tmp/ingest.json)"
clausebook ask "How is payment made?" --document supply-agreement.pdf --conversation trial --json > /tmp/first.json
grep -q '"quote": "..' /tmp/first.json || fail "no citation: $(cat /tmp/first.json)"
clausebook ask "And how is liability for breach determined?" --conversation trial --json > /tmp/second.json
reused=$(value reused_tokens < /tmp/second.json)
from=$(value restored_from < /tmp/second.json)
[ "${reused:-0}" -gt 0 ] || fail "the follow-up reused nothing: $(cat /tmp/second.json)"
[ "$from" = disk ] || fail "the follow-up came from '$from'"
echo "  follow-up reused $reused tokens from $from, read $(value prefilled_tokens < /tmp/second.json)"

echo "bad input"
printf 'not a PDF' > broken.pdf
if clausebook ingest broken.pdf > /tmp/bad.out 2> /tmp/bad.err; then fail "a broken file was taken"; fi
! grep -q Traceback /tmp/bad.err || fail "a traceback: $(cat /tmp/bad.err)"

echo "window"
Xvfb :77 -screen 0 1440x900x24 -nolisten tcp > /dev/null 2>&1 &
server=$!
sleep 2
started=$(date +%s%N)
DISPLAY=:77 clausebook purchase-contract-zh.pdf > /tmp/window.log 2>&1 &
program=$!
shown=""
for _ in $(seq 300); do
  if DISPLAY=:77 xdotool search --onlyvisible --name Clausebook > /dev/null 2>&1; then shown=yes; break; fi
  kill -0 $program 2>/dev/null || fail "the window's process ended: $(cat /tmp/window.log)"
  sleep 0.1
done
[ -n "$shown" ] || fail "no window: $(cat /tmp/window.log)"
echo "  shown after $(( ($(date +%s%N) - started) / 1000000 )) ms"
sleep 15
DISPLAY=:77 xwd -root -silent > /tmp/window.xwd
kill -0 $program 2>/dev/null || fail "the program ended: $(cat /tmp/window.log)"
kill $program
wait $program 2>/dev/null || true
kill $server
