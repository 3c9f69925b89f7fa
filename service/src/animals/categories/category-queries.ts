import type { Db, Transaction } from '../../platform/db/handles.ts';
import type { Category } from './category-schemas.ts';

interface Row {
  readonly id: bigint;
  readonly name: string | null;
}

const asCategory = ({ id, name }: Row): Category => (name === null ? { id } : { id, name });

/** One keyset page: first the categories with a name, then those without, both by id. */
export async function selectCategories(
  db: Db,
  page: { afterId: bigint | undefined; inSecondPart: boolean; limit: number },
): Promise<Category[]> {
  const isFirst = page.afterId === undefined;
  // The row comparison and the order match the index categories_named_first.
  const { rows } = await db.query<Row>({
    name: isFirst ? 'categories-first' : 'categories-after',
    text: `select id, name from categories ${isFirst ? '' : 'where ((name is null), id) > ($2, $3)'} order by (name is null), id limit $1`,
    values: isFirst ? [page.limit] : [page.limit, page.inSecondPart, page.afterId],
  });
  return rows.map(asCategory);
}

/** By id. Only staff name categories, so there are few. */
export async function selectNamedCategories(db: Db, limit: number): Promise<Array<{ readonly id: bigint; readonly name: string }>> {
  const { rows } = await db.query<{ id: bigint; name: string }>({
    name: 'named-categories',
    text: 'select id, name from categories where (name is null) = false order by id limit $1',
    values: [limit],
  });
  return rows;
}

export async function findCategory(db: Db, id: bigint): Promise<Category | undefined> {
  const { rows } = await db.query<Row>({ name: 'category', text: 'select id, name from categories where id = $1', values: [id] });
  return rows[0] && asCategory(rows[0]);
}

/** The names of those of the categories that have one, by id. */
export async function findCategoryNames(db: Db, ids: readonly bigint[]): Promise<Map<bigint, string>> {
  const { rows } = await db.query<{ id: bigint; name: string }>({
    text: 'select id, name from categories where id = any($1::bigint[]) and name is not null',
    values: [ids],
  });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Categories with this name, compared case-insensitively. Several categories may have the same name. */
export async function selectCategoriesByName(db: Db, name: string, limit: number): Promise<Category[]> {
  const { rows } = await db.query<Row>({
    // Only staff name categories, so there are few names to compare.
    text: 'select id, name from categories where (name is null) = false and lower(name) = lower($1) order by id limit $2',
    values: [name, limit],
  });
  return rows.map(asCategory);
}

/** Names a category, and creates it if it doesn't exist. The store chooses the ids. */
export async function upsertCategory(tx: Transaction, id: bigint, name: string): Promise<{ category: Category; created: boolean }> {
  const { rows } = await tx.query<Row & { created: boolean }>({
    name: 'upsert-category',
    text: `insert into categories (id, name) values ($1, $2) on conflict (id) do update set name = excluded.name
      returning id, name, xmax = 0 as created`,
    values: [id, name],
  });
  const [row] = rows;
  if (!row) throw new Error('an upsert returned no row');
  return { category: asCategory(row), created: row.created };
}

/** Waits if another transaction is inserting the same category. */
export async function insertCategory(tx: Transaction, id: bigint): Promise<void> {
  await tx.query({ name: 'insert-category', text: 'insert into categories (id) values ($1) on conflict do nothing', values: [id] });
}

const todayUtc = `(now() at time zone 'utc')::date`;

/**
 * Inserts a category and counts it for its client, in one statement. `counted` is false if the day's count has
 * reached `perDayMax`; the transaction must then roll back. The count is exact, since the client's row is locked while it changes.
 * A category that already exists is not counted. The day never moves back, so that transactions on both sides of midnight don't
 * reset each other's count.
 */
export async function insertCountedCategory(
  tx: Transaction,
  id: bigint,
  client: { clientId: bigint; perDayMax: number },
): Promise<{ inserted: boolean; counted: boolean }> {
  const { rows } = await tx.query<{ inserted: boolean; counted: boolean }>({
    name: 'insert-counted-category',
    text: `with inserted as (insert into categories (id) values ($1) on conflict do nothing returning id),
      counted as (
        insert into category_registrations as before (client_id, day, count) select $2, ${todayUtc}, 1 from inserted
        on conflict (client_id) do update set day = greatest(before.day, excluded.day),
          count = case when before.day < excluded.day then 1 else before.count + 1 end
        where before.day < excluded.day or before.count < $3
        returning client_id)
      select exists (select from inserted) as inserted, exists (select from counted) as counted`,
    values: [id, client.clientId, client.perDayMax],
  });
  const [row] = rows;
  if (!row) throw new Error('a select of two values returned no row');
  return row;
}

/** Whether a category exists, and how many the client has registered today (UTC), from one snapshot. */
export async function findRegistrations(
  tx: Transaction,
  id: bigint,
  clientId: bigint,
): Promise<{ exists: boolean; registeredToday: bigint }> {
  const { rows } = await tx.query<{ exists: boolean; registeredToday: bigint }>({
    name: 'category-registrations',
    text: `select exists (select from categories where id = $1) as exists, coalesce(
      (select count from category_registrations where client_id = $2 and day >= ${todayUtc}), 0) as "registeredToday"`,
    values: [id, clientId],
  });
  const [row] = rows;
  if (!row) throw new Error('a select of two values returned no row');
  return row;
}

export async function selectUnnamedIds(db: Db, page: { afterId: bigint | undefined; limit: number }): Promise<bigint[]> {
  const after = page.afterId === undefined ? '' : 'and id > $2';
  const { rows } = await db.query<{ id: bigint }>({
    text: `select id from categories where name is null ${after} order by id limit $1`,
    values: page.afterId === undefined ? [page.limit] : [page.limit, page.afterId],
  });
  return rows.map(({ id }) => id);
}

/** Deletes those of the categories that have neither a name nor an animal; removed animals count too. Returns how many. */
export async function deleteUnusedCategories(tx: Transaction, ids: readonly bigint[]): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'delete-unused-categories',
    text: `delete from categories where id = any($1::bigint[]) and name is null
      and not exists (select from pets where category_id = categories.id)`,
    values: [ids],
  });
  return rowCount ?? 0;
}
