#!/bin/sh
# Makes a base backup: base-backup.sh BACKUPS [KEEP]
# Then writes the time into the file HOMEWARD_BACKUP_STAMP (default: BACKUPS/last-backup), which the worker reads for an alert.
# Connects as libpq does (PGHOST, PGPORT, PGUSER, a password file). Then removes all but the last KEEP base backups (default: 7), and
# the segments in BACKUPS/wal that only those needed.
set -eu
backups=$1 keep=${2:-7}
part=$backups/base/part.$$
mkdir -p "$backups/base"
trap 'rm -rf "$part"' EXIT

pg_basebackup --pgdata="$part" --format=tar --gzip --wal-method=stream --checkpoint=fast --manifest-checksums=SHA256 --no-password
# Named after the time of its end: it can be restored to any time from then on.
made=$backups/base/$(date -u +%Y%m%dT%H%M%SZ)
mv "$part" "$made"
sync "$made"/* "$backups/base"

ls -d "$backups"/base/????????T??????Z | head -n "-$keep" | while read -r old; do rm -r "$old"; done
oldest=$(ls -d "$backups"/base/????????T??????Z | head -n 1)
first=$(tar -xzOf "$oldest/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p')
pg_archivecleanup -x .gz "$backups/wal" "$first"

# The last step: a run that fails anywhere leaves the old time.
stamp=${HOMEWARD_BACKUP_STAMP:-$backups/last-backup}
date -u +%Y-%m-%dT%H:%M:%SZ > "$stamp.new"
chmod 644 "$stamp.new"
mv "$stamp.new" "$stamp"
echo "$made"
