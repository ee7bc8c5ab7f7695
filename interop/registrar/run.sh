#!/bin/bash
# A carrier that sends calls only to its registered client (Kamailio): starts it and stays until it is ended.
#   outside: TLS on EDGE_PORT; a REGISTER gets a 401 (AUTH_USER / AUTH_PASS) and at most GRANTED_S seconds
#   inside:  UDP on INSIDE_PORT; INVITEs arriving there go to the contact of AUTH_USER over its connection
here=$(cd "$(dirname "$0")" && pwd); . "$here/../lib/common.sh"
export EDGE_PORT=${EDGE_PORT:-5091} INSIDE_PORT=${INSIDE_PORT:-5090} GRANTED_S=${GRANTED_S:-60}
export AUTH_USER=${AUTH_USER:-engine} AUTH_PASS=${AUTH_PASS:-engine-secret} AUTH_REALM=${AUTH_REALM:-carrier.test}
export ENGINE_VERIFY=${ENGINE_VERIFY:-no}
export PATH=$PATH:/usr/sbin
work_dir; export RUN_DIR; "$LIB/certs.sh" || die certificates
render "$here/kamailio.cfg" > "$RUN_DIR/kamailio.cfg" && render "$here/../carrier/tls.cfg" > "$RUN_DIR/tls.cfg" || die template
spawn kamailio -DD -E -m 64 -M 8 -f "$RUN_DIR/kamailio.cfg" -Y "$RUN_DIR" -P "$RUN_DIR/kamailio.pid" > "$RUN_DIR/kamailio.log" 2>&1
wait_port tcp "$EDGE_PORT" || die "kamailio: $(tail -5 "$RUN_DIR/kamailio.log")"
echo "ready: TLS 127.0.0.1:$EDGE_PORT, UDP 127.0.0.1:$INSIDE_PORT, logs in $RUN_DIR"
wait -n "${PIDS[@]}"
