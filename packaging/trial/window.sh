#!/bin/sh
# The window: an answer with a citation, a restart, a follow-up from the cache; then its worker is
# killed in the middle of an answer.
set -eu
. /tmp/trial/common.sh
cd "$HOME/合同 contracts"
log="$HOME/.local/state/clausebook/log/window.log"
most_reused() {
  cat "$HOME"/.local/share/clausebook/library/library.sqlite* \
    | grep -ao '"reused_tokens": [0-9]*' | grep -o '[0-9]*$' | sort -n | tail -n 1
}
deaths() { grep -c "the library worker ended with code -9" "$log" || true; }
open_screen

echo "questions in the window, in English and in Chinese"
open_window purchase-contract-zh.pdf
ask_window "How is payment made?"
wait_for_answer /tmp/window-first.txt
grep -q '^\[1\] supply-agreement.pdf, p. 4: “8.1 Payment is made' /tmp/window-first.txt \
  || fail "no citation: $(cat /tmp/window-first.txt)"
ask_window "逾期交货的违约金是多少？"
wait_for_answer /tmp/window-chinese.txt
grep -q '^\[1\] purchase-contract-zh.pdf, p. [0-9]: “.*违约金' /tmp/window-chinese.txt \
  || fail "no Chinese citation: $(cat /tmp/window-chinese.txt)"
sleep 1
picture window-answer
close_window

echo "the window again: the conversation is there and goes on from the cache"
before=$(most_reused)
open_window
ask_window "And how is liability for breach determined?"
wait_for_answer /tmp/window-second.txt
[ "$(most_reused)" -gt "$before" ] || fail "the follow-up reused no more than the turn before it"
echo "  the follow-up reused $(most_reused) tokens; the turn before the restart $before"

echo "the library worker is killed in the middle of an answer"
before=$(deaths)
killed=$worker
ask_window "How long is the warranty?"
wait_for_work "$engine" 30
kill -KILL "$killed"
wait_until 20 gone "$engine" || fail "the killed worker's engine goes on"
wait_until 30 find_worker $window || fail "no new worker"
[ "$worker" != "$killed" ] || fail "the same worker"
sleep 1
picture window-killed
[ $(($(deaths) - before)) = 1 ] || fail "the log doesn't tell of the killed worker once"
ask_window "How long is the warranty?"
wait_for_answer /tmp/window-third.txt
grep -q "p\. [0-9]" /tmp/window-third.txt || fail "no citation: $(cat /tmp/window-third.txt)"
close_window
kill $screen
sent_nothing
