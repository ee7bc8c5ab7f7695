#!/bin/bash
# Makes a private RSA CA and the peers' certificates, once per CERT_DIR (default: common.sh's).
#   ca.pem, NAME.pem (key and certificate, for baresip), NAME.key and NAME.crt (for the others)
# Names: baresip, edge, engine: valid for 127.0.0.1 and localhost; stranger: same CA, another host's name.
set -eu
here=$(cd "$(dirname "$0")" && pwd); . "$here/common.sh"
[ -s "$CERT_DIR/ca.pem" ] && exit 0
mkdir -p "$(dirname "$CERT_DIR")"
work=$(mktemp -d "$CERT_DIR.XXXXXX"); trap 'rm -rf "$work"' EXIT; cd "$work"
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=interop test CA" \
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
  -keyout ca.key -out ca.pem 2>/dev/null
certificate() {                           # certificate NAME SUBJECT_ALT_NAMES
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 825 -out "$1.crt" \
    -extfile <(printf '%s\n' "subjectAltName=$2" extendedKeyUsage=serverAuth,clientAuth) 2>/dev/null
  cat "$1.key" "$1.crt" > "$1.pem"; rm "$1.csr"
}
certificate baresip IP:127.0.0.1,DNS:localhost
certificate edge IP:127.0.0.1,DNS:localhost
certificate engine IP:127.0.0.1,DNS:localhost
certificate stranger DNS:stranger.example
# In one step, so that nobody sees half of it; when another run was quicker, its files stay.
mv -T "$work" "$CERT_DIR" 2>/dev/null || [ -s "$CERT_DIR/ca.pem" ]
