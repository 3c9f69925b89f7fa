import pg from 'pg';
import type { Db } from '../../platform/db/handles.ts';

/** What there is in the schema, by kind and name, with its properties. None of it is text that the server renders: releases differ in that. */
export type Schema = Readonly<Record<string, string>>;

/** Of the current schema. What the application's role may do is left out if there is no such role. */
export async function readSchema(db: Db, role: string): Promise<Schema> {
  const { rows } = await db.query<{ name: string; properties: string }>({ text: selectSchema, values: [role] });
  return Object.fromEntries(rows.map(({ name, properties }) => [name, properties]));
}

/** Partitions come and go: their parents stand for them. */
const relations = `select * from pg_class where relnamespace = current_schema()::regnamespace and not relispartition`;

const named = (...words: string[]) => `concat_ws(' ', ${words.join(', ')})`;
const when = (condition: string, text: string) => `case when ${condition} then '${text}' end`;

/** All objects belong to one role, which functions of the store act as. */
const ownerOfAll = "(select relowner from pg_class where oid = to_regclass('schema_migrations'))";
const otherOwner = (owner: string) =>
  `case when ${owner} <> ${ownerOfAll} then 'of the owner ' || quote_ident(pg_get_userbyid(${owner})) || ' in place of ' || quote_ident(pg_get_userbyid(${ownerOfAll})) end`;

/** Functions of the store make partitions in it. */
const schemas = `select 'right of the owner to create tables in the schema', case when has_schema_privilege(${ownerOfAll}, current_schema(), 'create') then 'yes'
    else 'no: ' || quote_ident(current_schema()) || ' for ' || quote_ident(pg_get_userbyid(${ownerOfAll})) end`;

/** It takes the rows of days that have no partition, and then none can be made for them. */
const defaultPartitions = `select ${named("'default partition'", 'partition.relname', "'of'", 'relations.relname')}, ''
  from relations join pg_partitioned_table on partrelid = relations.oid join pg_class as partition on partition.oid = partdefid`;

const tables = `select ${named("'table'", 'relname')} as name,
    ${named(
      "'kind ' || relkind::text",
      when("relpersistence <> 'p'", 'unlogged'),
      when('relrowsecurity', 'row security'),
      when("relkind in ('r', 'p') and relreplident <> 'd'", 'replica identity not default'),
      otherOwner('relowner'),
    )} as properties
  from relations where relkind in ('r', 'p', 'v', 'm')`;

const columns = `select ${named("'column'", "relname || '.' || attname")},
    ${named(
      'typname',
      when('attnotnull', 'not null'),
      when('atthasdef', 'default'),
      "case when attidentity <> '' then 'identity ' || attidentity::text end",
      "case when attgenerated <> '' then 'generated' end",
    )}
  from relations join pg_attribute on attrelid = relations.oid join pg_type on pg_type.oid = atttypid
  where relkind in ('r', 'p') and attnum > 0 and not attisdropped`;

const indexes = `select ${named("'index'", 'relations.relname')},
    ${named(
      "'on ' || indexed.relname",
      'amname::text',
      when('indisunique', 'unique'),
      when('indpred is not null', 'partial'),
      when('not indisvalid', 'invalid'),
      "'(' || array_to_string(array(select coalesce((select attname from pg_attribute where attrelid = indrelid and attnum = key), 'expression') from unnest(indkey::int2[]) with ordinality as keys (key, place) order by place), ', ') || ')'",
    )}
  from relations join pg_index on indexrelid = relations.oid join pg_class as indexed on indexed.oid = indrelid join pg_am on pg_am.oid = relations.relam`;

/** PostgreSQL 18 has constraints for columns that are not null; before, those were properties of columns alone. */
const constraints = `select ${named("'constraint'", 'conname', "'of'", 'relname')},
    ${named(
      "'type ' || contype::text",
      when('not convalidated', 'not validated'),
      when('condeferrable', 'deferrable'),
      "case when confrelid <> 0 then 'to ' || confrelid::regclass::text end",
      "'(' || array_to_string(array(select attname from pg_attribute where attrelid = conrelid and attnum = any(conkey) order by attname), ', ') || ')'",
    )}
  from relations join pg_constraint on conrelid = relations.oid where contype <> 'n'`;

const triggers = `select ${named("'trigger'", 'tgname', "'of'", 'relname')},
    ${named("'calls ' || proname", "'type ' || tgtype::text", "case when tgenabled <> 'O' then 'enabled ' || tgenabled::text end")}
  from relations join pg_trigger on tgrelid = relations.oid join pg_proc on pg_proc.oid = tgfoid where not tgisinternal
  union all
  select ${named("'foreign keys of'", 'relname')}, ${named(when("bool_or(tgenabled <> 'O')", 'some are not checked'))}
  from relations join pg_trigger on tgrelid = relations.oid where tgisinternal group by relname`;

/** The text of a function is stored as it was written. */
const functions = `select ${named("'function'", "proname || '/' || pronargs")},
    ${named('lanname::text', "'kind ' || prokind::text", "'volatility ' || provolatile::text", when('prosecdef', 'security definer'), otherOwner('proowner'), "'text ' || md5(prosrc)")}
  from pg_proc join pg_language on pg_language.oid = prolang where pronamespace = current_schema()::regnamespace
    and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`;

const enums = `select ${named("'type'", 'typname')}, string_agg(enumlabel, ', ' order by enumsortorder)
  from pg_type join pg_enum on enumtypid = pg_type.oid where typnamespace = current_schema()::regnamespace group by typname`;

/** Policies and rules that nobody of this release has made would change what is read and written. */
const hooks = `select ${named("'policy'", 'polname', "'of'", 'relname')}, 'for ' || polcmd::text from relations join pg_policy on polrelid = relations.oid
  union all
  select ${named("'rule'", 'rulename', "'of'", 'relname')}, 'enabled ' || ev_enabled::text from relations join pg_rewrite on ev_class = relations.oid where relkind in ('r', 'p')`;

/** Functions of this release find them without a schema. */
const extensions = `select ${named("'extension'", 'extname')}, case when extnamespace = current_schema()::regnamespace then 'in the schema' else 'in another schema' end
  from pg_extension where extname in ('unaccent', 'pg_trgm')`;

const mayDo = (check: string, privileges: readonly string[]) =>
  `array_to_string(array(select privilege from unnest('{${privileges.join(',')}}'::text[]) as privilege where ${check}), ', ')`;

const grants = `select ${named("'rights on'", 'relname')}, coalesce(nullif(${mayDo('has_table_privilege($1, relations.oid, privilege)', ['select', 'insert', 'update', 'delete', 'truncate'])}, ''), 'none')
    || coalesce((select '; of columns: ' || string_agg(attname || ' ' || privilege, ', ' order by attname, privilege)
      from pg_attribute cross join unnest('{select,insert,update}'::text[]) as privilege
      where attrelid = relations.oid and attacl is not null and attnum > 0
        and has_column_privilege($1, relations.oid, attnum, privilege) and not has_table_privilege($1, relations.oid, privilege)), '')
  from relations where relkind in ('r', 'p', 'v') and to_regrole($1) is not null
  union all
  select ${named("'rights on'", 'relname')}, coalesce(nullif(${mayDo('has_sequence_privilege($1, relations.oid, privilege)', ['usage', 'select', 'update'])}, ''), 'none')
  from relations where relkind = 'S' and to_regrole($1) is not null
  union all
  select ${named("'right to call'", "proname || '/' || pronargs")}, case when has_function_privilege($1, pg_proc.oid, 'execute') then 'yes' else 'no' end
  from pg_proc where pronamespace = current_schema()::regnamespace and to_regrole($1) is not null
    and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')`;

const selectSchema = `with relations as (${relations}), described (name, properties) as (
  ${[tables, columns, indexes, constraints, triggers, functions, enums, hooks, extensions, schemas, defaultPartitions, grants].join('\n  union all\n  ')})
  select name, properties from described order by name collate "C"`;

export interface BehindSequence {
  readonly sequence: string;
  readonly table: string;
  readonly column: string;
  readonly next: bigint;
  readonly max: bigint;
}

/** Sequences whose next value is an id that exists, or is below one. Each table has an index that begins with its id. */
export async function selectBehindSequences(db: Db): Promise<BehindSequence[]> {
  const { rows } = await db.query<{ sequence: string; table: string; column: string }>({
    text: `select sequence.oid::regclass::text as sequence, relations.relname as table, attname as column
      from pg_class as sequence join pg_depend on objid = sequence.oid and deptype in ('i', 'a') and classid = 'pg_class'::regclass
        join (${relations}) as relations on relations.oid = refobjid join pg_attribute on attrelid = refobjid and attnum = refobjsubid
      where relations.relkind in ('r', 'p') and case when sequence.relkind = 'S' then has_sequence_privilege(sequence.oid, 'select') end
        and exists (select from pg_index where indrelid = relations.oid and indkey[0] = attnum and indisvalid)`,
  });
  const behind: BehindSequence[] = [];
  for (const { sequence, table, column } of rows) {
    const { rows: states } = await db.query<{ next: bigint; max: bigint | null }>({
      text: `select last_value + case when is_called then 1 else 0 end as next, (select max(${pg.escapeIdentifier(column)}) from ${pg.escapeIdentifier(table)}) as max from ${sequence}`,
    });
    const [state] = states;
    if (state && state.max !== null && state.next <= state.max) behind.push({ sequence, table, column, next: state.next, max: state.max });
  }
  return behind;
}
