#!/bin/bash
# Carrier in a box (Kamailio and rtpengine): starts rtpengine and kamailio and stays until it is ended.
#   outside: TLS on EDGE_PORT; INVITEs arriving there get a 407 (AUTH_USER / AUTH_PASS), then go to
#            INSIDE_TARGET over UDP as plain RTP
#   inside:  UDP/TCP on INSIDE_PORT; INVITEs arriving there go to ENGINE_URI as SDES SRTP
here=$(cd "$(dirname "$0")" && pwd); . "$here/../lib/common.sh"
export EDGE_PORT=${EDGE_PORT:-5091} INSIDE_PORT=${INSIDE_PORT:-5090} NG_PORT=${NG_PORT:-22223}
export ENGINE_URI=${ENGINE_URI:-'sip:+15550001111@127.0.0.1:5061;transport=tls'} ENGINE_VERIFY=${ENGINE_VERIFY:-yes}
export INSIDE_TARGET=${INSIDE_TARGET:-127.0.0.1:5095}
export AUTH_USER=${AUTH_USER:-engine} AUTH_PASS=${AUTH_PASS:-engine-secret} AUTH_REALM=${AUTH_REALM:-carrier.test}
RTP_MIN=${RTP_MIN:-30000} RTP_MAX=${RTP_MAX:-30999}
# Such as "SDES-no-AEAD_AES_256_GCM SDES-no-NULL_HMAC_SHA1_80": by default rtpengine offers all its suites.
export SDES_FLAGS=${SDES_FLAGS-}
export PATH=$PATH:/usr/sbin
work_dir; export RUN_DIR; "$LIB/certs.sh" || die certificates
render "$here/kamailio.cfg" > "$RUN_DIR/kamailio.cfg" && render "$here/tls.cfg" > "$RUN_DIR/tls.cfg" || die template

# --table=-1: no kernel module, packets are forwarded in user space
spawn rtpengine --config-file=none --foreground --log-stderr --log-level=6 --log-level-crypto=7 --table=-1 --num-threads=2 \
  --interface=127.0.0.1 --listen-ng=127.0.0.1:"$NG_PORT" --port-min="$RTP_MIN" --port-max="$RTP_MAX" \
  > "$RUN_DIR/rtpengine.log" 2>&1
wait_port udp "$NG_PORT" || die "rtpengine: $(tail -3 "$RUN_DIR/rtpengine.log")"
spawn kamailio -DD -E -m 64 -M 8 -f "$RUN_DIR/kamailio.cfg" -Y "$RUN_DIR" -P "$RUN_DIR/kamailio.pid" > "$RUN_DIR/kamailio.log" 2>&1
wait_port tcp "$EDGE_PORT" || die "kamailio: $(tail -5 "$RUN_DIR/kamailio.log")"
echo "ready: TLS 127.0.0.1:$EDGE_PORT, UDP/TCP 127.0.0.1:$INSIDE_PORT, logs in $RUN_DIR"
wait -n "${PIDS[@]}"                        # until something ends or we are killed
