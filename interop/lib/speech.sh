#!/bin/bash
# speech.sh "some text" OUT.wav [seconds] [voice]
# 8 kHz mono S16LE speech, 0.5 s of silence first, padded with silence to SECONDS.
# The padding matters: baresip ends the call when its microphone WAV runs out.
set -eu
text=$1 out=$2 secs=${3:-60} voice=${4:-en-us}
tmp=$(mktemp "${TMPDIR:-/tmp}/speech.XXXXXX.wav"); trap 'rm -f "$tmp"' EXIT
espeak-ng -v "$voice" -w "$tmp" "$text"
sox -V1 -D "$tmp" -r 8000 -c 1 -b 16 -e signed "$out" norm -3 pad 0.5 "$secs" trim 0 "$secs"
