import type { Db, Transaction } from '../../platform/db/handles.ts';

/** Listed fields of a target, without adopters' data. */
export type AuditedValues = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface AuditRow {
  readonly act: string;
  readonly target: string;
  readonly targetId: bigint | null;
  readonly shelterId: bigint | null;
  readonly personId: bigint | null;
  readonly clientId: bigint | null;
  readonly keyId: bigint | null;
  readonly login: string | null;
  readonly host: string | null;
  readonly network: string | null;
  readonly before: AuditedValues | null;
  readonly after: AuditedValues | null;
}

export async function insertAudit(tx: Transaction, row: AuditRow): Promise<void> {
  await tx.query({
    name: 'insert-audit',
    text: `insert into audit (act, target, target_id, shelter_id, person_id, client_id, key_id, login, host, network, before, after)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12::jsonb)`,
    values: [
      row.act,
      row.target,
      row.targetId,
      row.shelterId,
      row.personId,
      row.clientId,
      row.keyId,
      row.login,
      row.host,
      row.network,
      row.before && JSON.stringify(row.before),
      row.after && JSON.stringify(row.after),
    ],
  });
}

const todayUtc = `(now() at time zone 'utc')::date`;

/**
 * Counts one more row of an author today (UTC). False: there are as many as there may be. The sum is exact, since the author's row is locked
 * while it changes. The day never moves back, so that transactions on both sides of midnight don't reset each other's sum.
 */
export async function countAuditRow(tx: Transaction, author: string, perDayMax: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'count-audit-row',
    text: `insert into audit_counts as before (author, day, count) values ($1, ${todayUtc}, 1)
      on conflict (author) do update set day = greatest(before.day, excluded.day),
        count = case when before.day < excluded.day then 1 else before.count + 1 end
      where before.day < excluded.day or before.count < $2`,
    values: [author, perDayMax],
  });
  return rowCount === 1;
}

/** Creates the partitions of the coming months. Returns how many. Acts that are audited queue behind the lock: rather later than for long. */
export async function makeAuditPartitions(tx: Transaction): Promise<number> {
  await tx.query({ text: `set local lock_timeout = '200ms'` });
  const { rows } = await tx.query<{ made: bigint }>({ text: 'select make_audit_partitions() as made' });
  return Number(rows[0]?.made ?? 0);
}

/** Drops the months that ended more than so many days ago. Returns how many. */
export async function dropAuditPartitions(tx: Transaction, days: number): Promise<number> {
  await tx.query({ text: `set local lock_timeout = '200ms'` });
  const { rows } = await tx.query<{ dropped: bigint }>({ text: 'select drop_audit_partitions($1) as dropped', values: [days] });
  return Number(rows[0]?.dropped ?? 0);
}

/** When the oldest row that may be there was written. */
export async function findAuditStart(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ start: Date | null }>({ text: 'select audit_start() as start' });
  return rows[0]?.start ?? undefined;
}

/** A row of the audit, or of a history. */
export interface RecordedAct extends AuditRow {
  readonly source: 'audit' | 'history' | 'applications';
  readonly id: bigint;
  readonly at: Date;
  /** The address of the person, as long as it is known. */
  readonly email: string | null;
  /** For the next page: PostgreSQL's times are finer than those of JavaScript. */
  readonly position: string;
}

export interface AuditFilter {
  readonly personId?: bigint | undefined;
  readonly act?: string | undefined;
  /** Such as `key`. */
  readonly target?: { readonly kind: string; readonly id: bigint } | undefined;
  /** Also what people of this shelter have done to it: for its admins. Undefined: everything. */
  readonly shelterId?: bigint | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** The position of the last act of the page before. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const ranks = { audit: 3, history: 2, applications: 1 } as const;

/** The newest first. Each source gives a page by its own index, and the newest of all are kept. */
export async function selectActs(db: Db, filter: AuditFilter): Promise<RecordedAct[]> {
  const sources = [auditPage(filter), ...historyPages(filter)];
  const { values, add } = parameters();
  const pages = sources.map(({ columns, from, joined = '', conditions, rank, at, id }) => {
    const where = [...conditions(add)];
    if (filter.since) where.push(`${at} >= ${add(filter.since)}`);
    if (filter.until) where.push(`${at} < ${add(filter.until)}`);
    if (filter.before) where.push(beforeCondition(filter.before, { at, id, rank }, add));
    const conditionText = where.length > 0 ? `where ${where.join(' and ')}` : '';
    const page = `from ${from} ${conditionText} order by ${at} desc, ${id} desc limit ${add(filter.limit)}`;
    // The rows that a page of an index names are looked up one by one, however many the tables have.
    return joined
      ? `(select ${columns}, ${rank} as rank from (select * ${page}) as page ${joined})`
      : `(select ${columns}, ${rank} as rank ${page})`;
  });
  const { rows } = await db.query<RecordedAct>({
    text: `select acts.*, people.email,
        (extract(epoch from at) * 1000000)::bigint::text || '.' || rank || '.' || acts.id as position
      from (select * from (${pages.join(' union all ')}) as page order by at desc, rank desc, id desc limit ${add(filter.limit)}) as acts
        left join people on people.id = "personId" order by at desc, rank desc, acts.id desc`,
    values,
  });
  return rows;
}

type Add = (value: unknown) => string;

interface Source {
  readonly rank: number;
  readonly columns: string;
  readonly from: string;
  /** Joined to the page, if `from` is an index. */
  readonly joined?: string;
  readonly at: string;
  readonly id: string;
  conditions(add: Add): string[];
}

function auditPage({ personId, act, target, shelterId }: AuditFilter): Source {
  return {
    rank: ranks.audit,
    columns: `'audit' as source, id, at, act, target, target_id as "targetId", shelter_id as "shelterId", person_id as "personId",
      client_id as "clientId", key_id as "keyId", login, host, network, before, after`,
    from: 'audit',
    at: 'at',
    id: 'id',
    conditions: (add) => [
      ...(personId === undefined ? [] : [`person_id = ${add(personId)}`]),
      ...(act === undefined ? [] : [`act = ${add(act)}`]),
      ...(target === undefined ? [] : [`target = ${add(target.kind)}`, `target_id = ${add(target.id)}`]),
      ...(shelterId === undefined ? [] : [`shelter_id = ${add(shelterId)}`]),
    ],
  };
}

/** What is written in no audit, since the history has it. By person and by time the acts of people; of one animal or application all. */
function historyPages({ personId, act, target, shelterId }: AuditFilter): Source[] {
  const pet = { rank: ranks.history, columns: petColumns, at: 'history.at', id: 'history.id' };
  const application = {
    rank: ranks.applications,
    columns: applicationColumns,
    at: 'application_history.at',
    id: 'application_history.id',
  };
  // An act of the audit is none of a history, and neither shows those of other shelters.
  if (act !== undefined || shelterId !== undefined) return [];
  if (target === undefined) {
    const from = 'person_history';
    const at = 'at';
    const byPerson = (kind: string) => (add: Add) => [
      ...(personId === undefined ? [] : [`person_id = ${add(personId)}`]),
      `${kind} is not null`,
    ];
    const ofPet =
      'cross join lateral (select * from history as row where row.id = page.history_id and row.at = page.at limit 1) as history';
    const ofApplication = `cross join lateral (select * from application_history as row
      where row.application_id = page.application_id and row.id = page.application_history_id limit 1) as application_history`;
    return [
      { ...pet, from, at, id: 'history_id', joined: ofPet, conditions: byPerson('history_id') },
      { ...application, from, at, id: 'application_history_id', joined: ofApplication, conditions: byPerson('application_id') },
    ];
  }
  const { kind, id } = target;
  const by = (table: string, add: Add) => (personId === undefined ? [] : [`${table}.person_id = ${add(personId)}`]);
  if (kind === 'animal') return [{ ...pet, from: 'history', conditions: (add) => [`pet_id = ${add(id)}`, ...by('history', add)] }];
  if (kind === 'order') {
    const conditions = (add: Add) => {
      const order = add(id);
      return [`pet_id = (select pet_id from orders where orders.id = ${order})`, `order_id = ${order}`, ...by('history', add)];
    };
    return [{ ...pet, from: 'history', conditions }];
  }
  if (kind !== 'application') return [];
  return [
    {
      ...application,
      from: 'application_history',
      conditions: (add) => [`application_id = ${add(id)}`, ...by('application_history', add)],
    },
  ];
}

const nothingElse = 'null::text as login, null::text as host, null::text as network';
const petColumns = `'history' as source, history.id, history.at, coalesce(history.kind, 'pet_status') as act,
  case when order_id is null then 'animal' else 'order' end as target, coalesce(order_id, pet_id) as "targetId", null::bigint as "shelterId",
  history.person_id as "personId", history.client_id as "clientId", history.key_id as "keyId", ${nothingElse},
  jsonb_build_object('status', from_status) as before,
  jsonb_strip_nulls(jsonb_build_object('status', to_status, 'changed', changed)) as after`;
const applicationColumns = `'applications' as source, application_history.id, application_history.at, 'application_status' as act,
  'application' as target, application_history.application_id as "targetId", null::bigint as "shelterId",
  application_history.person_id as "personId", application_history.client_id as "clientId", application_history.key_id as "keyId", ${nothingElse},
  jsonb_build_object('status', from_status) as before, jsonb_build_object('status', to_status) as after`;

/** In the order of time, source and id. */
function beforeCondition(before: string, { at, id, rank }: Pick<Source, 'at' | 'id' | 'rank'>, add: Add): string {
  const [micros = '', ofRank = '', lastId = ''] = before.split('.');
  const time = `to_timestamp(0) + ${add(BigInt(micros))}::bigint * interval '1 microsecond'`;
  if (rank < Number(ofRank)) return `${at} <= ${time}`;
  if (rank > Number(ofRank)) return `${at} < ${time}`;
  return `(${at}, ${id}) < (${time}, ${add(BigInt(lastId))}::bigint)`;
}

function parameters(): { values: unknown[]; add: Add } {
  const values: unknown[] = [];
  return { values, add: (value) => `$${values.push(value)}` };
}
