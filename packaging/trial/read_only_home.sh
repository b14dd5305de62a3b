#!/bin/sh
# The user's home can't be written to: one line says so; with a library elsewhere all works.
set -eu
. /tmp/trial/common.sh
cd /tmp
! touch "$HOME/written" 2>/dev/null || fail "the home isn't read-only"

echo "a read-only home"
if clausebook ingest $samples/master-agreement.pdf >/tmp/ro.out 2>/tmp/ro.err; then fail "added: $(cat /tmp/ro.out)"; fi
one_line /tmp/ro.err "can't be written to; choose another"
echo "  ingest: $(cat /tmp/ro.err)"
# SQLite reads such a library if the last program that used it left its index of the log.
if clausebook ask "How is payment made?" --conversation trial --json >/tmp/ro.json 2>/tmp/ro.err; then
  grep -q '"page": ' /tmp/ro.json || fail "an answer without a citation: $(cat /tmp/ro.json)"
  ! grep -q Traceback /tmp/ro.err || fail "a traceback: $(cat /tmp/ro.err)"
else
  one_line /tmp/ro.err "can't be written to; choose another"
fi
echo "  ask: $(cat /tmp/ro.err)"
if clausebook doctor >/tmp/ro.out 2>/tmp/ro.err; then fail "doctor sees no problem: $(cat /tmp/ro.out)"; fi
grep -q "library can't be written to" /tmp/ro.out || fail "doctor: $(cat /tmp/ro.out /tmp/ro.err)"
[ ! -s /tmp/ro.err ] || fail "doctor complains: $(cat /tmp/ro.err)"

echo "  with a library elsewhere"
clausebook ingest $samples/supply-agreement.pdf --library /tmp/elsewhere >/dev/null
clausebook ask "How is payment made?" --library /tmp/elsewhere --json >/tmp/ro.json 2>/tmp/ro.err
grep -q '"quote": "8.1 Payment' /tmp/ro.json || fail "no citation: $(cat /tmp/ro.json)"
[ ! -s /tmp/ro.err ] || fail "not silent: $(cat /tmp/ro.err)"

echo "  the window"
open_screen
clausebook >/tmp/window.log 2>&1 &
window=$!
wait_until 30 visible || fail "no window: $(cat /tmp/window.log)"
sleep 3
picture window-read-only
xdotool search --onlyvisible --name Clausebook windowfocus
close_window
kill $screen
