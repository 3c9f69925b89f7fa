// Deliveries and removed endpoints are deleted after 30 days.

import { describe, expect, test } from 'vitest';
import { sweepDeliveries } from '../../../src/changes/webhooks/deliveries.ts';
import { poll } from '../../poll.ts';
import { webhookBench } from '../../webhook-bench.ts';
import { addAnimals, namesOf, publishChanges } from '../../webhook-steps.ts';

const bench = await webhookBench();
const sweep = (batchSizeMax = 100) => sweepDeliveries(bench.store.dependencies.db, batchSizeMax);
const rowsOf = (id: number) =>
  bench.store.write<{ delivery: bigint }>('select delivery_id as delivery from delivery_exceptions where webhook_id = $1 order by 1', id);

/** Makes a row old. */
const age = (id: number, delivery: number, days: number) =>
  bench.store.write(
    `update delivery_exceptions set created_at = now() - make_interval(days => $3) where webhook_id = $1 and delivery_id = $2`,
    id,
    delivery,
    days,
  );

async function publish(petId: number, ...names: string[]): Promise<number> {
  return publishChanges(
    bench.store,
    names.map((name) => ({ petId, name })),
  );
}

describe('The sweep', () => {
  test('deletes deliveries of more than 30 days ago, the oldest first, in batches', async () => {
    bench.receiver.respond = () => ({ status: 500 });
    const { id } = await bench.endpoint();
    const [petId = 0] = await addAnimals(bench.store, 1);
    const last = await publish(petId, '1', '2', '3', '4');
    await poll(() => rowsOf(id)).until((rows) => rows.length === 4);
    await age(id, last - 3, 29);
    await age(id, last - 2, 31);
    await age(id, last - 1, 32);
    expect(await sweep(1)).toBe(1);
    expect((await rowsOf(id)).map(({ delivery }) => Number(delivery))).toEqual([last - 3, last - 2, last]);
    expect([await sweep(), await sweep()]).toEqual([1, 0]);
    expect((await rowsOf(id)).map(({ delivery }) => Number(delivery))).toEqual([last - 3, last]);
  });

  test('lets events follow that waited behind a deleted one of their animal', async () => {
    bench.receiver.respond = () => ({ status: 500 });
    const { id } = await bench.endpoint();
    const [petId = 0] = await addAnimals(bench.store, 1);
    const last = await publish(petId, '1', '2', '3');
    await poll(() => rowsOf(id)).until((rows) => rows.length === 3);
    await age(id, last - 2, 32);
    await age(id, last - 1, 31);
    bench.receiver.respond = () => ({ status: 204 });
    expect(await sweep()).toBe(2);
    await publish(petId, '4');
    await bench.names(3);
    expect(namesOf(bench.receiver)).toEqual(['1', '3', '4']);
  });

  test('deletes endpoints that were removed more than 30 days ago, with what is left of them', async () => {
    const [old, young] = [await bench.endpoint(), await bench.endpoint()];
    for (const { id } of [old, young]) {
      await bench.call('POST', `/${id}/test`);
      await bench.hasDelivered(id, 1);
      await bench.call('DELETE', `/${id}`);
    }
    await bench.store.write(`update webhooks set removed_at = now() - interval '31 days' where id = $1`, old.id);
    await sweep();
    expect(await bench.store.write('select from webhooks where id = any($1::bigint[])', [old.id, young.id])).toHaveLength(1);
    expect([await rowsOf(old.id), await rowsOf(young.id)]).toMatchObject([[], [{}]]);
  });
});
