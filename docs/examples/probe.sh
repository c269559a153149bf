# What `agent-gateway --check -p` cannot see of a service. Needs curl and jq:
#
#     APP_API_KEY=... APP_BASE_URL=... sh probe.sh
#
# Each comment says what its line should print. Use a prompt that reports progress.
key="X-API-Key: $APP_API_KEY" json="Content-Type: application/json"
body='{"agentName":"the-brain","prompt":"Who are you, in a few words?","wait":false}'
threads=$APP_BASE_URL/threads
one=$(curl -s -X POST -H "$key" "$threads" | jq -r .thread_id)
two=$(curl -s -X POST -H "$key" "$threads" | jq -r .thread_id)
run=$(curl -s -H "$key" -H "$json" -d "$body" "$threads/$one/runs" | jq -r .run_id)
stream=$threads/$one/runs/$run/stream
status() { curl -s -m 5 -o /dev/null -w '%{http_code}\n' -H "$json" "$@"; }

echo "$one $two $run"                        # nobody can guess such ids
for connection in 1 2; do
  curl -s -H "$key" "$stream" | grep -c '^data:' &
done; wait                                   # two lines with the same number
curl -s -m 3 -H "$key" "$stream" | grep -c '"complete"' # 1: it does not run again
status -H "X-API-Key: x" -X POST "$threads"             # 401: no thread
status -H "X-API-Key: x" -d "$body" "$threads/$one/runs" # 401: no run
status -H "X-API-Key: x" "$stream"                      # 401: no stream
status -H "$key" -d "$body" "$threads/unknown/runs"     # 404: an unknown thread
status -H "$key" "$threads/$one/runs/unknown/stream"    # 404: an unknown run
status -H "$key" "$threads/$two/runs/$run/stream"       # 404: the run of another thread

# The bytes of the stream.
bytes() { curl -s -m 5 -H "$key" "$@" "$stream" | tr -d '\r'; }
ids() { bytes | grep '^id: *[^ ]'; }
last=$(ids | tail -n 2 | sed -n '1s/^id: *//p')

bytes -o /dev/null -w '%{content_type}\n' | cut -d ';' -f 1 # text/event-stream: the content type
echo $(($(bytes | grep -c '^data:') - $(ids | sort -u | wc -l))) # 0: each event has an id of its own
bytes -H "Last-Event-ID: $last" | grep -c '^data:'      # 1: only the last event is sent again

# Comments. Use a prompt that says nothing for 15 s.
curl -sN -m 60 -H "$key" "$stream" | grep -m 1 -c '^:'  # 1: a comment comes while the run says nothing
