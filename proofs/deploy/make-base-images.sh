#!/bin/sh
# Makes stand-ins for two public images, from Debian's packages and the pinned Node.js, unless they exist: for machines without a
# registry. As root; about a minute.
#   make-base-images.sh NODE NPM      the Node.js binary, and the folder of npm
set -eu
node=$1
npm=$2
debian=localhost/homeward-proof/debian
image=localhost/homeward-proof/node:$("$node" --version | tr -d v)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if ! podman image exists "$debian"; then
  # What is not needed to run a program. libatomic1 and libstdc++6 are what node is linked with.
  mmdebstrap --quiet --variant=minbase --mode=root --include=ca-certificates,libatomic1,libstdc++6 \
    '--dpkgopt=path-exclude=/usr/share/man/*' '--dpkgopt=path-exclude=/usr/share/locale/*' '--dpkgopt=path-exclude=/usr/share/doc/*' \
    '--dpkgopt=path-include=/usr/share/doc/*/copyright' bookworm "$folder/debian.tar" /etc/apt/sources.list.d/debian.sources
  podman import --quiet "$folder/debian.tar" "$debian"
fi

if ! podman image exists "$image"; then
  container=$(buildah from "$debian")
  buildah copy --quiet "$container" "$node" /usr/local/bin/node
  buildah copy --quiet "$container" "$npm" /usr/local/lib/node_modules/npm
  # npm must trust what this machine trusts.
  buildah copy --quiet "$container" /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
  buildah run --isolation=chroot "$container" -- sh -c 'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
    mkdir -p /usr/local/etc && echo cafile=/etc/ssl/certs/ca-certificates.crt >/usr/local/etc/npmrc
    groupadd -g 1000 node && useradd -u 1000 -g node -m node'
  buildah commit --quiet --rm "$container" "$image"
fi
