# For the scripts that upgrade a store and roll it back: in a network of their own, under load, by the commands of docs/deploy.md.
# They get: STEPS, a folder with a file of commands for each section; NODE; OLD_IMAGE, NEW_IMAGE, OLD_PACKAGE, NEW_PACKAGE; CHECKOUT, a
# folder with the files of the old release, and FILES, with those of the new one; PER_SECOND; SETTLE_SECONDS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ip link set lo up
work=$(mktemp -d)
chmod 755 "$work"
processes=()
at_end=()
clean_up() {
  for command in "${at_end[@]}"; do $command >"$work/end.log" 2>&1 || cat "$work/end.log" >&2; done
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  rm -rf "$work"
}
trap clean_up EXIT

step() { echo "-- $1" >&2; }

# Runs a section of the document in this shell, so that functions and variables that it sets stay.
document() {
  step "$1"
  . "$STEPS/$1.sh" >&2
}

key_of() { sed -n 's/.*"key":"\([^"]*\)".*/\1/p'; }

# start_proxy: HAProxy of this machine with the file of the new release, in front of the ports 8081 and 8082.
start_proxy() {
  (cd "$FILES" && deploy/compose/prepare >/dev/null)
  certificate=$FILES/deploy/compose/secrets/certificate.crt
  HOMEWARD_BIND=:8443 HOMEWARD_CERTIFICATE="${certificate%crt}pem" haproxy -db -f "$FILES/deploy/haproxy/haproxy.cfg" >"$work/haproxy.log" 2>&1 &
  processes+=($!)
}

# under_load CERTIFICATE KEY COMMAND…: the last line of standard output says what became of the requests.
under_load() {
  local certificate=$1 key=$2 load
  shift 2
  for _ in $(seq 300); do
    [ "$(curl --silent --max-time 5 --cacert "$certificate" --output /dev/null --write-out '%{http_code}' -H "Authorization: Bearer $key" https://localhost:8443/v1/pets || true)" = 200 ] && break
    sleep 0.2
  done
  "$NODE" "$here/load.ts" https://localhost:8443 "$certificate" "$key" "$PER_SECOND" >"$work/load.json" &
  load=$!
  processes+=("$load")
  sleep "$SETTLE_SECONDS"
  "$@"
  sleep "$SETTLE_SECONDS"
  kill -TERM "$load"
  wait "$load"
  echo "load $(cat "$work/load.json")"
}
