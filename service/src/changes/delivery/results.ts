import { theService } from '../../domain/actor.ts';
import type { ServiceDb, Transaction } from '../../platform/db/handles.ts';
import type { EventRow } from '../events/events.ts';
import type { Item } from './endpoint.ts';
import { type DisabledWebhook, disableEndpoints } from './endpoint-queries.ts';
import {
  type Attempt,
  deleteRows,
  type FailedRow,
  finishTests,
  holdRows,
  insertAttempts,
  insertFailed,
  insertHeld,
  lockOwnShards,
  type NewRow,
  retryNow,
  updateHealth,
  updateRows,
  verifyEndpoints,
  wakeNext,
} from './result-queries.ts';
import type { Exchange } from './safe-sender.ts';

/** What became of an item. */
export interface DeliveryResult {
  readonly item: Item;
  /**
   * - delivered: the response was 2xx.
   * - failed: it was not, or there was none.
   * - held: an earlier event of the animal is not delivered; `behind` are later ones, which wait too.
   * - skipped: the endpoint may not get it, so its row is deleted.
   * - gone: the feed no longer has the event of the row.
   */
  readonly outcome: 'delivered' | 'failed' | 'held' | 'skipped' | 'gone';
  /** Later events of the same animal that wait for this one. */
  readonly behind: readonly EventRow[];
  readonly sent: { readonly url: string; readonly at: Date; readonly exchange: Exchange } | undefined;
  /** The endpoint responds again: everything that waits for its next attempt is due. */
  readonly isRecovery: boolean;
}

interface StoredResults {
  readonly disabled: readonly DisabledWebhook[];
  /** Endpoints to which a test was sent. One that is still unverified needs another: it has another address by now, or is being changed. */
  readonly tested: readonly bigint[];
  /** The endpoints of which it was stored whether they fail. One that is being changed is left out, and stored with its next result. */
  readonly isFailing: ReadonlyMap<bigint, boolean>;
}

const failingDaysMax = 5;
const httpGone = 410;

/** Stores results. Those of deliveries that succeeded at once are one row each; everything else is an exception. */
export async function storeResults(db: ServiceDb, workerId: bigint, results: readonly DeliveryResult[]): Promise<StoredResults> {
  const attempts = results.flatMap(attemptOf);
  if (results.every(isPlain)) {
    await insertAttempts(db, attempts);
    return { disabled: [], tested: [], isFailing: new Map() };
  }
  return db.transaction(async (tx) => {
    if (attempts.length > 0) await insertAttempts(tx, attempts);
    const shards = await lockOwnShards(tx, workerId, [...new Set(results.map(({ item }) => item.endpoint.shard))]);
    const own = results.filter(({ item }) => shards.has(item.endpoint.shard));
    await storeRows(tx, workerId, own);
    return storeHealth(tx, workerId, own);
  }, theService);
}

const isPlain = ({ item, outcome }: DeliveryResult) =>
  outcome === 'delivered' && !item.row && !item.isReplay && !item.endpoint.isMarkedFailing && item.endpoint.settings.isVerified;

async function storeRows(tx: Transaction, workerId: bigint, results: readonly DeliveryResult[]): Promise<void> {
  const finished = results.filter(({ item, outcome }) => (outcome === 'delivered' && item.event) || outcome === 'skipped').map(keyOf);
  const tests = results.filter(({ item, outcome }) => outcome === 'delivered' && !item.event).map(keyOf);
  const failedRows = results.flatMap(failedRowOf);
  const failedEvents = results.flatMap(failedEventOf);
  const held = results.flatMap(heldOf);
  const heldRows = results.filter(({ item, outcome }) => item.row && outcome === 'held').map(keyOf);
  const done = results.flatMap(doneOf);
  const recovered = results.filter(({ isRecovery }) => isRecovery).map(({ item }) => item.endpoint.id);
  if (finished.length > 0) await deleteRows(tx, workerId, finished);
  if (tests.length > 0) await finishTests(tx, workerId, tests);
  if (failedRows.length > 0) await updateRows(tx, workerId, failedRows);
  if (failedEvents.length > 0) await insertFailed(tx, workerId, failedEvents);
  if (held.length > 0) await insertHeld(tx, workerId, held);
  if (heldRows.length > 0) await holdRows(tx, workerId, heldRows);
  if (done.length > 0) await wakeNext(tx, workerId, done);
  if (recovered.length > 0) await retryNow(tx, workerId, recovered);
}

async function storeHealth(tx: Transaction, workerId: bigint, results: readonly DeliveryResult[]): Promise<StoredResults> {
  /** Since when endpoints fail; undefined: they don't. */
  const failingSince = new Map<bigint, Date | undefined>();
  const tested = new Set<bigint>();
  const accepted = new Map<bigint, string>();
  const disabled = new Map<bigint, string>();
  for (const { item, outcome, sent } of results) {
    const { id, settings, isMarkedFailing } = item.endpoint;
    if (outcome === 'delivered' && isMarkedFailing) failingSince.set(id, undefined);
    if (outcome === 'failed' && !failingSince.has(id)) failingSince.set(id, sent?.at);
    const isTest = !item.event && sent !== undefined;
    if (isTest) tested.add(id);
    if (isTest && outcome === 'delivered') accepted.set(id, sent.url);
    if (sent?.exchange.status === httpGone) disabled.set(id, 'The receiver responded with 410.');
    const isLastTest = isTest && outcome === 'failed' && retryDelaySeconds((item.row?.retryCount ?? 0) + 1, 0) === undefined;
    if (isLastTest && !settings.isVerified) disabled.set(id, 'The receiver accepted no test. Enable the endpoint to try again.');
  }
  const health = [...failingSince].map(([id, since]) => ({ id, since }));
  const changed = health.length > 0 ? await updateHealth(tx, workerId, health, failingDaysMax) : [];
  for (const { id, isHopeless } of changed) if (isHopeless) disabled.set(id, `No delivery succeeded for ${failingDaysMax} days.`);
  const urls = [...accepted].map(([id, url]) => ({ id, url }));
  if (urls.length > 0) await verifyEndpoints(tx, workerId, urls);
  return {
    disabled:
      disabled.size > 0
        ? await disableEndpoints(
            tx,
            workerId,
            [...disabled].map(([id, reason]) => ({ id, reason })),
          )
        : [],
    tested: [...tested],
    isFailing: new Map(changed.map(({ id }) => [id, failingSince.get(id) !== undefined])),
  };
}

const keyOf = ({ item }: DeliveryResult) => ({ webhookId: item.endpoint.id, deliveryId: item.deliveryId });

function attemptOf({ item, outcome, sent }: DeliveryResult): Attempt[] {
  if (!sent) return [];
  const { durationMs, status: httpStatus, responseStart, error } = sent.exchange;
  return [
    {
      webhookId: item.endpoint.id,
      deliveryId: item.deliveryId,
      at: sent.at,
      durationMs,
      attempt: (item.row?.attemptCount ?? 0) + 1,
      httpStatus,
      responseStart: outcome === 'delivered' ? undefined : responseStart,
      error,
    },
  ];
}

function failedRowOf(result: DeliveryResult): FailedRow[] {
  const { item, outcome, sent } = result;
  if (!item.row || (outcome !== 'failed' && outcome !== 'gone')) return [];
  const { isScheduled, retryCount } = item.row;
  const isFinal = outcome === 'gone' || sent?.exchange.status === httpGone;
  const delaySeconds = isFinal ? undefined : retryDelaySeconds(retryCount + 1, Math.random());
  return [{ ...keyOf(result), isScheduled: isScheduled || isFinal, delaySeconds }];
}

function failedEventOf({ item, outcome, sent }: DeliveryResult): Array<NewRow & { delaySeconds: number | undefined }> {
  if (!item.event || item.row || outcome !== 'failed') return [];
  const delaySeconds = sent?.exchange.status === httpGone ? undefined : retryDelaySeconds(1, Math.random());
  return [{ ...newRow(item, item.event), delaySeconds }];
}

function heldOf({ item, outcome, behind }: DeliveryResult): NewRow[] {
  const events = outcome === 'held' && item.event && !item.row ? [item.event, ...behind] : behind;
  return events.map((event) => newRow(item, event));
}

/** The animals whose next event may follow. */
function doneOf({ item, outcome, sent }: DeliveryResult): Array<{ webhookId: bigint; petId: bigint; isReplay: boolean }> {
  const petId = item.row?.petId ?? item.event?.petId;
  const isFinal =
    outcome === 'delivered' ||
    outcome === 'skipped' ||
    outcome === 'gone' ||
    (outcome === 'failed' && (sent?.exchange.status === httpGone || retryDelaySeconds((item.row?.retryCount ?? 0) + 1, 0) === undefined));
  return petId !== undefined && isFinal ? [{ webhookId: item.endpoint.id, petId, isReplay: item.isReplay }] : [];
}

const newRow = ({ endpoint, isReplay }: Item, { position, petId, publishedAt }: EventRow): NewRow => ({
  webhookId: endpoint.id,
  deliveryId: position,
  petId,
  createdAt: publishedAt,
  isReplay,
});

/** The delay in seconds after each failed attempt, over about 75 hours in total. */
const delaysSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Spreads the retries of deliveries that failed at the same time. */
const jitter = 0.1;

/** The delay after a failed attempt, counted from 1. Undefined after the last attempt. `random` is from 0 to 1. */
export function retryDelaySeconds(attempt: number, random: number): number | undefined {
  const delay = delaysSeconds[attempt - 1];
  return delay === undefined ? undefined : delay * (1 + (2 * random - 1) * jitter);
}

export const attemptsMax = delaysSeconds.length + 1;
