#!/bin/bash
# PJSIP (pjsua2) as a SIP peer: TLS and mandatory SDES SRTP, or UDP and plain RTP (SRTP=none); WAV files as sound card.
#   ROLE=caller: calls TARGET_URI, whose certificate it checks     ROLE=callee: answers one call after RING_SECONDS
#   ACTIONS="2:digits 12#|3:info 5|4:hold|6:resume|7:reinvite|8:update"  seconds after the answer : action
#   CODECS=PCMU (of PCMU,PCMA,G722)   PRACK=yes: requires 100rel   TIMER=yes: session timer
# Exit: 0 = established, 1 = not, 2 = could not start.
here=$(cd "$(dirname "$0")" && pwd); . "$here/../lib/common.sh"
export ROLE=${ROLE:-caller} PORT=${PORT:-5089} RTP_PORT=${RTP_PORT:-24000} CALL_SECONDS=${CALL_SECONDS:-10}
export TARGET_URI=${TARGET_URI:-'sip:callee@127.0.0.1:5081;transport=tls'}
work_dir; export RUN_DIR LOG=$RUN_DIR/pjsip.log; "$LIB/certs.sh" || die certificates
export WAV_OUT=${WAV_OUT:-$RUN_DIR/heard.wav} WAV_IN=${WAV_IN:-$RUN_DIR/mic.wav}
if [ ! -e "$WAV_IN" ]; then
  "$LIB/speech.sh" "This is the telephone of another project. I would like to speak with somebody about my order." "$WAV_IN" $((${CALL_SECONDS%.*} + 60)) || die speech
fi
spawn pjsua2-python "$here/phone.py"
wait "${PIDS[-1]}"
