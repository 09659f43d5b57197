#!/usr/bin/env bash
# A pawl worker in bash and curl.
#
#     export PAWL_URL=http://127.0.0.1:7295 PAWL_TOKEN=pawl_...   # a worker's token will do
#     examples/worker.sh shell                                    # the queue to serve
#     pawl enqueue sh.size --queue shell -p text=hello --wait
#
# A handler is a function: it gets the input's JSON on standard input, writes the result's JSON to standard output, and
# fails the attempt by a status other than 0. While it runs, heartbeats keep the lease; when one of them brings the news
# that the job is to be cancelled, or that it is ours no longer, the handler is stopped.
set -uo pipefail

url=${PAWL_URL:-http://127.0.0.1:7295}
queue=${1:-default}
worker="bash-${HOSTNAME:-host}-$$"
folder=$(mktemp -d)
stopping=''

handle_sh.size() { printf '{"bytes":%d}' "$(wc -c)"; }

handle_sh.sleep() {
  local input seconds=10
  input=$(cat)
  [[ $input =~ \"seconds\":([0-9]+) ]] && seconds=${BASH_REMATCH[1]}
  sleep "$seconds" && printf '{"slept":%d}' "$seconds"
}

handle_sh.fail() { echo 'this one never works' >&2; return 3; }

# The types it has handlers for, as JSON: what others do not know is for who says so.
types=$(compgen -A function handle_ | sed 's/^handle_\(.*\)$/"\1"/' | paste -sd, -)

# call METHOD PATH BODY: the answer in $answer, its status in $status. Sent again, word for word, while the gateway
# cannot be reached or has too much to do: the requestId inside makes the repetition harmless.
call() {
  local attempt
  for attempt in 1 2 3 4 5 6; do
    answer=$(curl -sS -X "$1" "$url$2" -H "Authorization: Bearer $PAWL_TOKEN" -H 'Content-Type: application/json' \
      -d "$3" -w '\n%{http_code}' --max-time 40 2>>"$folder/curl.log")
    status=${answer##*$'\n'}
    answer=${answer%$'\n'*}
    case $status in 000 | '' | 408 | 429 | 502 | 503 | 504) sleep "$attempt" ;; *) return 0 ;; esac
  done
  return 1
}

new_id() { cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen; }

# JSON's own escapes, for text that goes into a message.
quoted() { tr -d '\000-\010\013-\037' | tr '\t\n' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g' | head -c 500; }

# say WORD MORE: one word about the job at hand.
say() { call POST "/v1/jobs/$id/$1" "{\"fence\":\"$fence\",\"requestId\":\"$(new_id)\"$2}"; }

# Until the handler is gone. Leaves a note when it had to be stopped.
keep() {
  local handler=$1 every=$2
  while sleep "$every" && kill -0 "$handler" 2>/dev/null; do
    say heartbeat '' || continue
    if [[ $status == 409 || $answer == *'"cancel":{'* ]]; then
      echo "$status" >"$folder/stopped"
      kill -- "-$handler" 2>/dev/null
      return
    fi
  done
}

run() {
  local handler keeper code state
  rm -f "$folder/stopped"
  say start '' && [[ $status == 200 ]] || return
  # In a process group of its own, so that whatever it starts can be stopped with it.
  set -m
  "handle_$type" < <(printf '%s' "$input") >"$folder/result" 2>"$folder/error" &
  handler=$!
  set +m
  keep "$handler" "$every" &
  keeper=$!
  wait "$handler"
  code=$?
  if [[ -e $folder/stopped ]]; then
    wait "$keeper"
    # Handing back a job whose cancel was requested ends it as cancelled.
    say release ',"reason":"handed_back"'
  else
    kill "$keeper" 2>/dev/null
    wait "$keeper" 2>/dev/null
    if ((code == 0)); then
      say complete ",\"result\":$(cat "$folder/result")"
    else
      say fail ",\"code\":\"exit_$code\",\"message\":\"$(quoted <"$folder/error")\""
    fi
  fi
  state=refused
  [[ $answer =~ \"state\":\"([a-z_]+)\" ]] && state=${BASH_REMATCH[1]}
  echo "$id $type $state"
}

trap 'stopping=1' INT TERM
trap 'rm -rf "$folder"' EXIT

# What a producer may choose (labels, env) is text in this answer, what we look for is not only text: no label can pass
# for the id or the fence. The input comes last and ends with the answer.
head='^\{"jobs":\[\{"job":\{"tenant":"[^"]*","queue":"[^"]*","type":"([^"]*)"'
name='"id":"(pj_[0-9a-v]+)",("state":"claimed",)?"priority":[0-9]'
beat='"heartbeatMs":([0-9]+)'
proof='"fence":"([0-9]+\.[0-9]+\.[0-9a-f]+)","leaseExpiresAt":"[^"]*","inputLater":(true|false)'

while [[ -z $stopping ]]; do
  call POST /v1/claims "{\"workerId\":\"$worker\",\"queues\":[\"$queue\"],\"serves\":[$types],\"waitMs\":5000,\"requestId\":\"$(new_id)\"}" &&
    [[ $status == 200 ]] || { sleep 1; continue; }
  [[ $answer =~ $head ]] || continue
  type=${BASH_REMATCH[1]}
  [[ $answer =~ $name ]] && id=${BASH_REMATCH[1]} || continue
  [[ $answer =~ $beat ]] && every=$(((BASH_REMATCH[1] + 999) / 1000)) || every=5
  [[ $answer =~ $proof ]] && fence=${BASH_REMATCH[1]} || continue
  rest=${answer#*"${BASH_REMATCH[0]}"}
  input=${rest#,\"input\":}
  [[ $input == "$rest" ]] && input=null || input=${input%\}\]\}}
  if [[ $type =~ ^[A-Za-z0-9._-]+$ ]] && declare -F "handle_$type" >/dev/null; then
    run
  else
    # From now on the job is for who serves its type.
    say release ',"reason":"unknown_type"'
  fi
done
