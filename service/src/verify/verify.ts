import type { Db, Snapshotter } from '../db/handles.ts';
import { Replay } from './replay.ts';
import { type HistoryRow, readLastPetId, selectHistory, selectOrderStates, selectPetStates } from './verify-queries.ts';

export interface Verification {
  readonly animals: number;
  readonly orders: number;
  readonly rows: number;
  /** The first violation; undefined if there is none. */
  readonly violation: string | undefined;
}

const petsPerRange = 1_000;
const rowsPerQuery = 10_000;

/**
 * Replays the whole history in one snapshot. Checks that no animal ever had two open orders at once, that every transition was
 * legal, and that the current state matches the history.
 */
export async function verifyHistory(db: Snapshotter, progress: (done: number, of: number) => void): Promise<Verification> {
  return db.snapshot(async (tx) => {
    const lastPetId = await readLastPetId(tx);
    const seen = { animals: 0, orders: 0, rows: 0 };
    let afterPetId = 0n;
    for (;;) {
      const pets = await selectPetStates(tx, afterPetId, petsPerRange);
      const last = pets.at(-1);
      if (!last) return { ...seen, violation: undefined };
      const orders = await selectOrderStates(tx, afterPetId, last.id);
      const replays = new Map(pets.map(({ id }) => [id, new Replay(id)]));
      for await (const row of historyOf(tx, afterPetId, last.id)) {
        seen.rows += 1;
        const violation = replays.get(row.petId)?.apply(row);
        if (violation) return { ...seen, violation };
      }
      const ordersByPet = Map.groupBy(orders, ({ petId }) => petId);
      for (const { id, status } of pets) {
        const violation = replays.get(id)?.compare(status, ordersByPet.get(id) ?? []);
        if (violation) return { ...seen, violation };
      }
      seen.animals += pets.length;
      seen.orders += orders.length;
      afterPetId = last.id;
      progress(Number(afterPetId), Number(lastPetId));
    }
  });
}

/** Reads the history in batches, so that memory is bounded however long it is. */
async function* historyOf(tx: Db, afterPetId: bigint, lastPetId: bigint): AsyncGenerator<HistoryRow> {
  let after = { petId: afterPetId + 1n, id: 0n };
  for (;;) {
    const rows = await selectHistory(tx, after, lastPetId, rowsPerQuery);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < rowsPerQuery) return;
    after = last;
  }
}
