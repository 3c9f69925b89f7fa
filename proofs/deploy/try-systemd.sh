#!/bin/bash
# Installs the package on a machine with systemd, in a container and a network of its own, and goes on to a first 200, to draining
# and to a restart. Prints a line for each result.
#   unshare --net --mount --propagation private try-systemd.sh FOLDER-OF-PACKAGE
set -euo pipefail
. "$(dirname "$0")/show-photo.sh"
. "$(dirname "$0")/hostile-image.sh"
ip link set lo up
machine=homeward-proof-machine-$$
clean_up() { podman rm --force --time 2 --volumes "$machine" >/dev/null 2>&1 || true; }
trap clean_up EXIT
on() { podman exec --interactive "$machine" "$@"; }
fail() { echo "$1" >&2; on journalctl --no-pager -n 60 >&2 || true; exit 1; }
seconds() { echo "$1 $(($(date +%s%3N) - started))"; }

podman run --detach --name "$machine" --systemd=always --privileged --network=host --hostname=store \
  --volume "$1:/packages:ro" localhost/homeward-proof/machine >/dev/null
for _ in $(seq 200); do
  state=$(on systemctl is-system-running 2>/dev/null || true)
  case $state in running | degraded) break ;; esac
  sleep 0.1
done
echo "machine $state"

started=$(date +%s%3N)
on sh -euc 'dpkg --install /packages/homeward_*.deb >/dev/null
  systemctl start postgresql redis-server'
on runuser -u postgres -- psql --quiet --set=ON_ERROR_STOP=1 <<'SQL'
create role homeward_app nologin;
create role homeward_owner login password 'owner';
grant homeward_app to homeward_owner with admin option;
create role homeward_api login password 'api';
grant homeward_app to homeward_api;
create database homeward owner homeward_owner;
SQL
on sh -euc 'cd /etc/homeward/credentials
  umask 077
  echo postgres://homeward_owner:owner@127.0.0.1:5432/homeward >owner-database-url
  echo postgres://homeward_api:api@127.0.0.1:5432/homeward >database-url
  echo redis://127.0.0.1:6379 >redis-url
  chgrp homeward database-url redis-url
  chmod 640 database-url redis-url'
on sed --in-place 's/^#\(HOMEWARD_PHOTOS\|HOMEWARD_JOURNAL\)=/\1=/' /etc/homeward/homeward.env
on systemctl start homeward-migrate || fail 'the migration failed'
on systemctl enable --quiet --now homeward-api@8081 homeward-api@8082 homeward-worker homeward-console || fail 'a unit did not start'
seconds started-ms
key=$(on homeward keys create --client 'Shelter North' --plan free --json | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
get() { curl --silent --max-time 5 --output /dev/null --write-out '%{http_code}' -H "Authorization: Bearer $key" "http://127.0.0.1:$1/v1/pets" || true; }
until_200() {
  for _ in $(seq 200); do
    status=$(get "$1")
    [ "$status" = 200 ] && break
    sleep 0.1
  done
}
until_200 8081
echo "first $status"
seconds first-ms
[ "$status" = 200 ] || fail 'there is no 200'
for _ in $(seq 200); do
  page=$(curl --silent --max-time 5 --output /dev/null --write-out '%{http_code}' http://127.0.0.1:8090/sign-in || true)
  [ "$page" = 200 ] && break
  sleep 0.1
done
echo "page $page"
seconds page-ms
until_200 8082
echo "second $status"

staff=$(on homeward keys create --client Staff --plan enterprise --per-minute 1000 --per-day 10000 --scopes pets:read,pets:write,store:manage --json)
staff_key=$(echo "$staff" | sed -n 's/.*"key":"\([^"]*\)".*/\1/p')
echo "photo $(show_photo "$staff_key" http://127.0.0.1:8081 http://127.0.0.1:8082)"

# Stopped in order: readiness fails, then the process closes.
stopped=$(date +%s%3N)
on systemctl stop homeward-api@8082
echo "stop-ms $(($(date +%s%3N) - stopped))"
echo "drained $(on journalctl --no-pager --output=cat --unit homeward-api@8082 | grep -cE '"msg":"(draining|closed)"' || true)"
echo "result $(on systemctl show --property=Result --value homeward-api@8082)"

pid=$(on systemctl show --property=MainPID --value homeward-api@8081)
on kill -KILL "$pid"
until_200 8081
echo "again $status $([ "$pid" != "$(on systemctl show --property=MainPID --value homeward-api@8081)" ] && echo other || echo same)"
echo "worker $(on systemctl is-active homeward-worker)"
for port in 18080 18081 18090; do
  metrics="${metrics:-}$(curl --silent --max-time 5 --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$port/metrics" || true) "
done
echo "metrics $metrics"
# Nobody but root may read the owner's address.
echo "owner $(on setpriv --reuid=homeward --regid=homeward --init-groups cat /etc/homeward/credentials/owner-database-url >/dev/null 2>&1 && echo readable || echo hidden)"
echo "exposure $(on systemd-analyze security --no-pager homeward-api@8081 | sed -n 's/.*Overall exposure level.*: \([0-9.]*\).*/\1/p')"
echo "console-exposure $(on systemd-analyze security --no-pager homeward-console | sed -n 's/.*Overall exposure level.*: \([0-9.]*\).*/\1/p')"
echo "images-exposure $(on systemd-analyze security --no-pager homeward-images | sed -n 's/.*Overall exposure level.*: \([0-9.]*\).*/\1/p')"

# With a decoder that was taken over.
on homeward keys revoke "$(on homeward keys create --client 'Shelter North' --json | sed -n 's/.*"id":"\{0,1\}\([0-9]*\).*/\1/p')" --yes >/dev/null
program=/usr/lib/homeward
on systemd-run --quiet --unit=names "$program/bin/node" --eval "const names = require('node:dgram').createSocket('udp4');
  names.on('message', (query, { port }) => names.send(query, port, '127.0.0.1')).bind(5300, '127.0.0.1')"
photos=$(on sed -n 's/^HOMEWARD_PHOTOS=//p' /etc/homeward/homeward.env)
journal=$(on sed -n 's/^HOMEWARD_JOURNAL=//p' /etc/homeward/homeward.env)
targets='{"secret":"homeward-worker.service/database-url","photos":"'$photos'","journal":"'$journal'",
  "secretFiles":["/etc/homeward/credentials/database-url","/run/credentials/homeward-worker.service/database-url"],
  "settingsFiles":["/etc/homeward/homeward.env"],"sockets":["/run/postgresql/.s.PGSQL.5432"],"postgres":"127.0.0.1:5432",
  "redis":"127.0.0.1:6379","outside":"127.0.0.1:8081","nameServer":"127.0.0.1:5300","name":"shelter.example"}'
as_worker() { on setpriv --reuid=homeward --regid=homeward --init-groups env DATABASE_URL_FILE=/run/credentials/homeward-worker.service/database-url "$program/bin/node" "$@"; }
for mode in unconfined confined; do
  hostile_decoder "$targets" "$mode" "/tmp/$machine.ts"
  podman cp "/tmp/$machine.ts" "$machine:$program/service/src/images/image-process.ts"
  rm "/tmp/$machine.ts"
  on chmod 644 "$program/service/src/images/image-process.ts"
  on systemctl restart homeward-images
  echo "hostile-$mode $(ask_decoder "$program" as_worker)"
done
echo "hostile-worker $(attempt_as "$targets" as_worker)"
echo "images-unit $(on systemctl is-active homeward-images)"
