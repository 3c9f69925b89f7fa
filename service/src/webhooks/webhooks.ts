import { requireUnrevoked } from '../clients/clients.ts';
import type { Db, Transaction, Transactor } from '../db/handles.ts';
import { parseInt64 } from '../db/int64.ts';
import type { Scope } from '../domain/scopes.ts';
import { AppError, show } from '../errors.ts';
import type { Published } from '../events/events.ts';
import type { Journal } from '../journal/journal.ts';
import type { Bounds } from '../rate-limit/plans.ts';
import {
  countEnabled,
  deleteOldDeliveries,
  findDelivery,
  hasten,
  insertDeliveries,
  insertTest,
  replayFailed,
  replayOne,
  replayTime,
  selectAttempts,
} from './delivery-queries.ts';
import { disableWebhook, enableWebhook } from './endpoint-key-queries.ts';
import { newSecret } from './signatures.ts';
import { readTargetUrl } from './target-urls.ts';
import {
  countWebhooks,
  findWebhook,
  insertWebhook,
  lockWebhook,
  markRemoved,
  type OwnedWebhook,
  type Owner,
  replaceSecret,
  selectFailing,
  updateWebhook,
} from './webhook-queries.ts';
import {
  type Delivery,
  type DeliveryAttempt,
  type NewWebhook,
  type Replay,
  testType,
  type Webhook,
  type WebhookChanges,
} from './webhook-schemas.ts';

export type { Owner };

/** The caller that manages an endpoint. */
interface Manager {
  readonly clientId: bigint;
  readonly keyId: bigint;
  readonly scopes: readonly Scope[];
  readonly bounds: Pick<Bounds, 'webhooks'>;
}

const replayMax = 10_000;
const retentionDays = 30;
const attemptsShownMax = 100;
const failingShownMax = 100;
/** The maximum number of rows that one statement inserts, since PostgreSQL cancels a statement after 2 s. */
const fanOutSizeMax = 20_000;

/** Queues published events for the endpoints that subscribe to them, in the transaction that publishes the events. */
export async function fanOut(tx: Transaction, { firstPosition, lastPosition }: Published): Promise<void> {
  const endpoints = await countEnabled(tx);
  if (endpoints === 0) return;
  const step = BigInt(Math.max(Math.floor(fanOutSizeMax / endpoints), 1));
  for (let from = firstPosition; from <= lastPosition; from += step) {
    const to = from + step - 1n;
    await insertDeliveries(tx, from, to < lastPosition ? to : lastPosition);
  }
}

export async function addWebhook(
  tx: Transaction,
  input: NewWebhook,
  actor: Manager,
  toLoopback: boolean,
): Promise<Webhook & { secret: string }> {
  const url = requireUrl(input.url, toLoopback);
  requireOrdersScope(actor, input.types ?? []);
  await requireUnrevoked(tx, actor.keyId);
  const count = await countWebhooks(tx, actor.clientId);
  if (count >= actor.bounds.webhooks) {
    throw new AppError(
      'webhook_limit_reached',
      `This client has ${count} webhook endpoints; ${actor.bounds.webhooks} are allowed. Remove one first.`,
    );
  }
  const secret = newSecret();
  const { clientId, keyId } = actor;
  const webhook = await insertWebhook(tx, { ...input, url, clientId, keyId, withOrders: maySeeOrders(actor), secret });
  return { ...webhook, secret };
}

export async function getWebhook(db: Db, owner: Owner, id: bigint): Promise<OwnedWebhook> {
  const webhook = await findWebhook(db, owner, id);
  if (!webhook) throw webhookNotFound(String(id), owner);
  return webhook;
}

export async function changeWebhook(
  db: Transactor,
  id: bigint,
  changes: WebhookChanges,
  actor: Manager,
  toLoopback: boolean,
): Promise<Webhook> {
  return db.transaction(async (tx) => {
    const needsValidKey = changes.url !== undefined || changes.types !== undefined || changes.status === 'enabled';
    // Locks the key and then the endpoint, in the same order as a revocation, so that one sees the changes of the other.
    if (needsValidKey) await requireUnrevoked(tx, actor.keyId);
    await lockWebhook(tx, id);
    const webhook = await getWebhook(tx, actor, id);
    const url = changes.url === undefined ? undefined : requireUrl(changes.url, toLoopback);
    requireOrdersScope(actor, changes.types ?? []);
    const { types, description, status } = changes;
    // A key that sets the url or the types, or enables an endpoint whose key has ended, becomes the owner of the endpoint. Only
    // events that this key may read are sent.
    const takesOver = url !== undefined || types !== undefined || (status === 'enabled' && webhook.isKeyEnded);
    const owner = takesOver ? { keyId: actor.keyId, withOrders: maySeeOrders(actor) } : undefined;
    const changed = await updateWebhook(tx, id, { url, types, description, status, owner });
    if (!changed) throw webhookNotFound(String(id));
    if (changes.status === 'enabled' || changes.url !== undefined) await hasten(tx, id, replayMax);
    return changed;
  }, actor.clientId);
}

/** Disables an endpoint of any client, for the store's operators. */
export async function disableByOperator(db: Transactor, journal: Journal, id: bigint): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await disableWebhook(tx, id, "Disabled by the store's operators."))) throw webhookNotFound(String(id), 'any');
    journal({ act: 'webhook_disabled', webhook: id });
  });
}

export async function enableByOperator(db: Transactor, id: bigint): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await enableWebhook(tx, id))) throw webhookNotFound(String(id), 'any');
    await hasten(tx, id, replayMax);
  });
}

export async function removeWebhook(db: Db, owner: Owner, id: bigint): Promise<void> {
  if (!(await markRemoved(db, owner, id))) throw webhookNotFound(String(id));
}

export async function rotateSecret(tx: Transaction, owner: Owner, id: bigint): Promise<Webhook & { secret: string }> {
  const secret = newSecret();
  const webhook = await replaceSecret(tx, owner, id, secret);
  if (!webhook) throw webhookNotFound(String(id));
  return { ...webhook, secret };
}

/** Queues one test delivery to this endpoint only. */
export async function testWebhook(tx: Transaction, owner: Owner, id: bigint): Promise<Delivery> {
  await getEnabled(tx, owner, id);
  return insertTest(tx, id, testType, '{}');
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
  return { ...delivery, attempts: await selectAttempts(db, id, attemptsShownMax) };
}

/** Queues deliveries again, and makes waiting deliveries due now. Returns how many were queued. */
export async function replay(tx: Transaction, owner: Owner, webhookId: bigint, input: Replay): Promise<number> {
  await getEnabled(tx, owner, webhookId);
  const count = await queueAgain(tx, webhookId, input);
  await hasten(tx, webhookId, replayMax);
  return count;
}

async function queueAgain(tx: Transaction, webhookId: bigint, { deliveryId, failed, from, to }: Replay): Promise<number> {
  if (deliveryId !== undefined) {
    if (!(await findDelivery(tx, webhookId, deliveryId))) throw deliveryNotFound(String(deliveryId));
    return replayOne(tx, webhookId, deliveryId);
  }
  if (failed) return replayFailed(tx, webhookId, replayMax);
  const [start, end] = [readTime('from', from), readTime('to', to)];
  const count = await replayTime(tx, webhookId, start, end, replayMax + 1);
  if (count > replayMax) {
    throw new AppError('invalid_body', `There are more than ${replayMax} events between from and to. Replay a shorter time range.`);
  }
  return count;
}

/** Endpoints that have been failing for a day or more. */
export const listFailing = (db: Db) => selectFailing(db, failingShownMax);

export const sweepDeliveries = (db: Db, batchSizeMax: number) => deleteOldDeliveries(db, retentionDays, batchSizeMax);

/** Parses an id in a path. An id that is not an int64 does not exist, so it is 404. */
export function readWebhookId(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) throw webhookNotFound(text);
  return id;
}

export function readDeliveryId(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) throw deliveryNotFound(text);
  return id;
}

const webhookNotFound = (id: string, owner?: Owner) =>
  new AppError('webhook_not_found', `${owner === 'any' ? 'There is' : 'You have'} no webhook endpoint with id ${id.slice(0, 40)}.`);

const deliveryNotFound = (id: string) => new AppError('delivery_not_found', `This endpoint has no delivery with id ${id.slice(0, 40)}.`);

async function getEnabled(tx: Transaction, owner: Owner, id: bigint): Promise<Webhook> {
  const webhook = await getWebhook(tx, owner, id);
  if (webhook.status === 'enabled') return webhook;
  throw new AppError('webhook_disabled', `Endpoint ${id} is disabled. ${webhook.disabledReason ?? ''} Enable it first.`.replace('  ', ' '));
}

/** The URL as it is stored: normalized, in visible ASCII. */
function requireUrl(text: string, toLoopback: boolean): string {
  const read = readTargetUrl(text, toLoopback);
  if ('fault' in read) throw new AppError('webhook_url_refused', `url ${read.fault}; got ${show(text)}.`);
  return read.href;
}

const maySeeOrders = ({ scopes }: Manager) => scopes.includes('orders:read') || scopes.includes('store:manage');

function requireOrdersScope(actor: Manager, types: readonly string[]): void {
  const type = types.find((one) => one.startsWith('order.'));
  if (!type || maySeeOrders(actor)) return;
  throw new AppError('insufficient_scope', `Events of type ${type} need the scope orders:read; this key has ${actor.scopes.join(', ')}.`);
}

function readTime(name: string, text: string | undefined): Date {
  const time = new Date(text ?? '');
  if (text !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(time.getTime()))
    return time;
  throw new AppError('invalid_body', `${name} must be a time such as 2026-11-15T10:00:00Z; got ${show(text)}.`);
}
