#!/bin/sh
# One prompt by three calls of curl, as in a script; prints the reply.
#
#     sh three_calls.sh TEXT
set -eu

call() {
  curl -sS --fail -N -H "X-API-Key: $APP_API_KEY" "$@"
}

# The value of a field in the JSON on standard input.
field() {
  sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"
}

text=$(printf '%s' "$1" | sed 's/[\\"]/\\&/g')
thread=$(call -X POST "$APP_BASE_URL/threads" | field thread_id)
run=$(call -H 'Content-Type: application/json' \
  -d "{\"agentName\":\"the-brain\",\"prompt\":\"$text\",\"wait\":false}" \
  "$APP_BASE_URL/threads/$thread/runs" | field run_id)
call -H 'Accept: text/event-stream' \
  "$APP_BASE_URL/threads/$thread/runs/$run/stream" | field explanation
