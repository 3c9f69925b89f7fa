import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../db/handles.ts';
import { type AttemptResult, type Claimed, claimDeliveries, type DisabledWebhook, recordAttempts } from './delivery-queries.ts';
import { retryDelaySeconds } from './retry-schedule.ts';
import type { Exchange, Message } from './safe-sender.ts';
import { isSecret, signedHeaders } from './signatures.ts';
import { payloadOf } from './webhook-json.ts';

export interface DelivererParts {
  readonly db: Db;
  readonly sender: { send(message: Message, ending?: AbortSignal): Promise<Exchange> };
  onDisabled(webhook: DisabledWebhook): void;
  onError(error: unknown): void;
}

/** Under way in one worker, those included that wait here for their endpoint. */
const underWayMax = 200;
const underWayAtEndpointMax = 4;
/** So many are leased at an endpoint that a next one is at hand when one is done. */
const bounds = { shareMax: 16, failingShareMax: 1, scanMax: 64, leaseSeconds: 30 };
/** An exchange takes 10 s at most: a lease outlives whatever is begun by then. */
const startBeforeMs = 15_000;
const idleIntervalMs = 50;
/** What comes due in this time is claimed in one statement. */
const busyIntervalMs = 10;
/** What is answered in this time is written in one statement. */
const recordIntervalMs = 5;
const failingDaysMax = 5;
const recordTriesMax = 3;
const recordRetryMs = 500;
/** At shutdown. What is cut off is sent again by another. */
const endingMs = 8_000;

/** Sends what is due: leases it, sends it, and says how it went. Several workers share the work. */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #underWay = new Map<bigint, number>();
  readonly #waiting = new Map<bigint, Array<{ delivery: Claimed; claimedAtMs: number }>>();
  readonly #cutOff = new AbortController();
  #taken = 0;
  #unrecorded: AttemptResult[] = [];
  #recording: Promise<void> | undefined;

  constructor(parts: DelivererParts) {
    this.#parts = parts;
  }

  /** Until told to stop; then it takes nothing more, and waits a while for what is under way. */
  async run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      const claimed = await this.#claim();
      for (const delivery of claimed) this.#accept(delivery);
      const pauseMs = claimed.length > 0 ? busyIntervalMs : idleIntervalMs;
      await sleep(pauseMs, undefined, { signal: stopping }).catch(() => {});
    }
    this.#waiting.clear();
    const deadlineMs = performance.now() + endingMs;
    while (this.#underWay.size > 0 && performance.now() < deadlineMs) await sleep(20);
    this.#cutOff.abort();
    await this.#recording;
  }

  async #claim(): Promise<Claimed[]> {
    if (this.#taken >= underWayMax) return [];
    const claimed = await claimDeliveries(this.#parts.db, { ...bounds, batchSizeMax: underWayMax - this.#taken }).catch((error) => {
      this.#parts.onError(error);
      return [];
    });
    this.#taken += claimed.length;
    return claimed;
  }

  #accept(delivery: Claimed): void {
    const waiting = this.#waiting.get(delivery.webhookId) ?? [];
    waiting.push({ delivery, claimedAtMs: performance.now() });
    this.#waiting.set(delivery.webhookId, waiting);
    this.#startNext(delivery.webhookId);
  }

  #startNext(webhookId: bigint): void {
    const waiting = this.#waiting.get(webhookId);
    const underWay = this.#underWay.get(webhookId) ?? 0;
    if (!waiting || underWay >= underWayAtEndpointMax) return;
    const next = waiting.shift();
    if (waiting.length === 0) this.#waiting.delete(webhookId);
    if (!next) return;
    // Its lease might end while it is sent: somebody will lease it anew.
    if (performance.now() - next.claimedAtMs > startBeforeMs) {
      this.#taken -= 1;
      this.#startNext(webhookId);
      return;
    }
    this.#underWay.set(webhookId, underWay + 1);
    void this.#deliver(next.delivery);
  }

  async #deliver(delivery: Claimed): Promise<void> {
    const { webhookId, secret } = delivery;
    const at = new Date();
    const exchange = isSecret(secret) ? await this.#parts.sender.send(messageOf(delivery, at), this.#cutOff.signal) : unsigned;
    if (!this.#cutOff.signal.aborted) {
      this.#unrecorded.push(judge(delivery, at, exchange));
      this.#recording ??= this.#record();
    }
    const left = (this.#underWay.get(webhookId) ?? 1) - 1;
    if (left > 0) this.#underWay.set(webhookId, left);
    else this.#underWay.delete(webhookId);
    this.#startNext(webhookId);
  }

  async #record(): Promise<void> {
    while (this.#unrecorded.length > 0) {
      await sleep(recordIntervalMs);
      const results = this.#unrecorded;
      this.#unrecorded = [];
      await this.#write(results);
      this.#taken -= results.length;
    }
    this.#recording = undefined;
  }

  /** What can't be written is sent again once its lease has ended. */
  async #write(results: readonly AttemptResult[]): Promise<void> {
    for (let tries = 1; tries <= recordTriesMax; tries += 1) {
      try {
        const disabled = await recordAttempts(this.#parts.db, results, failingDaysMax);
        for (const webhook of disabled) this.#parts.onDisabled(webhook);
        return;
      } catch (error) {
        this.#parts.onError(error);
        if (tries < recordTriesMax) await sleep(recordRetryMs);
      }
    }
  }
}

/** Never sent: what is left of a malformed secret is a key that anyone can guess. */
const unsigned: Exchange = {
  status: undefined,
  answer: undefined,
  error: 'not sent: the secret of this endpoint is damaged; replace it by rotate-secret',
  durationMs: 0,
};

/** A previous secret that is malformed is left out: replacing a damaged one repairs the endpoint at once. */
function messageOf(delivery: Claimed, at: Date): Message {
  const { url, secret, previousSecret } = delivery;
  const { id, body } = payloadOf(delivery);
  const secrets = previousSecret !== null && isSecret(previousSecret) ? [secret, previousSecret] : [secret];
  return { url, headers: signedHeaders(id, Math.floor(at.getTime() / 1_000), body, secrets), body };
}

const gone = 410;

function judge({ id, lease, attemptCount }: Claimed, at: Date, { status: httpStatus, answer, error, durationMs }: Exchange): AttemptResult {
  const isDelivered = httpStatus !== undefined && httpStatus >= 200 && httpStatus < 300;
  const isGone = httpStatus === gone;
  const delaySeconds = isDelivered || isGone ? undefined : retryDelaySeconds(Number(attemptCount) + 1, Math.random());
  const status = isDelivered ? 'delivered' : delaySeconds === undefined ? 'failed' : 'pending';
  return { deliveryId: id, lease, at, durationMs, httpStatus, answer, error, status, delaySeconds, isGone };
}
