#!/bin/sh
# Succeeds where an NVIDIA GPU and its driver are present.
[ -e /proc/driver/nvidia/version ] && exit 0
command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q '^GPU '
