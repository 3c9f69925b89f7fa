// What the worker's other jobs take while the mail server hangs.
import { setTimeout as sleep } from 'node:timers/promises';
import { queryStore } from '../../testkit/adopters.ts';
import type { MailServer } from '../../testkit/mail-server.ts';
import { connectTo } from '../../testkit/postgres.ts';
import type { Store } from '../../testkit/store.ts';
import { until } from '../../testkit/until.ts';
import type { Claim } from '../proof.ts';

const pauseMs = 20;
const shareMax = 0.2;
const senders = 4;

/** The time from an event to its publication, which is a job of the same process. */
export async function otherJobsBesideHanging(
  store: Store,
  server: MailServer,
  { samples, progress }: { samples: number; progress: (text: string) => void },
): Promise<Claim> {
  const worker = store.work();
  await publishOne(store);
  const idleMs = await measure(store, samples);
  let hanging = 0;
  server.behaviour = {
    recipient: () => {
      hanging += 1;
      return 'hang';
    },
  };
  await queryStore(store, 'delete from mail');
  await queueDeclined(store);
  await until('every sender waits for the server', () => hanging >= senders);
  const hangingMs = await measure(store, samples);
  progress(`events published after ${idleMs.toFixed(0)} ms, ${hangingMs.toFixed(0)} ms while the mail server hangs`);
  await store.stopWorker(worker);
  return {
    claim: `While the mail server hangs, the time until the same worker publishes an event, of ${samples} each`,
    bar: `at most ${100 * shareMax}% more`,
    figure: `${hangingMs.toFixed(1)} ms in place of ${idleMs.toFixed(1)} ms`,
    holds: hangingMs <= idleMs * (1 + shareMax),
    isTimed: true,
  };
}

export const queueDeclined = (store: Store): Promise<unknown> =>
  queryStore(
    store,
    `insert into mail (kind, subject_id, is_single, due_at, waiting_since)
      select 'declined', id, false, now(), now() from applications where adopter_email is not null order by id`,
  );

async function publishOne(store: Store): Promise<void> {
  const from = await lastPosition(store);
  await queryStore(store, addEventText);
  await until('the worker publishes', async () => (await lastPosition(store)) > from);
}

async function measure(store: Store, samples: number): Promise<number> {
  const from = await lastPosition(store);
  await using database = await connectTo(store.postgres.url);
  for (let i = 0; i < samples; i += 1) {
    await database.query(addEventText);
    await sleep(pauseMs);
  }
  await until('all are published', async () => (await lastPosition(store)) >= from + samples);
  const [row] = await queryStore<{ ms: number }>(
    store,
    'select avg(extract(epoch from published_at - at) * 1000)::float8 as ms from events where position > $1',
    [from],
  );
  return row?.ms ?? Number.NaN;
}

const addEventText = `insert into outbox (type, pet_id, data) select 'pet.updated', min(id), '{}' from pets`;

async function lastPosition(store: Store): Promise<number> {
  const [row] = await queryStore<{ last: number }>(store, 'select last_position::int as last from feed');
  return row?.last ?? 0;
}
