# Shared functions, sourced by every run.sh.  Bash only.
export LC_ALL=C
LIB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export CERT_DIR=${CERT_DIR:-${TMPDIR:-/tmp}/parley-interop-certificates-$(id -u)}

PIDS=()                                   # every process we start, killed on exit by pid
spawn() { "$@" <&0 & PIDS+=($!); }      # spawn CMD... (redirect at the call site; <&0 keeps its stdin)
cleanup() {                               # asks first; a peer that waits for an answer which never comes is ended
  local p i
  for p in "${PIDS[@]}"; do kill "$p" 2>/dev/null; done
  for i in {1..30}; do
    kill -0 "${PIDS[@]}" 2>/dev/null || break
    pause 0.1
  done
  for p in "${PIDS[@]}"; do kill -9 "$p" 2>/dev/null; done
  for p in "${PIDS[@]}"; do wait "$p" 2>/dev/null; done
}
trap cleanup EXIT
trap 'exit 130' INT TERM
# A test run that dies says nothing: what it started ends with its pipe.
if [ -n "${END_WITH_STDIN:-}" ]; then
  (read -r -d ''; kill "$$") <&0 > /dev/null 2>&1 & PIDS+=($!)
  exec < /dev/null; unset END_WITH_STDIN
fi

die()      { echo "FAIL: $*" >&2; exit "${CODE:-2}"; }
work_dir() { RUN_DIR=${RUN_DIR:-$(mktemp -d "${TMPDIR:-/tmp}/parley-interop.XXXXXX")}; mkdir -p "$RUN_DIR"; }
# render TEMPLATE >FILE : replaces ${NAME} by the exported variable NAME
render()   { perl -pe 's{\$\{(\w+)\}}{$ENV{$1} // die "unset: $1\n"}ge unless m{^\s*#}' "$1"; }
# pause SECONDS : as sleep, without a process; nothing is ever written to that pipe
exec {PAUSE}<> <(:)
pause() { read -r -t "$1" -u "$PAUSE" || true; }
# microseconds SECONDS : 2.5 -> 2500000
microseconds() {
  local fraction; [[ $1 == *.* ]] && fraction=${1#*.}
  fraction=${fraction:-0}000000
  echo $((10#${1%%.*} * 1000000 + 10#${fraction:0:6}))
}
# wait_port tcp|udp PORT [seconds] : until something is bound there
wait_port() {
  local i
  for ((i = 0; i < ${3:-5} * 20; i++)); do
    ss -Hln"${1:0:1}" "sport = :$2" | grep -q . && return 0
    pause 0.05
  done
  return 1
}
# wait_log FILE REGEX seconds
wait_log() {
  local i
  for ((i = 0; i < $3 * 20; i++)); do
    grep -qE -- "$2" "$1" 2>/dev/null && return 0
    pause 0.05
  done
  return 1
}
