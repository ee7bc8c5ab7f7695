#!/bin/bash
# linphonec as a second, independent SIP peer: TLS + mandatory SDES SRTP, WAV files as sound card.
#   ROLE=caller: calls TARGET_URI (use a host name that is in the certificate, e.g. localhost)
#   ROLE=callee: starts a TLS registrar on REG_PORT, registers there, answers one call to
#                sip:linphone@127.0.0.1:REG_PORT;transport=tls
#   ACTIONS="2:5|4:pause|6:resume|8:transfer 1 sip:bob@..."  seconds after the answer : linphonec command
#   (a digit is sent as DTMF).   Exit: 0 = established, 1 = not, 2 = could not start.
here=$(cd "$(dirname "$0")" && pwd); . "$here/../lib/common.sh"
ROLE=${ROLE:-caller}
export PORT=${PORT:-5087} RTP_PORTS=${RTP_PORTS:-23000-23099} LINPHONE_USER=${LINPHONE_USER:-linphone}
export REG_PORT=${REG_PORT:-5093}; export REG_UDP_PORT=${REG_UDP_PORT:-$((REG_PORT - 1))}
TARGET_URI=${TARGET_URI:-'sip:callee@localhost:5081;transport=tls'} CODECS=${CODECS:-PCMU}
CALL_SECONDS=${CALL_SECONDS:-10} WAIT_SECONDS=${WAIT_SECONDS:-30}
export PATH=$PATH:/usr/sbin
work_dir; export RUN_DIR; "$LIB/certs.sh" || die certificates
WAV_OUT=${WAV_OUT:-$RUN_DIR/heard.wav}; rm -f "$WAV_OUT" "$RUN_DIR/in"
if [ -z "${WAV_IN:-}" ]; then
  WAV_IN=$RUN_DIR/mic.wav
  "$LIB/speech.sh" "This is linphone speaking. Can you tell me the opening hours on Sunday please?" "$WAV_IN" $((CALL_SECONDS + 60)) || die speech
fi
{
  render "$here/linphonerc" || die template
  i=0
  for c in opus:48000 speex:16000 speex:8000 PCMU:8000 PCMA:8000 G729:8000; do
    on=0; [[ " $CODECS " == *" ${c%:*} "* ]] && on=1
    printf '[audio_codec_%d]\nmime=%s\nrate=%s\nenabled=%d\n' $((i++)) "${c%:*}" "${c#*:}" $on
  done
  [ "$ROLE" = callee ] && printf '%s\n' '[proxy_0]' "reg_proxy=<sip:localhost:$REG_PORT;transport=tls>" \
    "reg_identity=sip:$LINPHONE_USER@localhost" reg_expires=600 reg_sendregister=1 publish=0
} > "$RUN_DIR/linphonerc"

if [ "$ROLE" = callee ]; then
  render "$here/registrar.cfg" > "$RUN_DIR/registrar.cfg"
  spawn kamailio -DD -E -m 64 -M 8 -f "$RUN_DIR/registrar.cfg" -Y "$RUN_DIR" -P "$RUN_DIR/kamailio.pid" > "$RUN_DIR/registrar.log" 2>&1
  wait_port tcp "$REG_PORT" || die "registrar: $(tail -3 "$RUN_DIR/registrar.log")"
fi
mkfifo "$RUN_DIR/in"; exec 8<> "$RUN_DIR/in"
cmd() { echo "$1" >&8; }
auto=(); [ "$ROLE" = callee ] && auto=(-a)
HOME=$RUN_DIR spawn linphonec "${auto[@]}" -c "$RUN_DIR/linphonerc" -d 6 -l "$RUN_DIR/linphone.log" < "$RUN_DIR/in" > "$RUN_DIR/out.log" 2>&1
LP=$!
wait_log "$RUN_DIR/out.log" 'linphonec>' 10 || die "linphonec: $(tail -3 "$RUN_DIR/out.log")"
cmd "soundcard use files"; cmd "play $WAV_IN"; cmd "record $WAV_OUT"
if [ "$ROLE" = callee ]; then
  wait_log "$RUN_DIR/linphone.log" 'to .LinphoneRegistrationOk' 10 || die "not registered: $(tail -3 "$RUN_DIR/registrar.log")"
  echo "ready: sip:$LINPHONE_USER@127.0.0.1:$REG_PORT;transport=tls"
else
  cmd "call $TARGET_URI"
fi
ended='^(Call [0-9]+ with .* (ended|error)|No active calls)'
wait_log "$RUN_DIR/out.log" "Media streams established|$ended" "$WAIT_SECONDS"
if grep -q 'Media streams established' "$RUN_DIR/out.log"; then rc=0; else rc=1; fi
for ((t = 0; rc == 0 && t < CALL_SECONDS * 10; t++)); do            # 0.1 s steps until the end of the call
  grep -qE "$ended" "$RUN_DIR/out.log" && break
  IFS='|'; for a in ${ACTIONS:-}; do [ "${a%%:*}0" = "$t" ] && cmd "${a#*:}"; done; unset IFS
  pause 0.1
done
cmd "terminate all"; pause 0.7; cmd quit
for i in {1..30}; do kill -0 $LP 2> /dev/null || break; pause 0.1; done
grep -aE '^(linphonec> )?(Call|Media|Receiving)' "$RUN_DIR/out.log" | sed 's/^linphonec> //; s/^/  /'
grep -ahoE 'Negotiated media encryption is .*|SSL handshake (finished|failed).*' "$RUN_DIR/linphone.log" | sort | uniq -c
echo "  logs in $RUN_DIR, recording $WAV_OUT"
[ $rc = 0 ] && echo "OK: established" || echo "FAIL: not established" >&2
exit $rc
