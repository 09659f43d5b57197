#!/usr/bin/env bash
# A worker that speaks nothing but the bus: NATS' text protocol over a socket of bash's own (/dev/tcp), and nothing
# that is not on every Debian.
#
#     pawl serve --policy policies/ --bus nats://localhost:4222
#     examples/bus-worker.sh nats://localhost:4222 job.chat.simple
#     TOPICS=job.code.llm,job.code.lint CAN=gpu examples/bus-worker.sh nats://localhost:4222 code
#
# The second word is the pool it works in; unless told otherwise it takes the topic of that name. One job at a time.
# A handler is a function: it gets the dispatch's JSON on standard input, writes the result's pointer to standard
# output, and fails the job by a status other than 0.
set -uo pipefail
# A message is counted in bytes.
export LC_ALL=C

handle() {
  local text
  text=$(cat)
  [[ $text =~ \"seconds\":\"([0-9]+)\" ]] && sleep "${BASH_REMATCH[1]}"
  [[ $text =~ \"fail\":\"([^\"]*)\" ]] && { echo "${BASH_REMATCH[1]}" >&2; return 3; }
  printf 'memory://%s' "$job"
}

[[ ${1-} =~ ^nats://(([^:@]*):([^@]*)@)?([^:/@]+)(:([0-9]+))?/?$ && -n ${2-} ]] ||
  { echo 'usage: bus-worker.sh nats://[user:password@]host[:port] <pool>' >&2; exit 2; }
user=${BASH_REMATCH[2]} password=${BASH_REMATCH[3]} host=${BASH_REMATCH[4]} port=${BASH_REMATCH[6]:-4222}
worker="bash-${HOSTNAME:-host}-$$"
folder=$(mktemp -d)
asked=0
stopping=''
trap 'stopping=1' INT TERM
trap 'rm -rf "$folder"' EXIT
# Writing to a connection that is gone is an error like any other.
trap '' PIPE

# JSON's own escapes, for text that goes into a message.
quoted() { tr -d '\000-\010\013-\037' | tr '\t\n' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g' | head -c 500; }

# A name as one token of a subject: whatever else is in it as `=` and hexadecimal digits.
token() {
  local i letter
  for ((i = 0; i < ${#1}; i++)); do
    letter=${1:i:1}
    if [[ $letter == [A-Za-z0-9_-] ]]; then printf %s "$letter"; else printf '=%02X' $(($(printf %d "'$letter") & 255)); fi
  done
}

# Names with commas between them as JSON's list.
names() { printf '["%s"]' "$(printf %s "$1" | quoted | sed 's/,/","/g')"; }

base="pawl.$(token "${PAWL_TENANT:-default}")"
# What it tells of itself with each heartbeat.
self="\"worker_id\":\"$(printf %s "$worker" | quoted)\",\"pool\":\"$(printf %s "$2" | quoted)\""
[[ -n ${TOPICS-} ]] && self+=",\"topics\":$(names "$TOPICS")"
[[ -n ${CAN-} ]] && self+=",\"capabilities\":$(names "$CAN")"

connect() {
  local login=''
  { exec 3<>"/dev/tcp/$host/$port"; } 2>/dev/null || return 1
  receive 5 || return 1
  [[ -n $user ]] && login=",\"user\":\"$(printf %s "$user" | quoted)\",\"pass\":\"$(printf %s "$password" | quoted)\""
  inbox="_INBOX.bash$$.$RANDOM$RANDOM"
  send "CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true$login}"
}

send() { printf '%s\r\n' "$@" >&3; } 2>/dev/null

# receive SECONDS: one word of the server; a message leaves its number in $sid, and $reply and $data. Status 1: none
# came; 2: the connection is of no use any more.
receive() {
  local line='' words size skipped=0 status
  sid='' reply='' data=''
  IFS= read -r -t "$1" -u 3 line
  status=$?
  ((status > 128)) && [[ -z $line ]] && return 1
  ((status == 0)) || return 2
  read -ra words <<<"${line%$'\r'}"
  case ${words[0]-} in
    PING) send PONG || return 2 ;;
    -ERR) echo "$line" >&2; return 2 ;;
    MSG | HMSG)
      size=${words[-1]}
      if [[ ${words[0]} == HMSG ]]; then
        skipped=${words[-2]}
        ((${#words[@]} == 6)) && reply=${words[3]}
      else
        ((${#words[@]} == 5)) && reply=${words[3]}
      fi
      IFS= read -r -t 10 -N $((size + 2)) -u 3 data || return 2
      # A message of headers alone is a status: nothing to do, or nobody there.
      data=${data:skipped:size-skipped}
      sid=${words[2]}
      ;;
  esac
  return 0
}

# ask SUBJECT MESSAGE SECONDS: the answer in $data and its own reply subject in $reply. Status as of receive.
ask() {
  local until=$((SECONDS + $3)) left status
  asked=$((asked + 1))
  # A dispatch comes under its own subject: an answer is known by the number of what was subscribed to for it.
  send "SUB $inbox.$asked $asked" "UNSUB $asked 1" "PUB $1 $inbox.$asked ${#2}" "$2" || return 2
  while left=$((until - SECONDS)) && ((left >= 0)); do
    receive $((left + 1))
    status=$?
    ((status == 0)) || return "$status"
    [[ $sid == "$asked" ]] && return 0
  done
  return 1
}

# call WHAT MESSAGE: asked again until it is answered, over another connection where this one is gone: asked twice it
# is answered as it was.
call() {
  while :; do
    ask "$base.$1" "$2" 5
    case $? in
      0) [[ -n $data && $data != *'"error":{'* ]] && return 0 ;;
      2) until connect; do sleep 0.5; done ;;
    esac
    sleep 0.2
  done
}

# Until the handler is gone. Status 1: the job is ours no longer.
keep() {
  local handler=$1 every=$2 sleeper
  while kill -0 "$handler" 2>/dev/null; do
    sleep "$every" &
    sleeper=$!
    wait -n "$handler" "$sleeper" 2>/dev/null
    kill "$sleeper" 2>/dev/null
    kill -0 "$handler" 2>/dev/null || return 0
    call heartbeat "{$self,\"free\":0,\"jobs\":[{\"job_id\":\"$job\",\"fence\":\"$fence\"}]}"
    [[ $data == *'"jobs":[{"ok":true'* && $data != *'"cancel":{'* ]] && continue
    kill -- "-$handler" 2>/dev/null
    return 1
  done
}

run() {
  local handler code result began=${EPOCHREALTIME/./}
  # In a process group of its own, so that whatever it starts can be stopped with it.
  set -m
  handle <"$folder/dispatch" >"$folder/result" 2>"$folder/error" 3>&- &
  handler=$!
  set +m
  keep "$handler" "$every" || { echo "$job is another's"; return; }
  wait "$handler"
  code=$?
  if ((code == 0)); then
    result="\"status\":\"SUCCEEDED\",\"result_ptr\":\"$(quoted <"$folder/result")\""
  else
    result="\"status\":\"FAILED\",\"error_code\":\"exit_$code\",\"error_message\":\"$(quoted <"$folder/error")\""
  fi
  # Answered by JetStream: it has the result, and pawl will.
  call result "{\"job_id\":\"$job\",\"fence\":\"$fence\",\"worker_id\":\"$worker\",$result,\"execution_ms\":$(((${EPOCHREALTIME/./} - began) / 1000))}"
  echo "$job exit $code"
}

# What a producer may choose is text in a dispatch; what we look for is not only text, and comes before the input.
name='^\{"job_id":"(([^"\\]|\\.)*)"'
proof='"fence":"([0-9]+\.[0-9]+\.[0-9a-f]+)","lease_expires_at":"[^"]*","heartbeat_ms":([0-9]+)[,}]'

# What it was let begin. A dispatch whose confirmation was lost comes again, and is not done again.
declare -A begun=()

until connect; do sleep 0.5; done
while [[ -z $stopping ]]; do
  call heartbeat "{$self,\"free\":1}"
  # Where the dispatches are that it may take: those of its pool who can do the same take from there, too.
  [[ $data =~ ^\{\"ok\":true,\"take\":\"([^\"]+)\" ]] || { echo "$data" >&2; exit 1; }
  ask "${BASH_REMATCH[1]}" '{"batch":1,"expires":2000000000}' 3
  case $? in 2) continue ;; esac
  [[ -n $data ]] || { sleep 0.05; continue; }
  dispatch=$data confirm=$reply
  [[ $dispatch =~ $name ]] && job=${BASH_REMATCH[1]} || continue
  [[ $dispatch =~ $proof ]] && fence=${BASH_REMATCH[1]} every=$(((BASH_REMATCH[2] + 1999) / 2000)) || continue
  printf %s "$dispatch" >"$folder/dispatch"
  if [[ -n ${begun["$job $fence"]-} ]]; then
    send "PUB $confirm 4" '+ACK'
    continue
  fi
  call start "{\"job_id\":\"$job\",\"fence\":\"$fence\",\"worker_id\":\"$worker\"}"
  started=$data
  send "PUB $confirm 4" '+ACK'
  [[ $started == '{"ok":true'* ]] || continue
  ((${#begun[@]} < 1000)) || begun=()
  begun["$job $fence"]=yes
  run
done
