#!/bin/bash
# Runs `homeward images` of the image in a container by itself, and in one that shares the network of the worker, as in a pod; each
# time with a decoder that was taken over. Prints a line for each result.
#   unshare --net --mount --propagation private try-images.sh IMAGE
set -euo pipefail
. "$(dirname "$0")/hostile-image.sh"
image=$1
ip link set lo up
work=$(mktemp -d)
chmod 755 "$work"
name=homeward-proof-images-$$
clean_up() {
  podman rm --force --time 2 "$name" >/dev/null 2>&1 || true
  kill "$servers" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
"$NODE" "$here/listen-as-servers.ts" >"$work/servers" &
servers=$!
until [ -s "$work/servers" ]; do sleep 0.05; done

# What a worker has, in the folders of docs/deploy.md.
install --directory --owner=1001 --group=1001 --mode=750 "$work/images"
install --directory --owner=1000 --group=1000 "$work/store" "$work/store/photos"
for file in database-url redis-url store/journal.log store/photos/1.webp; do echo sesame | install --owner=1000 --group=1000 --mode=600 /dev/stdin "$work/$file"; done
restrictions=(--rm --read-only --cap-drop=all --security-opt=no-new-privileges)
worker=("${restrictions[@]}" --network=host --group-add=1001 --entrypoint=node
  --volume "$work/images:/run/homeward-images" --volume "$work/store:/var/lib/homeward"
  --volume "$work/database-url:/run/secrets/database-url:ro" --volume "$work/redis-url:/run/secrets/redis-url:ro"
  --env DATABASE_URL_FILE=/run/secrets/database-url --env HOMEWARD_IMAGES_SOCKET=$socket)
targets=$(sed 's/^{//' "$work/servers")
targets='{"secret":"/run/secrets/database-url","photos":"/var/lib/homeward/photos","journal":"/var/lib/homeward/journal.log",
  "secretFiles":["/run/secrets/database-url"],"settingsFiles":["/run/secrets/redis-url"],"sockets":[],'$targets

# try PREFIX NETWORK
try() {
  local mode
  for mode in unconfined confined; do
    hostile_decoder "$targets" "$mode" "$work/image-process.ts"
    chmod 644 "$work/image-process.ts"
    podman run --detach --name "$name" "${restrictions[@]}" --network="$2" --user=1001:1001 \
      --volume "$work/images:/run/homeward-images" --volume "$work/image-process.ts:/app/service/src/images/image-process.ts:ro" \
      --env HOMEWARD_IMAGES_SOCKET=$socket "$image" images >/dev/null
    echo "$1-$mode $(ask_decoder /app podman run "${worker[@]}" "$image")"
    podman healthcheck run "$name" >/dev/null 2>&1 && echo "$1-healthy-$mode yes" || echo "$1-healthy-$mode no"
    podman rm --force --time 5 "$name" >/dev/null
  done
}
try container none
try pod host
echo "worker $(attempt_as "$targets" podman run "${worker[@]}" "$image")"
