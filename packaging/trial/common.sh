# What the scripts of the trial share; they run inside the clean root as an ordinary user.
samples=/opt/clausebook/_internal/assets/samples
export DISPLAY=:77
LINE='[^[:space:]]'
window="" screen="" chat=""
trap 'kill $window $screen $chat 2>/dev/null || true' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# The first value of a key in JSON text.
value() { sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" | head -n 1; }

# wait_until SECONDS COMMAND…: asks again and again until it is so.
wait_until() {
  _tries=$(($1 * 20))
  shift
  until "$@"; do
    _tries=$((_tries - 1))
    [ $_tries -gt 0 ] || return 1
    sleep 0.05
  done
}

# Ways out of this network that were looked for and not found: there are none.
tries() {
  awk '/^Ip:/ {
    if (column) print $column
    else for (i = 1; i <= NF; i++) if ($i == "OutNoRoutes") column = i
  }' /proc/net/snmp
}
not_ours=0
# Nothing was sent, nor tried, since the screen was opened if there is one.
sent_nothing() {
  _tries=$(($(tries) - not_ours))
  [ "$_tries" = 0 ] || fail "the network was tried $_tries times"
}

now_ms() { echo $(($(date +%s%N) / 1000000)); }

# Exactly one line in file $1 has text $2, and nothing in it is a traceback.
says_once() {
  [ "$(grep -c "$2" "$1")" = 1 ] || fail "'$2' should stand once in: $(cat "$1")"
  ! grep -q Traceback "$1" || fail "a traceback: $(cat "$1")"
}

# A failed command wrote one line to file $1, with text $2 in it.
one_line() {
  [ "$(grep -c "$LINE" "$1")" = 1 ] || fail "not one line: $(cat "$1")"
  says_once "$1" "$2"
}

children() { cat /proc/"$1"/task/*/children 2>/dev/null || true; }

descendants() {
  for _child in $(children "$1"); do
    echo "$_child"
    descendants "$_child"
  done
}

# Sets $engine to a program's engine: the process below it that has the language model in its
# memory. To be waited for: what /proc says of children isn't exact while threads come and go.
find_engine() {
  engine=""
  for _pid in $(descendants "$1"); do
    if grep -q '\.gguf$' "/proc/$_pid/maps" 2>/dev/null; then engine=$_pid; fi
  done
  [ -n "$engine" ]
}

# Sets $worker to a window's library worker, the child that the engine belongs to; and $engine.
find_worker() {
  for worker in $(children "$1"); do
    if find_engine "$worker"; then return 0; fi
  done
  return 1
}

# Hundredths of a second of processor time that a process has taken.
ticks() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'; }
worked() { [ "$(ticks "$1")" -ge "$2" ]; }
# Waits until a process has worked for $2 hundredths of a second from now on.
wait_for_work() { wait_until 60 worked "$1" $(($(ticks "$1") + $2)); }

gone() { ! kill -0 "$1" 2>/dev/null; }

# The window: opened with `open_window FILE…`, its process is $window.
visible() { xdotool search --onlyvisible --name Clausebook >/dev/null 2>&1; }
open_screen() {
  Xvfb "$DISPLAY" -screen 0 1440x900x24 -nolisten tcp -noreset >/dev/null 2>&1 &
  screen=$!
  wait_until 10 xdotool getmouselocation >/dev/null 2>&1 || fail "no screen"
  not_ours=$(tries) # xdotool tries TCP while there is no screen
}
open_window() {
  clausebook "$@" >/tmp/window.log 2>&1 &
  window=$!
  wait_until 30 visible || fail "no window: $(cat /tmp/window.log)"
  xdotool search --onlyvisible --name Clausebook windowfocus
  wait_until 30 find_worker $window || fail "no workers: $(cat /tmp/window.log)"
}
to_clipboard() { printf %s "$1" | xclip -selection clipboard -t UTF8_STRING; }
# Asks in the window. The question is pasted: no keyboard of the screen has Chinese letters.
ask_window() {
  to_clipboard "$1"
  xdotool key --clearmodifiers ctrl+l ctrl+v
  sleep 0.3
  to_clipboard ""
  xdotool key Return
}
copied() {
  xdotool key --clearmodifiers ctrl+shift+c
  xclip -o -selection clipboard -t UTF8_STRING >"$1" 2>/dev/null && grep -q "$LINE" "$1"
}
# Waits for the window's answer; its text and citations go to file $1.
wait_for_answer() { wait_until 60 copied "$1" || fail "no answer in the window"; }
picture() { xwd -root -silent >"/tmp/$1.xwd"; }
close_window() {
  xdotool key --clearmodifiers ctrl+q
  wait_until 15 gone "$window" || fail "the window doesn't close"
  wait "$window" || fail "the window ended with $?: $(cat /tmp/window.log)"
  ! grep -q Traceback /tmp/window.log || fail "a traceback: $(cat /tmp/window.log)"
}
