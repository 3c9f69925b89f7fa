// What PostgreSQL says of the columns of a statement. It parses and plans the statement, and does not run it.
import pg from 'pg';
// It sets how values are parsed.
import '../service/src/platform/db/pool.ts';

export interface Column {
  readonly name: string;
  /** What `pg` makes of a value, such as 'bigint' or 'Date[]'. */
  readonly kind: string;
  /** The column of a table that allows null here. Undefined: there is none, which says nothing of an expression. */
  readonly nullable: string | undefined;
}

interface PgType {
  readonly oid: number;
  readonly name: string;
  readonly category: string;
  readonly element: number;
}

interface TableColumn {
  readonly table: string;
  readonly name: string;
  readonly isNotNull: boolean;
}

/** Finds the columns of statements. Rejects with what PostgreSQL says of one that is wrong. */
export async function columnReader(client: pg.Client): Promise<(text: string) => Promise<Column[]>> {
  const types = await client.query<PgType>('select oid, typname as name, typcategory as category, typelem as element from pg_type');
  const typeOf = new Map(types.rows.map((type) => [type.oid, type]));
  const columns = await client.query<TableColumn & { key: string }>(
    `select attrelid || '.' || attnum as key, relname as table, attname as name, attnotnull as "isNotNull"
      from pg_attribute join pg_class on pg_class.oid = attrelid
      where relkind in ('r', 'p') and relnamespace <> 'pg_catalog'::regnamespace and attnum > 0`,
  );
  const columnOf = new Map(columns.rows.map((column) => [column.key, column]));
  // Plans name the partitions.
  const tables = await client.query<{ name: string; table: string }>(
    `select relname as name, coalesce(pg_partition_root(oid), oid)::regclass::text as table from pg_class where relkind in ('r', 'p')`,
  );
  const tableOf = new Map(tables.rows.map(({ name, table }) => [name, table]));
  // So that all conditions are in the plan: an index may imply one.
  await client.query('set enable_indexscan = off; set enable_indexonlyscan = off; set enable_bitmapscan = off');
  await client.query('set plan_cache_mode = force_generic_plan; set enable_partition_pruning = off');
  return async (text) => {
    const fields = await describe(client, text);
    const from = fields.map(({ tableID, columnID }) => columnOf.get(`${tableID}.${columnID}`));
    const isNullable = from.some(Boolean) ? nullability(await plan(client, text), tableOf) : () => false;
    return fields.map(({ name, dataTypeID }, i) => {
      const column = from[i];
      return {
        name,
        kind: kindOf(dataTypeID, typeOf),
        nullable: column && isNullable(column) ? `${column.table}.${column.name}` : undefined,
      };
    });
  };
}

function describe(client: pg.Client, text: string): Promise<pg.FieldDef[]> {
  return new Promise((resolve, reject) => {
    let fields: pg.FieldDef[] = [];
    const description = {
      submit(connection: pg.Connection) {
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription(message: { readonly fields: pg.FieldDef[] }) {
        ({ fields } = message);
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(fields),
    };
    client.query(description);
  });
}

/** By the category of a type; of any other a text. */
const samples: Readonly<Record<string, string>> = { B: 't', D: '2030-01-01 00:00:00+00', N: '1', T: '1 day', U: '\\x00' };

function kindOf(oid: number, typeOf: ReadonlyMap<number, PgType>): string {
  const { category, element } = typeOf.get(oid) as PgType;
  const { name, category: inner } = typeOf.get(category === 'A' ? element : oid) as PgType;
  if (/^jsonb?$/.test(name)) return 'any';
  const sample = samples[inner] ?? '';
  const value = (pg.types.getTypeParser(oid) as (text: string) => unknown)(category === 'A' ? `{"${sample}"}` : sample);
  return Array.isArray(value) ? `${kindOfValue(value[0])}[]` : kindOfValue(value);
}

const kindOfValue = (value: unknown) => (typeof value === 'object' && value !== null ? value.constructor.name : typeof value);

interface PlanNode {
  readonly Plans?: readonly PlanNode[];
  readonly 'Parent Relationship'?: string;
  readonly 'Subplan Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'CTE Name'?: string;
  readonly 'Join Type'?: string;
  readonly 'Node Type'?: string;
  readonly Filter?: string;
}

/** The plan without the values, as of a prepared statement. */
async function plan(client: pg.Client, text: string): Promise<PlanNode> {
  const parameters = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const values = parameters > 0 ? `(${Array.from({ length: parameters }, () => 'null').join(', ')})` : '';
  await client.query(`prepare described as ${text}`);
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (verbose, format json) execute described${values}`,
    );
    if (!rows[0]) throw new Error('explain returned no row');
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    await client.query('deallocate described');
  }
}

/** Whether a column may be null: its table is outer-joined, or allows it and is read without a condition that excludes it. */
function nullability(root: PlanNode, tableOf: ReadonlyMap<string, string>): (column: TableColumn) => boolean {
  const nodes = nodesIn(root);
  const scansOf = (node: PlanNode): PlanNode[] =>
    nodesIn(node).flatMap((one) => {
      const isOfCte = (other: PlanNode) => one['CTE Name'] !== undefined && other['Subplan Name'] === `CTE ${one['CTE Name']}`;
      return [one, ...nodes.filter(isOfCte).flatMap(scansOf)];
    });
  const isOf = (table: string) => (scan: PlanNode) => tableOf.get(scan['Relation Name'] ?? '') === table;
  const outerJoined = nodes.flatMap(({ 'Join Type': type = '', Plans: sides = [] }) => {
    const optional = { Left: ['Inner'], Right: ['Outer'], Full: ['Inner', 'Outer'] }[type] ?? [];
    return sides.filter((side) => optional.includes(side['Parent Relationship'] ?? '')).flatMap(scansOf);
  });
  return ({ table, name, isNotNull }) => {
    if (outerJoined.some(isOf(table))) return true;
    const scans = nodes.filter((node) => node['Node Type'] !== 'ModifyTable' && isOf(table)(node));
    return !isNotNull && (scans.length === 0 || scans.some(({ Filter }) => !excludesNull(Filter, name)));
  };
}

/** Nearly every comparison does, except where it is one of several alternatives. */
function excludesNull(filter: string | undefined, column: string): boolean {
  if (filter === undefined || filter.includes(' OR ')) return false;
  return filter.split(' AND ').some((condition) => new RegExp(`\\b${column}\\b`).test(condition) && !isTrueOfNull.test(condition));
}

const isTrueOfNull = /\b(IS NULL|IS (NOT )?DISTINCT|IS (NOT )?(TRUE|FALSE|UNKNOWN)|COALESCE|CASE|GREATEST|LEAST|SubPlan)\b/;

const nodesIn = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesIn)];
