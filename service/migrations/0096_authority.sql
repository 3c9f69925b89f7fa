-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- Read by each transaction that acts for somebody: null while the authority holds, else a word that says why not. In functions, so that each
-- connection plans them once, also where they are called by a text that is not prepared.

-- Of a key. Null: none acts.
create function ended_key(key bigint) returns text language plpgsql stable strict as $$
begin
  return nullif(coalesce((select case when revoked_at is not null then 'api_key_revoked' when expires_at <= now() then 'api_key_expired'
      when suspended_at is not null then 'client_suspended' else '' end
    from api_keys join clients on clients.id = client_id where api_keys.id = key), 'api_key_revoked'), '');
end $$;

-- Of the session of a person, with the role and in the shelter (0: the store) that it had when its request began. A suspension of the
-- store's own client does not lock out those who can end it.
create function ended_session(session bigint, held_role text, held_shelter bigint) returns text language plpgsql stable as $$
begin
  return nullif(coalesce((select case when role <> held_role or coalesce(people.shelter_id, 0) <> held_shelter then 'changed'
      when suspended_at is not null and people.shelter_id is not null then 'suspended' else '' end
    from sessions join people on people.id = person_id join staff_clients on staff_clients.shelter_id = coalesce(people.shelter_id, 0)
      join clients on clients.id = client_id
    where sessions.id = session and removed_at is null and sessions.expires_at > now()), 'ended'), '');
end $$;
