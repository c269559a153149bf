#!/usr/bin/env bash
# A prompt with GNU Readline; prints each line that was entered.
while IFS= read -r -e -p '> ' line; do
  printf '%s\n' "$line"
done
