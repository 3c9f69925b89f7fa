#!/bin/bash
# Upgrades and rolls back a machine with systemd, which is a container here. See trial.sh.
#   unshare --net --mount --propagation private in-systemd.sh
. "$(dirname "$0")/trial.sh"
machine=homeward-roll-back-$$
end() { podman rm --force --time 2 --volumes "$machine"; }
at_end+=(end)
on() { podman exec --interactive "$machine" "$@"; }

step 'the old release'
mkdir "$work/packages"
# By the name that the document has for it.
old_package=$(sed -n 's#.* \./\(homeward_.*_amd64\.deb\)$#\1#p' "$STEPS/roll-back-systemd.sh")
cp "$OLD_PACKAGE" "$work/packages/$old_package"
cp "$NEW_PACKAGE" "$work/packages/"
podman run --detach --name "$machine" --systemd=always --privileged --network=host --hostname=store \
  --volume "$work/packages:/packages:ro" --volume "$STEPS:/steps:ro" "$MACHINE_IMAGE" >/dev/null
for _ in $(seq 200); do
  case $(on systemctl is-system-running 2>/dev/null || true) in running | degraded) break ;; esac
  sleep 0.1
done
# What the document calls: `sudo` is not needed here, and the package was built before, by the same script.
on sh -euc "printf '#!/bin/sh\nexec \"\$@\"\n' >/usr/local/bin/sudo
  mkdir -p /root/checkout/deploy/systemd
  printf '#!/bin/sh\necho /packages/$(basename "$NEW_PACKAGE")\n' >/root/checkout/deploy/systemd/build-deb
  cp /packages/$old_package /root/checkout
  chmod 755 /usr/local/bin/sudo /root/checkout/deploy/systemd/build-deb
  dpkg --install /packages/$old_package >/dev/null
  systemctl start postgresql redis-server"
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
on systemctl start homeward-migrate
on systemctl enable --quiet --now homeward-api@8081 homeward-api@8082 homeward-worker
key=$(on homeward keys create --client Load --plan enterprise --per-minute 100000 --per-day 1000000 --json | key_of)
start_proxy

versions() { echo "$1 $(on dpkg-query --show --showformat '${Version}' homeward) $(on systemctl is-active homeward-api@8081 homeward-api@8082 homeward-worker | xargs)"; }
on_machine() {
  step "$1"
  on bash -euo pipefail -c "cd /root/checkout && . /steps/$1.sh" >&2
}
there_and_back() {
  on_machine upgrade-systemd
  versions upgraded
  sleep "$SETTLE_SECONDS"
  on_machine roll-back-systemd
  versions back
}
under_load "$certificate" "$key" there_and_back
