#!/bin/sh
# After an upgrade to the next version: documents and conversations of the version before.
set -eu
. /tmp/trial/common.sh
cd "$HOME/合同 contracts"
clausebook --version >/tmp/version.after
! cmp -s /tmp/version.before /tmp/version.after || fail "the version is the same: $(cat /tmp/version.after)"
echo "$(cat /tmp/version.before), then $(cat /tmp/version.after)"
clausebook ingest supply-agreement.pdf --json >/tmp/again.json
grep -q '"status": "unchanged"' /tmp/again.json || fail "the document is unknown: $(cat /tmp/again.json)"
clausebook ask "Who pays the deposit?" --document supply-agreement.pdf --conversation trial \
  --json >/tmp/third.json
[ "$(value restored_from </tmp/third.json)" = disk ] || fail "not from the cache: $(cat /tmp/third.json)"
[ "$(value reused_tokens </tmp/third.json)" -gt "$(value reused_tokens </tmp/second.json)" ] \
  || fail "less was reused than before the upgrade: $(cat /tmp/third.json)"
clausebook cache verify >/tmp/verify.txt || fail "damaged: $(cat /tmp/verify.txt)"
echo "  the conversation goes on: $(value reused_tokens </tmp/third.json) tokens reused"
