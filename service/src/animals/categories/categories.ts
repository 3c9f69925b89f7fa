import { type Acting, theService } from '../../domain/actor.ts';
import type { Transaction, Transactor } from '../../platform/db/handles.ts';
import { violates } from '../../platform/db/pool.ts';
import { AppError, type ErrorCode, show } from '../../platform/errors.ts';
import {
  deleteUnusedCategories,
  findCategory,
  findRegistrations,
  insertCategory,
  insertCountedCategory,
  selectNamedCategories,
  selectUnnamedIds,
  upsertCategory,
} from './category-queries.ts';
import type { Category } from './category-schemas.ts';

/** The foreign key from an animal to its category. */
export const petsCategoryConstraint = 'pets_category_id_fkey';

/** The client whose registrations are counted, and how many it may make in a UTC day. */
export interface Registrant {
  readonly clientId: bigint;
  readonly perDayMax: number;
}

/**
 * Creates the category of an animal that this transaction adds, if it does not exist. Without a registrant nothing is counted: staff
 * may register any number. Must not run on a pipelined connection, since it waits for a transaction that registers the same category.
 */
export async function registerCategory(tx: Transaction, id: bigint, registrant: Registrant | undefined): Promise<void> {
  if (!registrant) return insertCategory(tx, id);
  const { clientId, perDayMax } = registrant;
  // Read without a lock first, so that a client at its limit does not wait for its own transactions.
  const { exists, registeredToday } = await findRegistrations(tx, id, clientId);
  if (exists) return undefined;
  if (registeredToday < perDayMax) {
    const { inserted, counted } = await insertCountedCategory(tx, id, registrant);
    if (!inserted || counted) return undefined;
  }
  const { registeredToday: registered } = await findRegistrations(tx, id, clientId);
  throw new AppError(
    'category_limit',
    `Category ${id} does not exist, and this client has registered ${registered} of ${perDayMax} new categories today (UTC). Use an existing category (GET /v1/categories), wait until midnight UTC, or ask the store's staff to add it.`,
  );
}

/**
 * Names a category, and creates it if it does not exist. In a transaction, since it may wait for another that registers the same
 * category.
 */
export async function nameCategory(
  db: Transactor,
  id: bigint,
  name: string,
  by: Acting,
): Promise<{ category: Category; created: boolean }> {
  return db.transaction((tx) => upsertCategory(tx, id, name), by);
}

/** The categories with a name, of so many at most, by id. */
export const readNamedCategories = selectNamedCategories;

/** The errors of the operations, for the documents. */
export const categoryErrors = {
  remove: ['category_unknown', 'category_in_use'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** Removes a category that has neither a name nor an animal. */
export async function removeCategory(db: Transactor, id: bigint, by: Acting): Promise<void> {
  const removed = await db
    .transaction((tx) => deleteUnusedCategories(tx, [id]), by)
    .catch((error: unknown) => {
      // An animal was committed after the statement had checked for animals.
      if (violates(error, petsCategoryConstraint)) return 0;
      throw error;
    });
  if (removed === 1) return;
  const category = await findCategory(db, id);
  if (!category) throw categoryUnknown(String(id));
  const why = category.name === undefined ? 'contains an animal (removed animals count too)' : `is named ${show(category.name)}`;
  throw new AppError('category_in_use', `Category ${id} ${why}. Only a category without a name and without animals can be removed.`);
}

export const categoryUnknown = (id: string) => new AppError('category_unknown', `There is no category with id ${id.slice(0, 40)}.`);

const pruneBatchSize = 1_000;
const pruneAttemptsMax = 5;

/** Removes every category that has neither a name nor an animal. Returns how many. */
export async function pruneCategories(db: Transactor): Promise<number> {
  let pruned = 0;
  for (let afterId: bigint | undefined; ; ) {
    const ids = await selectUnnamedIds(db, { afterId, limit: pruneBatchSize });
    if (ids.length === 0) return pruned;
    pruned += await pruneBatch(db, ids);
    afterId = ids.at(-1);
  }
}

async function pruneBatch(db: Transactor, ids: readonly bigint[]): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction((tx) => deleteUnusedCategories(tx, ids), theService);
    } catch (error) {
      // An animal was committed after the statement had checked for animals. The next attempt sees it.
      if (!violates(error, petsCategoryConstraint) || attempt === pruneAttemptsMax) throw error;
    }
  }
}
