#!/bin/bash
# Upgrades and rolls back containers that are started by podman. See trial.sh.
#   unshare --net --mount --propagation private in-containers.sh
. "$(dirname "$0")/trial.sh"
cd "$FILES"
mount -t tmpfs tmpfs /srv
mkdir /srv/homeward
end() { podman rm --force --ignore --time 2 --volumes homeward-api-1 homeward-api-2 homeward-worker homeward-images homeward-postgres homeward-redis; }
end >/dev/null
at_end+=(end)

step 'PostgreSQL and Redis'
echo owner >"$work/password"
mkdir "$work/roles"
cat >"$work/roles/roles.sh" <<'SH'
#!/bin/sh
psql --quiet --set=ON_ERROR_STOP=1 --username=homeward_owner --dbname=homeward --command="create role homeward_app nologin" \
  --command="create role homeward_api login password 'api' in role homeward_app"
SH
chmod 755 "$work/roles/roles.sh"
podman run --detach --name homeward-postgres --volume "$work/password:/run/password:ro" --volume "$work/roles:/docker-entrypoint-initdb.d:ro" \
  --env POSTGRES_USER=homeward_owner --env POSTGRES_PASSWORD_FILE=/run/password --env POSTGRES_DB=homeward "$POSTGRES_IMAGE" postgres >/dev/null
podman run --detach --name homeward-redis "$REDIS_IMAGE" redis-server --bind 0.0.0.0 --protected-mode no --save '' >/dev/null
address() { podman inspect --format '{{.NetworkSettings.IPAddress}}' "homeward-$1"; }
for _ in $(seq 150); do
  podman exec homeward-postgres pg_isready --quiet --host=127.0.0.1 --username=homeward_owner --dbname=homeward && break
  sleep 0.2
done
echo "postgres://homeward_owner:owner@$(address postgres):5432/homeward" >/srv/homeward/owner-database-url
echo "postgres://homeward_api:api@$(address postgres):5432/homeward" >/srv/homeward/database-url
echo "redis://$(address redis):6379" >/srv/homeward/redis-url
install --directory --owner=1001 --group=1001 --mode=750 /srv/homeward/images

versions() { for name in api-1 api-2 worker; do podman inspect --format '{{.ImageName}}' "homeward-$name" | sed 's/.*homeward://'; done | xargs echo "$1"; }

# Its image was built before, by the same script.
printf '#!/bin/sh\necho %s\n' "$NEW_IMAGE" >deploy/image/build
document a-container-functions
# By the name that the document has for it.
podman tag "$OLD_IMAGE" "localhost/$(sed -n 's/^image=//p' "$STEPS/roll-back-containers.sh")"
step 'the old release'
image=$OLD_IMAGE
migrate >&2
key=$(run "$image" keys create --client Load --plan enterprise --per-minute 100000 --per-day 1000000 --json | key_of)
worker >&2
serve 1 >&2
serve 2 >&2
until_ready 1
until_ready 2
start_proxy

there_and_back() {
  document upgrade-containers
  versions upgraded
  sleep "$SETTLE_SECONDS"
  document roll-back-containers
  versions back
}
under_load "$certificate" "$key" there_and_back
