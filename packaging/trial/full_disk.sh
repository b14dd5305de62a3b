#!/bin/sh
# A library on a disk that fills up: one line says so, and nothing is lost. /tmp/disk is that disk.
set -eu
. /tmp/trial/common.sh
cd "$HOME/合同 contracts"
ask() { clausebook ask "$1" --library /tmp/disk/library --conversation full --json; }
hits() { clausebook search "$1" --library /tmp/disk/library --json | grep -c '"document": "supply-agreement.pdf"'; }

echo "a full disk"
clausebook ingest supply-agreement.pdf --library /tmp/disk/library >/dev/null
ask "How is payment made?" >/tmp/before.json
dd if=/dev/zero of=/tmp/disk/filler bs=16k 2>/dev/null && fail "the disk isn't full"
refused() {
  if clausebook "$@" --library /tmp/disk/library >/tmp/full.out 2>/tmp/full.err; then
    fail "$1 on a full disk: $(cat /tmp/full.out)"
  fi
  one_line /tmp/full.err "The disk.* is full"
  echo "  $1: $(cat /tmp/full.err)"
}
refused ingest master-agreement.pdf
refused search "bank transfer"

echo "  with 512 KB"
truncate --size=-512K /tmp/disk/filler
[ "$(hits "bank transfer")" -ge 1 ] || fail "the document that was there is not found"
refused ingest master-agreement.pdf
status=0
ask "And how is liability for breach determined?" >/tmp/full.json 2>/tmp/full.err || status=$?
! grep -q Traceback /tmp/full.err || fail "a traceback: $(cat /tmp/full.err)"
grep -q '"page": ' /tmp/full.json || one_line /tmp/full.err "full"
echo "  a question (exit code $status): $(cat /tmp/full.err)"
rm /tmp/disk/filler

echo "  with space again"
ask "Who pays the deposit?" >/tmp/after.json 2>/tmp/after.err
[ ! -s /tmp/after.err ] || fail "still something: $(cat /tmp/after.err)"
[ "$(value reused_tokens </tmp/after.json)" -gt 100 ] || fail "the conversation is lost: $(cat /tmp/after.json)"
[ "$(hits "bank transfer")" -ge 1 ] || fail "the document is lost"
clausebook ingest master-agreement.pdf --library /tmp/disk/library >/dev/null || fail "it can't be added now"
clausebook cache show full --library /tmp/disk/library --json | grep -q '"turns": 3' || fail "a turn is lost"
clausebook cache verify --library /tmp/disk/library >/tmp/verify.txt || fail "damaged: $(cat /tmp/verify.txt)"
