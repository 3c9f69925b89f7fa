#!/bin/bash
# Upgrades and rolls back a store of compose.yaml. See trial.sh.
#   unshare --net --mount --propagation private in-compose.sh
# docker-compose of Debian 12 talks to podman. It knows no --wait, and scheduled health checks would need systemd: both are done here.
# It takes an option that podman adds to a network for a change of it, so the option is written down.
. "$(dirname "$0")/trial.sh"
cd "$CHECKOUT"
# The environment would win over .env.
unset HOMEWARD_IMAGE
project=homeward-roll-back-$$
podman system service --time=0 "unix://$work/podman.sock" 2>"$work/service.log" &
processes+=($!)
until [ -S "$work/podman.sock" ]; do sleep 0.1; done
export DOCKER_HOST=unix://$work/podman.sock
(
  while [ -d "$work" ]; do
    for container in $(podman ps --quiet --filter "label=com.docker.compose.project=$project"); do
      podman healthcheck run "$container" >/dev/null 2>&1 || true
    done
    sleep 0.5
  done
) &
processes+=($!)
cat >"$work/network.yaml" <<'YAML'
networks:
  front:
    ipam:
      options: { driver: host-local }
      config:
        - subnet: 172.30.81.0/24
YAML
compose() { docker-compose --project-name "$project" --file compose.yaml --file "$work/network.yaml" "$@"; }
docker() {
  [ "$1" = compose ] || { echo "docker $1 is not known here" >&2; return 1; }
  shift
  local words=() wait=''
  for word in "$@"; do if [ "$word" = --wait ]; then wait=yes; else words+=("$word"); fi; done
  compose "${words[@]}" 2>"$work/compose.log" || { cat "$work/compose.log" >&2; return 1; }
  [ -n "$wait" ] || return 0
  for word in "${words[@]:1}"; do
    case $word in -*) continue ;; esac
    until_healthy "$word"
  done
}
until_healthy() {
  for _ in $(seq 240); do
    podman healthcheck run "$(compose ps --quiet "$1" 2>/dev/null)" >/dev/null 2>&1 && return
    sleep 0.5
  done
  compose logs --no-color --tail=40 "$1" >&2
  return 1
}
end() { compose down --volumes --remove-orphans --timeout 5; }
at_end+=(end)

versions() { for service in api-1 api-2 worker; do podman inspect --format '{{.ImageName}}' "$(docker compose ps --quiet "$service")" | sed 's/.*homeward://'; done | xargs echo "$1"; }

step 'the old release'
deploy/compose/prepare >/dev/null
# Again: on a busy machine the migration may find no PostgreSQL in time. This is not the part that is tried.
docker compose up --detach || docker compose up --detach || { compose logs --no-color --tail=20 migrate postgres >&2; exit 1; }
until_healthy api-1
until_healthy api-2
key=$(docker compose exec -T api-1 homeward keys create --client Load --plan enterprise --per-minute 100000 --per-day 1000000 --json | key_of)

there_and_back() {
  # As the first step says. Its image was built before, by the same script.
  cp -R "$FILES/." "$CHECKOUT"
  printf '#!/bin/sh\necho %s\n' "$NEW_IMAGE" >deploy/image/build
  deploy/compose/use-image "$OLD_IMAGE" >&2
  document upgrade-compose
  versions upgraded
  sleep "$SETTLE_SECONDS"
  document roll-back-compose
  versions back
}
under_load "$CHECKOUT/deploy/compose/secrets/certificate.crt" "$key" there_and_back
