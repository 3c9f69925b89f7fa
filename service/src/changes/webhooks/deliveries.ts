import { wantsAll } from '../../domain/event-types.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { int64Min } from '../../platform/db/int64.ts';
import { AppError, type ErrorCode, show } from '../../platform/errors.ts';
import {
  countedEventsMax,
  countSubscribedEvents,
  type EventRow,
  findPositions,
  readSubscribed,
  rotatePartitionsOf,
} from '../events/events.ts';
import {
  deleteOldDeliveries,
  endStoppedReplay,
  findReading,
  insertReplay,
  insertTest,
  makeDueNow,
  replayDelivered,
  replayFailed,
  replayRow,
  selectAttempts,
  selectDecided,
  selectDelivered,
  selectRows,
} from './delivery-queries.ts';
import { parseRanges, rangesWithout, subscriptionOf } from './subscriptions.ts';
import { notifyWorker, type Owner } from './webhook-queries.ts';
import type { Delivery, DeliveryAttempt, DeliveryStatus, ReplayRequest } from './webhook-schemas.ts';
import { getEnabled, getWebhook } from './webhooks.ts';

const replayMax = 10_000;
const retentionDays = 30;
const attemptsShownMax = 100;
/** Events that are read for a page of queued deliveries: at once, and how often. Most of them may be sent already. */
const queuedReadSize = 500;
const queuedReadsMax = 100;
/** The same for an endpoint with filters: no index leads to its events, so that each read looks through as many as a page of the feed. */
const queuedFilteredReadsMax = 1;

interface Page {
  readonly afterId: bigint | undefined;
  /** The last id that is looked for. */
  readonly toId?: bigint;
  readonly limit: number;
}

/** The errors of the operations, for the documents. */
export const deliveryErrors = {
  list: ['webhook_not_found'],
  get: ['webhook_not_found', 'delivery_not_found'],
  test: ['webhook_not_found', 'webhook_disabled'],
  replay: ['webhook_not_found', 'delivery_not_found', 'webhook_disabled', 'replay_in_progress'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/**
 * A page of the deliveries of an endpoint, by id. There are three kinds: those with a row, those that were delivered and have none,
 * and events that are queued after the endpoint's cursor and have neither.
 */
export async function listDeliveries(db: Db, webhookId: bigint, status: DeliveryStatus | undefined, page: Page): Promise<Delivery[]> {
  // Queued ones are read first: one that is sent meanwhile is then found among the others.
  const queued = !status || status === 'pending' ? await readQueued(db, webhookId, page) : [];
  const rows = await selectRows(db, webhookId, status, page);
  const delivered = !status || status === 'delivered' ? await selectDelivered(db, webhookId, page) : [];
  const byId = new Map([...queued, ...delivered, ...rows].map((delivery) => [delivery.id, delivery]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, page.limit);
}

export async function getDelivery(
  db: Db,
  owner: Owner,
  webhookId: bigint,
  id: bigint,
): Promise<Delivery & { attempts: DeliveryAttempt[] }> {
  await getWebhook(db, owner, webhookId);
  const delivery = await findDelivery(db, webhookId, id);
  if (!delivery) throw deliveryNotFound(String(id));
  return { ...delivery, attempts: await selectAttempts(db, webhookId, id, attemptsShownMax) };
}

async function findDelivery(db: Db, webhookId: bigint, id: bigint): Promise<Delivery | undefined> {
  // No id is before it.
  if (id === int64Min) return undefined;
  const [first] = await listDeliveries(db, webhookId, undefined, { afterId: id - 1n, toId: id, limit: 1 });
  return first?.id === id ? first : undefined;
}

/** Events after the endpoint's cursor that are not sent yet. */
async function readQueued(db: Db, webhookId: bigint, { afterId = 0n, toId, limit }: Page): Promise<Delivery[]> {
  const reading = await findReading(db, webhookId);
  if (!reading) return [];
  const subscription = subscriptionOf(reading);
  const whole = {
    after: afterId > reading.position ? afterId : reading.position,
    upTo: toId !== undefined && toId < reading.upTo ? toId : reading.upTo,
  };
  const queued: EventRow[] = [];
  const readsMax = wantsAll(subscription.interests) ? queuedReadsMax : queuedFilteredReadsMax;
  let reads = 0;
  for (const range of rangesWithout(whole, parseRanges(reading.skipped))) {
    for (let { after } = range; after < range.upTo && queued.length < limit && reads < readsMax; reads += 1) {
      const { events, to } = await readSubscribed(db, subscription, { after, upTo: range.upTo, limit: queuedReadSize });
      const positions = events.map(({ position }) => position);
      const decided = events.length > 0 ? await selectDecided(db, webhookId, positions) : new Set();
      queued.push(...events.filter(({ position }) => !decided.has(position)));
      after = to;
    }
  }
  return queued.slice(0, limit).map(({ position, type, publishedAt }) => ({
    id: position,
    eventId: `evt_${position}`,
    type,
    status: 'pending',
    attemptCount: 0n,
    createdAt: publishedAt,
    nextAttemptAt: publishedAt,
    deliveredAt: null,
  }));
}

/** Queues one test delivery to this endpoint only. */
export async function testWebhook(tx: Transaction, owner: Owner, id: bigint): Promise<Delivery> {
  await getEnabled(tx, owner, id);
  const delivery = await insertTest(tx, id);
  await notifyWorker(tx, id);
  return delivery;
}

/** Queues deliveries again, and makes waiting deliveries due now. Returns how many were queued. */
export async function replay(tx: Transaction, owner: Owner, webhookId: bigint, input: ReplayRequest): Promise<number> {
  await getEnabled(tx, owner, webhookId);
  const count = await queueAgain(tx, webhookId, input);
  await makeDueNow(tx, webhookId, replayMax);
  await notifyWorker(tx, webhookId);
  return count;
}

async function queueAgain(tx: Transaction, webhookId: bigint, { deliveryId, failed, from, to }: ReplayRequest): Promise<number> {
  if (failed) return replayFailed(tx, webhookId, replayMax);
  if (deliveryId === undefined) return replayPeriod(tx, webhookId, readTime('from', from), readTime('to', to));
  const delivery = await findDelivery(tx, webhookId, deliveryId);
  if (!delivery) throw deliveryNotFound(String(deliveryId));
  // An event that is still queued is sent anyway.
  return (await replayRow(tx, webhookId, deliveryId)) || (delivery.status === 'pending' ? 1 : replayDelivered(tx, webhookId, deliveryId));
}

/** The worker reads the events of the period and sends them. Here they are only counted. */
async function replayPeriod(tx: Transaction, webhookId: bigint, from: Date, to: Date): Promise<number> {
  const range = await findPositions(tx, from, to);
  const reading = await findReading(tx, webhookId);
  if (!range || !reading) return 0;
  const count = await countSubscribedEvents(tx, subscriptionOf(reading), { ...range, limit: replayMax + 1 });
  if (count === undefined || count > replayMax) {
    const what =
      count === undefined
        ? `more than ${countedEventsMax} events between from and to, of all shelters and categories, which is too many to look through`
        : `more than ${replayMax} events between from and to`;
    throw new AppError('invalid_body', `There are ${what}. Replay a shorter time range.`);
  }
  if (count === 0) return 0;
  await endStoppedReplay(tx, reading.clientId);
  const inProgress = await insertReplay(tx, { webhookId, clientId: reading.clientId, ...range });
  if (inProgress === undefined) return count;
  throw new AppError('replay_in_progress', `A replay for endpoint ${inProgress} is still in progress. Start the next one when it is done.`);
}

export const sweepDeliveries = (db: Writer, batchSizeMax: number) => deleteOldDeliveries(db, retentionDays, batchSizeMax);

/** Creates the partitions of the coming days, and drops old ones. Returns how many it dropped. */
export const rotateAttemptPartitions = (db: Writer): Promise<number> => rotatePartitionsOf(db, 'attempt', retentionDays);

export const deliveryNotFound = (id: string) =>
  new AppError('delivery_not_found', `This endpoint has no delivery with id ${id.slice(0, 40)}.`);

function readTime(name: string, text: string | undefined): Date {
  const time = new Date(text ?? '');
  if (text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(time.getTime()))
    return time;
  throw new AppError('invalid_body', `${name} must be a time such as 2026-11-15T10:00:00Z; got ${show(text)}.`);
}
