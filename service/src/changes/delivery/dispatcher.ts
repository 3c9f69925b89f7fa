import { setTimeout as sleep } from 'node:timers/promises';
import { JoinedRuns } from '../../platform/bounded/joined-runs.ts';
import type { ServiceDb } from '../../platform/db/handles.ts';
import type { EventRow } from '../events/events.ts';
import type { Cursors } from './cursors.ts';
import { messageOf } from './delivery-messages.ts';
import type { DueRows } from './due-rows.ts';
import type { Endpoint, Item } from './endpoint.ts';
import { type DisabledWebhook, insertVerifications } from './endpoint-queries.ts';
import type { Endpoints } from './endpoints.ts';
import type { FeedReader } from './feed-reader.ts';
import type { PageReader } from './page-reader.ts';
import { type DeliveryResult, storeResults } from './results.ts';
import type { Exchange, Sender } from './safe-sender.ts';
import { type DeliveryVerdict, decideDeliveries } from './sending-queries.ts';
import type { ShardLease } from './shard-lease.ts';
import type { Shares, Ticket } from './shares.ts';

export interface DispatcherParts {
  readonly db: ServiceDb;
  readonly sender: Sender;
  readonly lease: ShardLease;
  readonly endpoints: Endpoints;
  readonly feed: FeedReader;
  readonly shares: Shares;
  readonly dueRows: DueRows;
  readonly pages: PageReader;
  readonly cursors: Cursors;
  onDisabled(webhook: DisabledWebhook): void;
  onConcluded(outcome: DeliveryResult['outcome'], exchange: Exchange | undefined): void;
  onError(error: unknown): void;
}

const decideSizeMax = 256;
/** Results that wait to be stored. Beyond that nothing is sent: what a killed worker has not stored is sent again. */
const unstoredMax = 64;
const storeRetryMs = 500;
/** At shutdown. What is cut off is sent again by another worker. */
const endingMs = 8_000;

/**
 * Takes what is to be sent by the shares of clients and endpoints, has it decided by one statement, sends it, and stores the results in
 * batches. One statement of each kind is in flight at a time, so that batches grow under load.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  #results: DeliveryResult[] = [];
  readonly #storing = new JoinedRuns(() => this.#store());
  readonly #cutOff = new AbortController();
  #unstored = 0;
  #isSending = false;
  #isStopping = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Sends as long as there is something. */
  async send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (!this.#isStopping && this.#parts.lease.maySend) {
        const taken = this.#takeItems();
        if (taken.length === 0) break;
        await this.#decideAndSend(taken);
      }
    } catch (error) {
      this.#parts.onError(error);
    } finally {
      this.#isSending = false;
    }
  }

  /** Starts nothing more, and waits a while for what is in flight. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const deadlineMs = performance.now() + endingMs;
    while (this.#parts.shares.inFlight > 0 && performance.now() < deadlineMs) await sleep(20);
    this.#cutOff.abort();
    await this.drained();
  }

  /** Resolves when all results are stored. */
  async drained(): Promise<void> {
    do await this.#storing.next();
    while (this.#results.length > 0);
  }

  #takeItems(): Array<{ item: Item; ticket: Ticket }> {
    const taken: Array<{ item: Item; ticket: Ticket }> = [];
    while (taken.length < decideSizeMax && this.#unstored < unstoredMax) {
      const endpoint = this.#parts.shares.next();
      if (!endpoint) break;
      if (!endpoint.mayTake) continue;
      const item = endpoint.take(this.#parts.feed.window);
      if (item) {
        taken.push({ item, ticket: this.#parts.shares.start(endpoint) });
        this.#parts.shares.add(endpoint);
      } else this.#rest(endpoint);
    }
    return taken;
  }

  /** The endpoint has nothing to send at this moment. */
  #rest(endpoint: Endpoint): void {
    const { endpoints, feed, pages, cursors } = this.#parts;
    if (endpoint.linesToRead(feed.window).length > 0) pages.request(endpoint);
    // The end of a replay is stored at once, so that the next one can be started.
    if (endpoint.replay?.isDone) cursors.hurry();
    if (endpoint.isCaughtUp(feed.window) && feed.positionOf(endpoint.shard) === feed.window.to) {
      endpoint.live = undefined;
      if (!endpoint.replay) endpoints.awake.delete(endpoint);
    }
  }

  async #decideAndSend(taken: ReadonlyArray<{ item: Item; ticket: Ticket }>): Promise<void> {
    let verdicts: DeliveryVerdict[];
    try {
      verdicts = await decideDeliveries(
        this.#parts.db,
        taken.map(({ item }) => ({
          webhookId: item.endpoint.id,
          deliveryId: item.deliveryId,
          event: item.event,
          isRow: item.row !== undefined,
          isReplay: item.isReplay,
          checkedSince: item.event && item.line?.checkedSinceFor(item.event),
        })),
      );
    } catch (error) {
      for (const { item, ticket } of taken) this.#putBack(item, ticket);
      throw error;
    }
    for (const [i, { item, ticket }] of taken.entries()) {
      const verdict = verdicts[i];
      // The lease is looked at again: the process may have been stopped meanwhile.
      if (!verdict || !this.#parts.lease.maySend) this.#putBack(item, ticket);
      else if (item.row && item.row.petId !== null && !item.event) this.#conclude(item, ticket, 'gone');
      else if (verdict.verdict === 'send') void this.#exchange(item, ticket, verdict);
      else if (verdict.verdict === 'wait') this.#putBack(item, ticket);
      else if (verdict.verdict === 'held') this.#conclude(item, ticket, 'held');
      else if (item.row) this.#conclude(item, ticket, 'skipped');
      else this.#pass(item, ticket);
    }
  }

  /** The event is decided without anything to store. */
  #pass({ endpoint, line, event }: Item, ticket: Ticket): void {
    if (line && event) {
      line.finish(event);
      line.close(event.position);
    }
    this.#parts.shares.end(ticket);
    this.#parts.shares.add(endpoint);
  }

  /** Nothing was sent. Tries again later, or when the endpoint has been changed. */
  #putBack({ endpoint, line, event, row }: Item, ticket: Ticket): void {
    if (line && event) line.putBack(event);
    if (row) endpoint.openRows -= 1;
    this.#parts.dueRows.pause(endpoint);
    this.#parts.shares.end(ticket);
  }

  async #exchange(item: Item, ticket: Ticket, verdict: DeliveryVerdict): Promise<void> {
    const at = new Date();
    const { url } = verdict;
    const message = messageOf(item, verdict, at);
    const exchange = 'fault' in message ? failedExchange(message.fault) : await this.#parts.sender.send(message, this.#cutOff.signal);
    // What was cut off may have arrived; it is sent again.
    if (this.#cutOff.signal.aborted) {
      this.#parts.shares.end(ticket);
      return;
    }
    const isDelivered = exchange.status !== undefined && exchange.status >= 200 && exchange.status < 300;
    item.endpoint.noteDuration(exchange.durationMs);
    this.#conclude(item, ticket, isDelivered ? 'delivered' : 'failed', { url: url ?? '', at, exchange });
  }

  #conclude(item: Item, ticket: Ticket, outcome: DeliveryResult['outcome'], sent?: DeliveryResult['sent']): void {
    const { endpoint, line, event } = item;
    const behind: readonly EventRow[] = line && event && outcome !== 'delivered' ? line.fail(event) : [];
    const isRecovery = outcome === 'delivered' && endpoint.noteSuccess();
    // Retries say nothing new: an endpoint may reject some events for days, and accept all others.
    if (outcome === 'failed' && !item.row?.attemptCount) endpoint.noteFailure(event?.petId);
    endpoint.unstored += 1;
    this.#unstored += 1;
    this.#results.push({ item, outcome, behind, sent, isRecovery });
    void this.#storing.next();
    this.#parts.onConcluded(outcome, sent?.exchange);
    this.#parts.cursors.noteSent(endpoint.shard);
    this.#parts.shares.end(ticket);
    this.#parts.shares.add(endpoint);
    void this.send();
  }

  /** Until they are stored. Nothing more is sent meanwhile, since nothing can be decided either. */
  async #store(): Promise<void> {
    const results = this.#results;
    this.#results = [];
    for (let isStored = results.length === 0; !isStored; ) {
      try {
        const { disabled, tested, isFailing } = await storeResults(this.#parts.db, this.#parts.lease.workerId, results);
        isStored = true;
        for (const webhook of disabled) this.#parts.onDisabled(webhook);
        this.#settle(results, isFailing);
        if (tested.length > 0) await insertVerifications(this.#parts.db, this.#parts.lease.workerId, tested);
        await this.#scheduleAfter(results);
      } catch (error) {
        this.#parts.onError(error);
        if (this.#cutOff.signal.aborted) return;
        await sleep(storeRetryMs);
      }
    }
    void this.send();
  }

  #settle(results: readonly DeliveryResult[], isFailing: ReadonlyMap<bigint, boolean>): void {
    for (const { item, behind } of results) {
      const { endpoint, line, event, row } = item;
      endpoint.unstored -= 1;
      this.#unstored -= 1;
      if (line && event) {
        // Not before: another worker that takes over would send this event again, after the next one.
        line.finish(event);
        for (const { position } of [event, ...behind]) line.close(position);
      }
      if (row) endpoint.openRows -= 1;
      endpoint.isMarkedFailing = isFailing.get(endpoint.id) ?? endpoint.isMarkedFailing;
      this.#parts.shares.add(endpoint);
    }
  }

  async #scheduleAfter(results: readonly DeliveryResult[]): Promise<void> {
    const endpoints = new Set<Endpoint>();
    for (const { item, outcome, isRecovery } of results) {
      if (!item.endpoint.isRetired && (item.row || outcome !== 'delivered' || isRecovery)) endpoints.add(item.endpoint);
    }
    await this.#parts.dueRows.schedule([...endpoints]);
  }
}

/** Nothing was sent. */
const failedExchange = (error: string): Exchange => ({ status: undefined, responseStart: undefined, error, durationMs: 0 });
