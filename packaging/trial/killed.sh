#!/bin/sh
# The engine is killed in the middle of an answer, in the terminal: one line says so, and both that
# question and the next are answered.
set -eu
. /tmp/trial/common.sh
cd "$HOME/合同 contracts"
shown() { grep -q "$1" /tmp/chat.out; }
answered() { grep -q "tokens reused" /tmp/chat.err; }

echo "the engine is killed in the middle of an answer"
mkfifo /tmp/questions
clausebook chat supply-agreement.pdf --conversation killed </tmp/questions >/tmp/chat.out 2>/tmp/chat.err &
chat=$!
exec 3>/tmp/questions
wait_until 60 find_engine $chat || fail "no engine: $(cat /tmp/chat.err)"
echo "How is payment made?" >&3
wait_until 60 shown "^  · " || fail "no passages: $(cat /tmp/chat.out /tmp/chat.err)"
wait_for_work "$engine" 30
kill -KILL "$engine"
wait_until 60 answered || fail "no answer: $(cat /tmp/chat.out /tmp/chat.err)"
echo "How is liability for breach determined?" >&3
exec 3>&-
wait $chat || fail "the chat ended with $?: $(cat /tmp/chat.err)"
says_once /tmp/chat.err "The engine stopped unexpectedly"
[ "$(grep -c '^\[1\] supply-agreement.pdf' /tmp/chat.out)" = 2 ] \
  || fail "not two answers with citations: $(cat /tmp/chat.out)"
clausebook cache show killed --json | grep -q '"turns": 2' || fail "the conversation lost a turn"
clausebook cache verify >/tmp/verify.txt || fail "damaged: $(cat /tmp/verify.txt)"
