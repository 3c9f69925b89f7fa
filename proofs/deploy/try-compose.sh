#!/bin/bash
# Runs compose.yaml of a checkout in a network of its own, from nothing to a first 200. Prints a line for each result.
#   unshare --net --mount --propagation private try-compose.sh CHECKOUT
# docker-compose talks to podman. Scheduled health checks would need systemd, so a loop runs them.
set -euo pipefail
. "$(dirname "$0")/show-photo.sh"
. "$(dirname "$0")/hostile-image.sh"
cd "$1"
ip link set lo up
work=$(mktemp -d)
project=homeward-proof-$$
podman system service --time=0 "unix://$work/podman.sock" 2>"$work/service.log" &
service=$!
(
  while kill -0 "$service" 2>/dev/null; do
    for container in $(podman ps --quiet --filter "label=com.docker.compose.project=$project"); do
      podman healthcheck run "$container" >/dev/null 2>&1 || true
    done
    sleep 0.5
  done
) &
checks=$!
compose() { docker-compose --project-name "$project" "$@"; }
clean_up() {
  compose down --volumes --timeout 5 >"$work/down.log" 2>&1 || cat "$work/down.log" >&2
  kill "$checks" "$service" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
until [ -S "$work/podman.sock" ]; do sleep 0.1; done
export DOCKER_HOST=unix://$work/podman.sock
seconds() { echo "$1 $(($(date +%s%3N) - started))"; }

started=$(date +%s%3N)
deploy/compose/prepare >/dev/null
compose config --quiet
compose up --detach 2>"$work/up.log" || { cat "$work/up.log" >&2; compose logs --no-color >&2; exit 1; }
seconds up-ms
create_key() { compose exec -T api-1 homeward keys create --client 'Shelter North' --plan free --json; }
key=$(create_key | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
get() {
  curl --silent --max-time 5 --output /dev/null --write-out '%{http_code} %{http_version}' \
    --cacert deploy/compose/secrets/certificate.crt -H "Authorization: Bearer $key" "https://localhost:8443$1" || true
}
for _ in $(seq 100); do
  first=$(get /v1/pets)
  [ "$first" = '200 2' ] && break
  sleep 0.1
done
echo "first $first"
seconds first-ms
echo "docs $(get /docs)"
first_page() {
  curl --silent --max-time 5 --output /dev/null --write-out '%{http_code}' --cacert deploy/compose/secrets/certificate.crt https://console.localhost:8443/sign-in || true
}
for _ in $(seq 300); do
  page=$(first_page)
  [ "$page" = 200 ] && break
  sleep 0.1
done
echo "page $page"
seconds page-ms
compose exec -T api-1 homeward people invite ada@example.org --role admin --json | grep -q https://console.localhost:8443/invitation/ && echo 'invitation yes' || echo 'invitation no'
echo "published $(podman ps --format '{{.Names}} {{.Ports}}' --filter "label=com.docker.compose.project=$project" | grep -c -- '->' || true)"
echo "running $(podman ps --quiet --filter "label=com.docker.compose.project=$project" | wc -l)"
query() { compose exec -T prometheus promtool query instant http://127.0.0.1:9090 "$1" 2>/dev/null | sed -n 's/.*=> \([0-9]*\) .*/\1/p' || true; }
for _ in $(seq 60); do
  targets=$(query 'sum(up)')
  [ "$targets" = 5 ] && break
  sleep 0.5
done
echo "targets ${targets:-0}"
# Those that Prometheus sends to, if the one here accepts alerts.
echo "alertmanagers $(compose exec -T worker node --input-type=module --eval "
  const { data } = await (await fetch('http://prometheus:9090/api/v1/alertmanagers')).json();
  const { ok } = await fetch('http://alertmanager:9093/-/ready');
  console.log(ok ? data.activeAlertmanagers.length : 0)" | tr -d '\r')"
staff=$(compose exec -T api-1 homeward keys create --client Staff --plan enterprise --per-minute 1000 --per-day 10000 --scopes pets:read,pets:write,store:manage --json)
staff_key=$(echo "$staff" | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
echo "photo $(show_photo "$staff_key" https://localhost:8443 https://localhost:8443 --cacert deploy/compose/secrets/certificate.crt)"
revoked=$(create_key | sed -n 's/.*"id":"\{0,1\}\([0-9]*\).*/\1/p')
compose exec -T api-1 homeward keys revoke "$revoked" --yes --json >/dev/null
# The image has no shell; what one container has written, another reads.
read_journal="fs.readFileSync('/var/lib/homeward/journal.log', 'utf8').includes('\"act\":\"key_revoked\",\"key\":$revoked')"
echo "journal $(compose exec -T worker node -p "$read_journal")"

# With a decoder that was taken over.
address() { podman inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}' "$(compose ps --quiet "$1")" | cut -d' ' -f1; }
name_server=$(compose exec -T worker node -p "fs.readFileSync('/etc/resolv.conf', 'utf8').match(/nameserver (\\S+)/)[1]" | tr -d '\r')
targets=$(compose exec -T worker node -p "const { HOMEWARD_PHOTOS: photos, HOMEWARD_JOURNAL: journal, DATABASE_URL_FILE: secret } = process.env;
  JSON.stringify({ photos, journal, secret, secretFiles: [secret], settingsFiles: ['/run/secrets/redis-url'], sockets: [], postgres: '$(address postgres):5432',
    redis: '$(address redis):6379', outside: '$(address haproxy):8443', nameServer: '$name_server:53', name: 'postgres' })" | tr -d '\r')
# Into the running container, from outside of its read-only file system: the file is read again for each image.
root=$(podman inspect --format '{{.GraphDriver.Data.MergedDir}}' "$(compose ps --quiet images)")
for mode in unconfined confined; do
  hostile_decoder "$targets" "$mode" "$root/app/service/src/images/image-process.ts"
  echo "hostile-$mode $(ask_decoder /app compose exec -T worker node | tr -d '\r')"
done
echo "hostile-worker $(attempt_as "$targets" compose exec -T worker node | tr -d '\r')"
