import { theService } from '../../domain/actor.ts';
import type { Transactor } from '../../platform/db/handles.ts';

const animalsAtOnceMax = 25;

/**
 * Makes the rows of animals again that were described before listings had colors, in a transaction. Returns how many animals it has
 * looked at; 0: none are left, or another worker does it.
 */
export async function refillListings(db: Transactor): Promise<number> {
  return db.transaction(async (tx) => {
    const { rows } = await tx.query<{ count: number }>({
      name: 'refill-listings',
      text: 'select refill_listings($1) as count',
      values: [animalsAtOnceMax],
    });
    return rows[0]?.count ?? 0;
  }, theService);
}
