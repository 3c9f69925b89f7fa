#!/bin/sh
# Run by the image of PostgreSQL when it creates the database: the role that `serve` and the worker log in as.
set -eu
psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" \
  --set=password="$(cat /run/secrets/api-password)" <<'SQL'
create role homeward_app nologin;
create role homeward_api login password :'password';
grant homeward_app to homeward_api;
SQL
