// Endpoints that fail: for one animal, or as a whole.

import { describe, expect, test } from 'vitest';
import { theService } from '../../../src/domain/actor.ts';
import { poll } from '../../poll.ts';
import { webhookBench } from '../../webhook-bench.ts';
import { type Reply, WebhookReceiver } from '../../webhook-receiver.ts';
import { feedEnd, hurry, namesOf, notify, passTime, publishNames } from '../../webhook-steps.ts';

const bench = await webhookBench();

const rowsOf = (id: number) =>
  bench.store.write<{ delivery: bigint; attempts: bigint; retries: bigint; next: Date | number }>(
    `select delivery_id as delivery, attempt_count as attempts, retry_count as retries, next_attempt_at as next
      from delivery_exceptions where webhook_id = $1 order by delivery_id`,
    id,
  );

const publish = (...names: string[]) => publishNames(bench.store, ...names);
const many = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}${i}`);

/** Waits until the worker has done another round, in which it would have sent whatever it may send. */
async function anotherRound(): Promise<void> {
  await using other = await WebhookReceiver.open();
  for (let rounds = 1; rounds <= 2; rounds += 1) {
    const { id } = await bench.endpoint({ url: other.url, types: ['pet.removed'] });
    await bench.call('POST', `/${id}/test`);
    await other.has(rounds);
  }
}

/** Puts all retries off for hours. */
async function putOff(id: number): Promise<void> {
  await bench.store.write(
    `update delivery_exceptions set next_attempt_at = now() + interval '2 hours' where webhook_id = $1 and next_attempt_at < 'infinity'`,
    id,
  );
  await notify(bench.store, id);
}

/** An endpoint that fails, with 2 events each of 20 animals. */
async function failingEndpoint(): Promise<{ id: number; requests: number; firstDelivery: number }> {
  bench.receiver.respond = () => ({ status: 503 });
  const { id } = await bench.endpoint();
  const firstDelivery = (await feedEnd(bench.store)) + 1;
  await publish(...many(20, 'a').flatMap((animal) => [`${animal} 1`, `${animal} 2`]));
  await bench.receiver.has(3);
  await poll(() => rowsOf(id)).until((rows) => rows.filter(({ attempts }) => attempts > 0n).length === bench.receiver.received.length);
  await putOff(id);
  await anotherRound();
  return { id, requests: bench.receiver.received.length, firstDelivery };
}

describe('An event that fails', () => {
  test('is overtaken by none of its animal, however many wait', async () => {
    bench.receiver.respond = () => ({ status: 500 });
    const { id } = await bench.endpoint();
    await publish(...Array.from({ length: 80 }, (_, i) => `a ${i}`));
    await poll(() => rowsOf(id)).until((rows) => rows.length === 80);
    expect(namesOf(bench.receiver)).toEqual(['a 0']);
  });

  test('holds back the events of its animal in rows, while those of others are delivered', async () => {
    bench.receiver.respond = ({ json }) => ({ status: json.data.pet?.name.startsWith('poison') ? 500 : 204 });
    const { id } = await bench.endpoint();
    await publish('poison 1', 'a 1', 'poison 2', 'b 1', 'poison 3', 'a 2');
    await poll(() => rowsOf(id)).until((rows) => rows.length === 3 && rows[0]?.attempts === 1n);
    const deliveries = await bench.hasStatuses(id, 'pending', 'delivered', 'pending', 'delivered', 'pending', 'delivered');
    expect(deliveries.filter(({ status }) => status === 'pending')).toMatchObject([
      { attemptCount: 1, nextAttemptAt: expect.any(String) },
      { attemptCount: 0, nextAttemptAt: null },
      { attemptCount: 0, nextAttemptAt: null },
    ]);
    await bench.restartWorker();
    await hurry(bench.store, id);
    await poll(() => rowsOf(id)).until(([first]) => first?.attempts === 2n);
    bench.receiver.respond = () => ({ status: 204 });
    await hurry(bench.store, id);
    await bench.hasDelivered(id, 6);
    const poison = namesOf(bench.receiver).filter((name) => name.startsWith('poison'));
    expect(poison).toEqual(['poison 1', 'poison 1', 'poison 1', 'poison 2', 'poison 3']);
    expect(await rowsOf(id)).toEqual([]);
  });

  test('of many animals leaves an endpoint alone that accepts the others', async () => {
    bench.receiver.respond = ({ json }) => ({ status: json.data.pet?.name.startsWith('poison') ? 500 : 204 });
    const { id } = await bench.endpoint();
    for (let round = 1; round <= 5; round += 1) {
      await publish(`poison${round}`);
      await poll(() => rowsOf(id)).until((rows) => rows.filter(({ attempts }) => attempts > 0n).length >= round);
      await publish(`a${round}`);
      await bench.names(2 * round);
    }
    expect(namesOf(bench.receiver).filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
    // Nor does another worker take it for one that fails.
    await publish('poison6');
    await poll(() => rowsOf(id)).until((rows) => rows.length === 6);
    await putOff(id);
    await bench.restartWorker();
    await publish('a6');
    expect((await bench.names(12)).at(-1)).toBe('a6');
  });
});

describe('An endpoint that rejects the events of 3 animals', () => {
  test('gets those of others, also while nothing but retries is sent', async () => {
    bench.receiver.respond = ({ json }) => ({ status: json.data.pet?.name.startsWith('poison') ? 500 : 204 });
    const { id } = await bench.endpoint();
    for (const round of [1, 2, 3]) {
      await publish(`poison${round}`, `a${round}`);
      await bench.names(2 * round);
    }
    const attempts = (expected: string) => poll(() => rowsOf(id)).until((rows) => rows.map((row) => row.attempts).join() === expected);
    await attempts('1,1,1');
    await hurry(bench.store, id);
    await attempts('2,2,2');
    await publish('b');
    expect((await bench.names(10)).at(-1)).toBe('b');
  });
});

describe('An endpoint at which events of 3 animals failed', () => {
  test('gets only its oldest event, while the others wait without rows', async () => {
    const { id, requests, firstDelivery } = await failingEndpoint();
    expect(requests).toBeLessThanOrEqual(6);
    expect((await rowsOf(id)).length).toBeLessThanOrEqual(2 * requests);
    expect(await bench.deliveries(id)).toMatchObject(Array.from({ length: 40 }, () => ({ status: 'pending' })));
    await publish('later');
    await anotherRound();
    expect(bench.receiver.received).toHaveLength(requests);
    for (const attempts of [2n, 3n]) {
      const { promise, resolve } = Promise.withResolvers<Reply>();
      bench.receiver.respond = () => promise;
      await hurry(bench.store, id);
      await bench.receiver.has(requests + Number(attempts) - 1);
      // It takes a while to respond.
      passTime(500);
      await anotherRound();
      resolve({ status: 503 });
      await poll(() => rowsOf(id)).until(([oldest]) => oldest?.attempts === attempts);
      await anotherRound();
    }
    expect(bench.receiver.received.slice(requests).map(({ json }) => json.id)).toEqual([`evt_${firstDelivery}`, `evt_${firstDelivery}`]);
    expect((await bench.webhook(id)).failingSince).not.toBeNull();
  });

  test('is tried every 5 minutes, without using up the retry schedule', async () => {
    const { id, requests, firstDelivery } = await failingEndpoint();
    const [before] = await rowsOf(id);
    passTime(301_000);
    await poll(() => rowsOf(id)).until(([oldest]) => oldest?.attempts === 2n);
    await anotherRound();
    expect(bench.receiver.received.slice(requests).map(({ json }) => json.id)).toEqual([`evt_${firstDelivery}`]);
    expect((await rowsOf(id))[0]).toEqual({ ...before, attempts: 2n });
  });

  test('gets everything in order by animal once it accepts one, also under another worker', async () => {
    const { id, requests } = await failingEndpoint();
    await bench.restartWorker();
    await publish('later');
    await anotherRound();
    expect(bench.receiver.received).toHaveLength(requests);
    bench.receiver.respond = () => ({ status: 204 });
    passTime(301_000);
    await bench.hasDelivered(id, 41);
    const accepted = namesOf(bench.receiver).slice(requests);
    for (const animal of many(20, 'a')) {
      expect(accepted.filter((name) => name.startsWith(`${animal} `))).toEqual([`${animal} 1`, `${animal} 2`]);
    }
    expect(accepted).toHaveLength(41);
    expect((await bench.webhook(id)).failingSince).toBeNull();
    expect(await rowsOf(id)).toEqual([]);
  });

  test('and that is disabled and enabled is tried again with everything', async () => {
    const { id, requests } = await failingEndpoint();
    await bench.setStatus(id, 'disabled');
    await bench.setStatus(id, 'enabled');
    bench.receiver.respond = () => ({ status: 204 });
    await bench.hasDelivered(id, 40);
    expect(namesOf(bench.receiver)).toHaveLength(requests + 40);
  });

  test('for 5 days is disabled', async () => {
    const { id } = await failingEndpoint();
    await bench.store.write(`update webhooks set failing_since = now() - interval '5 days 1 minute' where id = $1`, id);
    await hurry(bench.store, id);
    const webhook = await poll(() => bench.webhook(id)).until(({ status }) => status === 'disabled');
    expect(webhook.disabledReason).toBe('No delivery succeeded for 5 days.');
  });
});

describe('failingSince', () => {
  test('is null after the next success, also if the endpoint was being changed at the first one', async () => {
    bench.receiver.respond = () => ({ status: 503 });
    const { id } = await bench.endpoint();
    await publish('a');
    await poll(() => bench.webhook(id)).until(({ failingSince }) => failingSince !== null);
    bench.receiver.respond = () => ({ status: 204 });
    await putOff(id);
    await bench.store.dependencies.db.transaction(async (tx) => {
      await tx.query({ text: 'select from webhooks where id = $1 for no key update', values: [id] });
      await publish('b');
      await bench.hasStatuses(id, 'pending', 'delivered');
    }, theService);
    await publish('c');
    await bench.hasStatuses(id, 'pending', 'delivered', 'delivered');
    expect((await bench.webhook(id)).failingSince).toBeNull();
  });
});

describe('An endpoint that is too far behind', () => {
  const isDisabled = (id: number) => poll(() => bench.webhook(id)).until(({ status }) => status === 'disabled');

  test('with more than 10,000 events behind failed ones is disabled', async () => {
    bench.receiver.respond = () => ({ status: 503 });
    const { id } = await bench.endpoint();
    await publish('a 1');
    await poll(() => rowsOf(id)).until((rows) => rows.length === 1);
    const insert = (count: number, isReplay: boolean, from: number) =>
      bench.store.write(
        `insert into delivery_exceptions (webhook_id, delivery_id, pet_id, is_replay, next_attempt_at)
          select webhook_id, $4 + n, pet_id, $3, 'infinity' from delivery_exceptions, generate_series(1, $2) as n
            where webhook_id = $1 and attempt_count = 1`,
        id,
        count,
        isReplay,
        from,
      );
    await insert(9_999, false, 1_000_000);
    await insert(10_001, true, 2_000_000);
    await notify(bench.store, id);
    await anotherRound();
    expect((await bench.webhook(id)).status).toBe('enabled');
    await insert(1, false, 3_000_000);
    await notify(bench.store, id);
    expect((await isDisabled(id)).disabledReason).toBe(
      'too_far_behind: more than 10,000 events waited behind failed deliveries of the same animals.',
    );
    expect(bench.work?.disabled.map(({ reason }) => reason).at(-1)).toContain('too_far_behind');
  });

  /** Publishes an event, and makes it 8 days old. */
  async function publishOld(name: string): Promise<number> {
    const position = await publish(name);
    const day = new Date(Date.now() - 8 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
    await bench.store.asOwner(
      `create table if not exists events_${day} partition of events for values from (now()::date - 9) to (now()::date - 7)`.replace(
        /now\(\)::date - (\d)/g,
        (_, days: string) => `'${new Date(Date.now() - Number(days) * 86_400_000).toISOString().slice(0, 10)}Z'`,
      ),
    );
    await bench.store.asOwner(`update events set published_at = published_at - interval '8 days' where position = $1`, position);
    return position;
  }

  /** Another worker continues, at the end of the feed: who is behind reads pages. */
  async function continueAtEnd(): Promise<void> {
    await bench.store.write('update webhook_shards set position = last_position from feed');
    bench.startWorker();
  }

  test('with an event of more than 7 days ago is disabled', async () => {
    await bench.stopWorker();
    const { id } = await bench.endpoint();
    await publishOld('old');
    await continueAtEnd();
    expect((await isDisabled(id)).disabledReason).toBe('too_far_behind: an event waited for more than 7 days.');
    expect(namesOf(bench.receiver)).toEqual([]);
  });

  test('only because of what was queued before a pause gets it', async () => {
    await bench.stopWorker();
    const { id } = await bench.endpoint();
    await publishOld('old');
    await bench.setStatus(id, 'disabled');
    await publish('missed');
    await bench.setStatus(id, 'enabled');
    await publish('new');
    await continueAtEnd();
    await bench.hasDelivered(id, 2);
    expect(namesOf(bench.receiver).sort()).toEqual(['new', 'old']);
  });
});

test('Changing an endpoint does not wait for results that are just being stored', async () => {
  bench.receiver.respond = () => ({ status: 503 });
  const { id } = await bench.endpoint();
  await publish('a', 'b');
  await poll(() => rowsOf(id)).until((rows) => rows.filter(({ attempts }) => attempts === 1n).length === 2);
  const { status } = await bench.store.dependencies.db.transaction(async (tx) => {
    await tx.query({ text: 'select from delivery_exceptions where webhook_id = $1 limit 1 for update', values: [id] });
    return bench.call('PATCH', `/${id}`, { status: 'enabled' });
  }, theService);
  expect(status).toBe(200);
});
