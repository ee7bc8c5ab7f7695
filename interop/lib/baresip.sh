# Start and drive one baresip; sourced by baresip-caller/run.sh and baresip-callee/run.sh.
# Events (one JSON object a line, with the time in s) go to $RUN_DIR/events.log,
# baresip's own output with the SIP trace to $RUN_DIR/baresip.log.

bs_start() {                              # bs_start ACCOUNTS_TEMPLATE
  export RUN_DIR PORT CTRL_PORT WAV_IN RTP_PORTS RING_TIMEOUT=${RING_TIMEOUT:-60}
  export CERT_NAME=${CERT_NAME:-baresip} CODECS=${CODECS:-PCMU/8000/1}
  export PLAIN_PORT=$((PORT - 1))
  export MODULE_PATH=${MODULE_PATH:-$(dirname "$(find /usr/lib* -name ctrl_tcp.so -path '*baresip*' | head -1)")}
  render "$LIB/baresip.config" > "$RUN_DIR/config" && render "$1" > "$RUN_DIR/accounts" || die template
  rm -rf "$RUN_DIR"/dump-*.wav; rm -f "$WAV_OUT" "$RUN_DIR/over"; touch "$RUN_DIR/contacts"; : > "$RUN_DIR/events.log"
  bs_no_enc_dump
  spawn baresip -f "$RUN_DIR" -4 -s < /dev/null > "$RUN_DIR/baresip.log" 2>&1
  wait_log "$RUN_DIR/baresip.log" 'baresip is ready' 5 || die "baresip did not start: $(tail -3 "$RUN_DIR/baresip.log")"
  exec 7<> "/dev/tcp/127.0.0.1/$CTRL_PORT" || die "no control port"
  spawn bs_events >> "$RUN_DIR/events.log" 2> /dev/null
}
# baresip 1.0.0 drops the decode filter (our recording) at a hold and only sets it up again when the
# encode filter is absent too.  So make sndfile's "-enc.wav" impossible to open: a directory sits there
# (for the next ten minutes).  sndfile cuts names at 127 characters: keep RUN_DIR shorter than 90.
bs_no_enc_dump() {
  local i d; local -a names=()
  for ((i = 0; i < 600; i++)); do
    printf -v d '%(%Y-%m-%d-%H-%M-%S)T' $((EPOCHSECONDS + i)); names+=("$RUN_DIR/dump-$d-enc.wav")
  done
  mkdir "${names[@]}"
}
# netstrings "LEN:json," -> lines; keeps the file $RUN_DIR/over while every call seen (a followed REFER makes a second one) is closed
bs_events() {
  local n j id closed; local -A open=()
  while IFS= read -r -d : n <&7; do
    IFS= read -r -N $((n + 1)) j <&7
    printf '%s %s\n' "$EPOCHREALTIME" "${j%,}"
    [[ $j =~ \"id\":\"([^\"]*)\" ]] || continue
    id=${BASH_REMATCH[1]}
    if [[ $j == *'"CALL_CLOSED"'* ]]; then closed=yes; open[$id]=; elif [ -z "${open[$id]+seen}" ]; then open[$id]=open; fi
    if [ -n "$closed" ] && [[ "${open[*]}" != *open* ]]; then : > "$RUN_DIR/over"; elif [ -e "$RUN_DIR/over" ]; then rm "$RUN_DIR/over"; fi
  done
}
bs_cmd() {                                # bs_cmd "sndcode 5"
  local j='{"command":"'${1%% *}'"'
  [ "$1" != "${1#* }" ] && j+=',"params":"'${1#* }'"'
  j+='}'
  printf '%d:%s,' ${#j} "$j" >&7
}
bs_event()      { grep -qE "\"type\":\"($1)\"" "$RUN_DIR/events.log"; }
bs_wait_event() { wait_log "$RUN_DIR/events.log" "\"type\":\"($1)\"" "$2"; }
bs_obey() {                               # each line of FIFO $RUN_DIR/commands is a command, done as it comes
  local line; while IFS= read -r line; do bs_cmd "$line"; done < "$RUN_DIR/commands"
}
# bs_actions "2:sndcode 1|4:hold|6:resume" : each command at T seconds from now; ends early with the call
bs_actions() {
  local IFS='|' a t0=$EPOCHREALTIME
  for a in $1; do
    bs_until "$t0" "${a%%:*}" || return 0
    bs_cmd "${a#*:}"
  done
}
bs_over() { [ -e "$RUN_DIR/over" ]; }
# bs_until T0 SECONDS : sleep until T0 + SECONDS; false when the call is over. Starts no process: a call lasts for a thousand looks.
bs_until() {
  local until=$((10#${1/./} + $(microseconds "$2")))
  while ((10#${EPOCHREALTIME/./} < until)); do
    bs_over && return 1
    pause 0.05
  done
}
bs_report() {                             # copy the recording and print the evidence
  local f; f=$(ls "$RUN_DIR"/dump-*-dec.wav 2> /dev/null)
  # one file per (re)start of the stream, e.g. after hold: join them
  [ -n "$f" ] && sox $f "$WAV_OUT"
  rmdir "$RUN_DIR"/dump-*-enc.wav
  grep -hoE '"type":"[A-Z_]+"|"param":"[^"]*"' "$RUN_DIR/events.log" | paste -sd' ' |
    sed 's/"type":"/\n  event /g; s/"param":/ /g; s/"//g' | grep -vE '^$|RTCP'
  grep -hE 'SRTP is Enabled|^packets:|^lost:|terminated (by|\()|Refer-To|transferr' "$RUN_DIR/baresip.log" | sed 's/^/  log /' | sort -u | head -12
  echo "  logs in $RUN_DIR, recording ${WAV_OUT}"
}
