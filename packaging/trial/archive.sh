#!/bin/sh
# The archive that runs in place, unpacked in the home after the package was removed: it works, and
# goes on with the user's library.
set -eu
. /tmp/trial/common.sh
cd "$HOME"
tar -xJf /tmp/clausebook.tar.xz
! command -v clausebook >/dev/null || fail "the package is still there"
clausebook="$HOME/clausebook/clausebook"
"$clausebook" doctor --self-test --json >/tmp/doctor.json || fail "self-test: $(cat /tmp/doctor.json)"
"$clausebook" ask "How is payment made?" --document supply-agreement.pdf --json >/tmp/archive.json
grep -q '"quote": "8.1 Payment' /tmp/archive.json || fail "no citation: $(cat /tmp/archive.json)"
"$clausebook" ask "And when is the deposit due?" --conversation trial --json >/tmp/archive.json
[ "$(value restored_from </tmp/archive.json)" = disk ] || fail "not from the cache: $(cat /tmp/archive.json)"
echo "  $(value reused_tokens </tmp/archive.json) tokens of the package's conversation reused"
