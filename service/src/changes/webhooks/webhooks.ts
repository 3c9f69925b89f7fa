import { insufficientScope } from '../../access/admission/access.ts';
import { requireUnrevoked } from '../../access/clients/clients.ts';
import type { Bounds } from '../../access/rate-limit/plans.ts';
import { type Acting, theService } from '../../domain/actor.ts';
import { type EventType, mayReadPrivateEvents, scopesToRead } from '../../domain/event-types.ts';
import { hasOne, type Scope } from '../../domain/scopes.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode, show } from '../../platform/errors.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { makeDueNow } from './delivery-queries.ts';
import { disableWebhook, enableWebhook } from './endpoint-key-queries.ts';
import { newSecret, readTargetUrl } from './target-urls.ts';
import {
  countWebhooks,
  findMissingShelter,
  findWebhook,
  insertWebhook,
  lockWebhook,
  markRemoved,
  notifyWorker,
  type OwnedWebhook,
  type Owner,
  replaceSecret,
  selectFailing,
  updateWebhook,
} from './webhook-queries.ts';
import type { NewWebhook, Webhook, WebhookChanges } from './webhook-schemas.ts';

export type { Owner };

/** The caller that manages an endpoint. */
interface Manager extends Acting {
  readonly clientId: bigint;
  readonly keyId: bigint;
  readonly scopes: readonly Scope[];
  readonly bounds: Pick<Bounds, 'webhooks'>;
}

const failingShownMax = 100;
/** The maximum number of deliveries that are made due at once. */
const dueNowMax = 10_000;
/** Each pause while deliveries are queued is a gap in what is sent, and stored with the endpoint. */
const pausesMax = 100;

/** The errors of the operations, for the documents. */
export const webhookErrors = {
  add: ['webhook_url_refused', 'webhook_limit_reached'],
  get: ['webhook_not_found'],
  change: ['webhook_url_refused', 'webhook_not_found', 'webhook_disabled'],
} as const satisfies Record<string, readonly ErrorCode[]>;

export async function addWebhook(
  tx: Transaction,
  input: NewWebhook,
  actor: Manager,
  toLoopback: boolean,
): Promise<Webhook & { secret: string }> {
  const url = requireUrl(input.url, toLoopback);
  requireScopesFor(actor, input.types ?? []);
  await requireUnrevoked(tx, actor.keyId);
  await requireShelters(tx, input.shelterIds ?? []);
  const count = await countWebhooks(tx, actor.clientId);
  if (count >= actor.bounds.webhooks) {
    throw new AppError(
      'webhook_limit_reached',
      `This client has ${count} webhook endpoints; ${actor.bounds.webhooks} are allowed. Remove one first.`,
    );
  }
  const secret = newSecret();
  const { clientId, keyId } = actor;
  const webhook = await insertWebhook(tx, { ...input, url, clientId, keyId, withOrders: mayReadPrivateEvents(actor.scopes), secret });
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
  const status = changes.status === 'unverified' ? undefined : changes.status;
  return db.transaction(async (tx) => {
    const { types, shelterIds, categoryIds, description } = changes;
    const selectsOthers = types !== undefined || shelterIds !== undefined || categoryIds !== undefined;
    const needsValidKey = changes.url !== undefined || selectsOthers || status === 'enabled';
    // Locks the key and then the endpoint, in the same order as a revocation, so that one sees the changes of the other.
    if (needsValidKey) await requireUnrevoked(tx, actor.keyId);
    await lockWebhook(tx, id);
    const webhook = await getWebhook(tx, actor, id);
    const url = changes.url === undefined ? undefined : requireUrl(changes.url, toLoopback);
    requireScopesFor(actor, types ?? []);
    await requireShelters(tx, shelterIds ?? []);
    if (status === 'enabled' && webhook.status === 'disabled' && webhook.pauseCount >= pausesMax) {
      throw new AppError(
        'webhook_disabled',
        `Endpoint ${id} was disabled ${pausesMax} times while deliveries were queued. Remove it and add another.`,
      );
    }
    // A key that sets the url or what is sent, or enables an endpoint whose key has ended, becomes the owner of the endpoint. Only
    // events that this key may read are sent.
    const takesOver = url !== undefined || selectsOthers || (status === 'enabled' && webhook.isKeyEnded);
    const owner = takesOver ? { keyId: actor.keyId, withOrders: mayReadPrivateEvents(actor.scopes) } : undefined;
    const changed = await updateWebhook(tx, id, { url, types, shelterIds, categoryIds, description, status, owner });
    if (!changed) throw webhookNotFound(String(id));
    if (status === 'enabled' || url !== undefined) await makeDueNow(tx, id, dueNowMax);
    return changed;
  }, actor);
}

/** Disables an endpoint of any client, for the store's operators. `isJournaled` is false if the journal's disk is full. */
export async function disableByOperator(db: Transactor, journal: Journal, id: bigint): Promise<{ readonly isJournaled: boolean }> {
  return db.transaction(async (tx) => {
    if (!(await disableWebhook(tx, id, "Disabled by the store's operators."))) throw webhookNotFound(String(id), 'any');
    return { isJournaled: journal({ act: 'webhook_disabled', webhook: id }) };
  }, theService);
}

export async function enableByOperator(db: Transactor, id: bigint): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await enableWebhook(tx, id))) throw webhookNotFound(String(id), 'any');
    await makeDueNow(tx, id, dueNowMax);
    await notifyWorker(tx, id);
  }, theService);
}

export async function removeWebhook(db: Transactor, owner: Owner, id: bigint, by: Acting): Promise<void> {
  if (!(await db.transaction((tx) => markRemoved(tx, owner, id), by))) throw webhookNotFound(String(id));
}

export async function rotateSecret(tx: Transaction, owner: Owner, id: bigint): Promise<Webhook & { secret: string }> {
  const secret = newSecret();
  const webhook = await replaceSecret(tx, owner, id, secret);
  if (!webhook) throw webhookNotFound(String(id));
  return { ...webhook, secret };
}

/** Endpoints that have been failing for a day or more. */
export const listFailing = (db: Db) => selectFailing(db, failingShownMax);

export const webhookNotFound = (id: string, owner?: Owner) =>
  new AppError('webhook_not_found', `${owner === 'any' ? 'There is' : 'You have'} no webhook endpoint with id ${id.slice(0, 40)}.`);

/** For what needs an endpoint that something may be sent to. */
export async function getEnabled(tx: Transaction, owner: Owner, id: bigint): Promise<Webhook> {
  const webhook = await getWebhook(tx, owner, id);
  if (webhook.status !== 'disabled') return webhook;
  throw new AppError('webhook_disabled', `Endpoint ${id} is disabled. ${webhook.disabledReason ?? ''} Enable it first.`.replace('  ', ' '));
}

/** The URL as it is stored: normalized, in visible ASCII. */
function requireUrl(text: string, toLoopback: boolean): string {
  const read = readTargetUrl(text, toLoopback);
  if ('fault' in read) throw new AppError('webhook_url_refused', `url ${read.fault}; got ${show(text)}.`);
  return read.href;
}

/** Events of types that the key may not read would never be sent. */
function requireScopesFor({ scopes }: Manager, types: readonly EventType[]): void {
  const type = types.find((one) => !hasOne(scopes, scopesToRead(one)));
  if (!type) return;
  const accepted = scopesToRead(type);
  throw insufficientScope(`Events of type ${type} need the scope ${accepted[0]}; this key has ${scopes.join(', ')}.`, accepted);
}

/** From one that doesn't exist nothing would ever come. A category may be registered later. */
async function requireShelters(tx: Transaction, ids: readonly bigint[]): Promise<void> {
  const missing = ids.length > 0 ? await findMissingShelter(tx, ids) : undefined;
  if (missing !== undefined) throw new AppError('invalid_body', `shelterIds has ${missing}, and there is no shelter with that id.`);
}
