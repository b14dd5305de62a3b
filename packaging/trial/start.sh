#!/bin/sh
# How soon the window is shown and the workers are ready, and what memory they take:
#     start.sh cold|warm [LIMIT…]
# With limits (ms to the window, ms to the workers, MB above the models) it fails beyond them.
set -eu
. /tmp/trial/common.sh
log="$HOME/.local/state/clausebook/log/worker.log"
loads() { cat "$log" 2>/dev/null | grep -c "the models are loaded" || true; }
more_loads() { [ "$(loads)" -gt "$before" ]; }
# A picture is taken only when there is a window: one after another would keep the program waiting.
painted() { visible && [ "$(xwd -root -silent | cksum)" != "$empty" ]; }
# Sum over a process's memory in kB: memory PID FIELD, all of it or only files of models.
memory() { awk -v field="$2:" '$1 == field { sum += $2 } END { print sum + 0 }' "/proc/$1/smaps"; }
of_models() {
  awk '/^[0-9a-f]+-[0-9a-f]+ / { model = /\.gguf$/ } model && $1 == "Pss:" { sum += $2 } END { print sum + 0 }' \
    "/proc/$1/smaps"
}
cpu_ms() { echo $(($(ticks "$1") * 10)); }

cd "$HOME"
open_screen
empty=$(xwd -root -silent | cksum)
before=$(loads)
began=$(now_ms)
clausebook >/tmp/window.log 2>&1 &
window=$!
wait_until 60 painted || fail "no window: $(cat /tmp/window.log)"
shown=$(($(now_ms) - began))
shown_cpu=$(cpu_ms $window)
wait_until 60 more_loads || fail "the models were not loaded: $(tail "$log")"
stamp=$(grep "the models are loaded" "$log" | tail -n 1 | cut -c 1-23 | tr , .)
ready=$(($(date -d "$stamp" +%s%N) / 1000000 - began))
wait_until 10 find_worker $window || fail "no workers: $(cat /tmp/window.log)"
echo "$1 start: window drawn after $shown ms (its processor time $shown_cpu ms), workers ready after" \
  "$ready ms (processor time: worker $(cpu_ms "$worker"), engine $(cpu_ms "$engine") ms)"
sleep 2
total=0
models=0
for pid in $worker $engine; do
  pss=$(memory "$pid" Pss)
  model=$(of_models "$pid")
  total=$((total + pss))
  models=$((models + model))
  kind=$([ "$pid" = "$engine" ] && echo engine || echo worker)
  echo "  $kind: PSS $((pss / 1024)) MB, RSS $(($(memory "$pid" Rss) / 1024)) MB, of which the model's file $((model / 1024)) MB"
done
above=$(((total - models) / 1024))
echo "  both above the model's file: $above MB; the window: PSS $(($(memory $window Pss) / 1024)) MB"
xdotool search --onlyvisible --name Clausebook windowfocus
close_window
kill $screen
[ $# -lt 4 ] || {
  [ "$shown" -le "$2" ] || fail "the window took $shown ms instead of $2"
  [ "$ready" -le "$3" ] || fail "the workers took $ready ms instead of $3"
  [ "$above" -le "$4" ] || fail "the workers take $above MB instead of $4"
}
