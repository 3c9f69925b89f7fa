-- Once, on the primary: psql -v owner_password=… -v api_password=… -f roles.sql
create role homeward_app nologin;
create role homeward_owner login password :'owner_password';
grant homeward_app to homeward_owner with admin option;
create database homeward owner homeward_owner;

-- A limit, and no superuser. Commits that wait for a standby hold their connections; without a limit they could take all of them, and
-- then Patroni could not connect and mend it. The sum for your processes is in docs/operations/database.md, "Connections".
create role homeward_api login password :'api_password' connection limit 94;
grant homeward_app to homeward_api;
