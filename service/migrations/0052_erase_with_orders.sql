-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The adopter of an accepted or completed application goes with that of its order. This release erases both, and records it; a process of
-- the release before knows orders only, and nothing would ever erase the other.
create function order_erased() returns trigger language plpgsql as $$
begin
  update applications set adopter_name = null, adopter_email = null, adopter_address = null, adopter_phone = null, answers = null,
      note = null, message = null
    where order_id = new.id and status in ('accepted', 'completed');
  return null;
end
$$;

-- Of this schema and no other: nobody can put a table of the same name before it.
do $$
begin
  execute format('alter function order_erased() set search_path = %I, pg_temp', current_schema());
end
$$;

create trigger order_erases_application after update of adopter_email on orders for each row
  when (new.adopter_email is null and old.adopter_email is not null and new.application_id is not null) execute function order_erased();
