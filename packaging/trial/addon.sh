#!/bin/sh
# With the add-on's package installed the program finds PyTorch and answers with it.
set -eu
. /tmp/trial/common.sh
cd "$HOME/合同 contracts"
clausebook ask "How is payment made?" --document supply-agreement.pdf --backend torch --json >/tmp/torch.json
grep -q '"backend": "torch' /tmp/torch.json || fail "the add-on was not used: $(cat /tmp/torch.json)"
grep -q '"quote": "8.1 Payment' /tmp/torch.json || fail "no citation: $(cat /tmp/torch.json)"
clausebook ask "How is payment made?" --document supply-agreement.pdf --json >/tmp/llama.json
grep -q '"backend": "llama.cpp' /tmp/llama.json || fail "without a GPU: $(cat /tmp/llama.json)"
echo "  $(value backend </tmp/torch.json) read $(value prefilled_tokens </tmp/torch.json) tokens"
