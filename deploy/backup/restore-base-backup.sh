#!/bin/sh
# Restores a base backup: restore-base-backup.sh BACKUPS DATA [TIME]
# Run it as the user of PostgreSQL. DATA is the data directory: empty, or not there yet. When PostgreSQL is started afterwards, it
# replays the archive to its end, or to TIME, such as '2026-11-16 03:10:00+00', and then accepts writes.
set -eu
backups=$1 data=$2 time=${3:-}

until=$(date -u ${time:+-d "$time"} +%Y%m%dT%H%M%SZ)
base=
for one in "$backups"/base/????????T??????Z; do
  # Names are times, so they sort.
  if [ -d "$one" ] && ! expr "${one##*/}" '>' "$until" > /dev/null; then base=$one; fi
done
[ -n "$base" ] || { echo "restore-base-backup: there is no base backup in $backups/base that ended before $until." >&2; exit 1; }
if [ -n "$(ls -A "$data" 2>/dev/null)" ]; then
  echo "restore-base-backup: $data is not empty. Move it away: what is left of it may be needed." >&2
  exit 1
fi

mkdir -p "$data"
chmod 700 "$data"
tar -xzf "$base/base.tar.gz" -C "$data"
tar -xzf "$base/pg_wal.tar.gz" -C "$data/pg_wal"
cp "$base/backup_manifest" "$data"

# Before the verification: without these lines, a start would lose everything since the base backup.
{
  echo "restore_command = 'gzip -dc \"$backups/wal/%f.gz\" > \"%p\"'"
  echo "recovery_target_action = 'promote'"
  if [ -n "$time" ]; then echo "recovery_target_time = '$time'"; else echo "recovery_target_time = ''"; fi
} >> "$data/postgresql.auto.conf"
touch "$data/recovery.signal"

# Debian has it in PostgreSQL's own folder only.
verify=$(command -v pg_verifybackup || echo "/usr/lib/postgresql/$(cat "$data/PG_VERSION")/bin/pg_verifybackup")
"$verify" --quiet "$data" || { echo "restore-base-backup: do not start $data: it differs from the manifest of $base." >&2; exit 1; }
echo "$base"
