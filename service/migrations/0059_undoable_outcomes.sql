-- Up Migration
-- release: 1.2.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- For the worker: the outcomes that can't be undone any more.
create index concurrently if not exists pets_undoable on pets (undoable_until) where undoable_until is not null;
