#!/bin/sh
# PostgreSQL's archive_command: archive-wal.sh ARCHIVE %p %f
# Stores a finished segment in the archive, compressed and durably. On failure PostgreSQL tries again, and keeps the segment until then.
set -eu
archive=$1 segment=$2 name=$3

# After a crash PostgreSQL may send a segment again. The same content is fine, other content must not replace it.
if [ -e "$archive/$name.gz" ]; then
  gzip -dc "$archive/$name.gz" | cmp -s - "$segment" && exit 0
  echo "archive-wal: $archive/$name.gz exists and is different. Does another server use this archive?" >&2
  exit 1
fi
# Under another name until it is complete, so that no restore reads a part of it.
gzip -c "$segment" > "$archive/$name.part"
sync "$archive/$name.part"
mv "$archive/$name.part" "$archive/$name.gz"
sync "$archive"
