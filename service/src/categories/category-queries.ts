import type { Db } from '../db/pool.ts';
import type { Category } from './category-schemas.ts';

interface Row {
  readonly id: bigint;
  readonly name: string | null;
}

const asCategory = ({ id, name }: Row): Category => (name === null ? { id } : { id, name });

/** One keyset page, by id. */
export async function selectCategories(db: Db, page: { afterId: bigint | undefined; limit: number }): Promise<Category[]> {
  const { rows } = await db.query<Row>({
    name: 'categories',
    text: 'select id, name from categories where ($1::bigint is null or id > $1) order by id limit $2',
    values: [page.afterId ?? null, page.limit],
  });
  return rows.map(asCategory);
}

/** Names a category, and makes it where it doesn't exist: ids are the store's to choose. */
export async function upsertCategory(db: Db, id: bigint, name: string): Promise<{ category: Category; created: boolean }> {
  const { rows } = await db.query<Row & { created: boolean }>({
    name: 'upsert-category',
    text: `insert into categories (id, name) values ($1, $2) on conflict (id) do update set name = excluded.name
      returning id, name, xmax = 0 as created`,
    values: [id, name],
  });
  const [row] = rows;
  if (!row) throw new Error('an upsert returned no row');
  return { category: asCategory(row), created: row.created };
}
