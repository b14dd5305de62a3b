#!/bin/sh
# Starts the application on the sample contract; in the terminal where there is no display.
set -eu
venv=${1:?the virtual environment}
sample=assets/samples/supply-agreement.pdf
if [ "$(uname)" = Darwin ] || [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$venv/bin/clausebook" "$sample"
fi
echo "There is no display here, so the conversation is held in the terminal." >&2
exec "$venv/bin/clausebook" chat "$sample"
