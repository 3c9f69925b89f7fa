-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- By default autovacuum waits until a fifth of a table has changed, and leaves indexes alone if dead rows are on few pages. But the
-- entries of dead rows stay at the front of an index that is read from its front: the first page of a list, the orders to expire, the
-- responses and endpoints that a worker looks for. So these tables are vacuumed earlier, with their indexes. The others that change a
-- lot are small, or have such settings from the start (outbox, delivery_exceptions).
--
-- None of these locks excludes a reader or a writer.
alter table pets set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
alter table orders set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02, vacuum_index_cleanup = on);
alter table idempotent_answers set (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);
alter table webhooks set (autovacuum_vacuum_scale_factor = 0.02, vacuum_index_cleanup = on);
