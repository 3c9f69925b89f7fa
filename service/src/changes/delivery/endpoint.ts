import { type EventType, type Interests, isOfInterest } from '../../domain/event-types.ts';
import type { EventRow, Subscription } from '../events/events.ts';
import { parseRanges, subscriptionOf } from '../webhooks/subscriptions.ts';
import type { DueState, EndpointRow } from './endpoint-queries.ts';
import type { FeedWindow } from './feed-reader.ts';
import { Line } from './line.ts';
import type { DueRow, RowChoice } from './sending-queries.ts';

/** Something that an endpoint has to send, and where it came from. */
export interface Item {
  readonly endpoint: Endpoint;
  readonly deliveryId: bigint;
  readonly event: EventRow | undefined;
  /** One of the two. */
  readonly line: Line | undefined;
  readonly row: DueRow | undefined;
  readonly isReplay: boolean;
}

/** An endpoint is failing once events of this many animals have failed at their first attempt, and none has succeeded since. */
const failingAnimals = 3;
/** The weight of the last exchange in the mean duration. */
const lastWeight = 0.3;
/** An endpoint gets fewer requests at a time the longer they take. */
const concurrencyByMeanMs = [
  { belowMs: 250, concurrency: 4 },
  { belowMs: 1_000, concurrency: 2 },
] as const;
export const slowMs = 1_000;
/** A lower bound, so that an endpoint starts with few requests. */
const startMeanMs = 250;
/** A failing endpoint is tried at least this often. */
const probeIntervalMs = 5 * 60_000;

/**
 * An endpoint, as its worker knows it.
 *
 * It sends from three sources: `live`, the new events of the feed; `replay`, a range of the feed; `rows`, deliveries in
 * delivery_exceptions that are due. Without `live` it sleeps: everything up to the end of its shard is decided. The next event that it
 * gets wakes it.
 */
export class Endpoint {
  readonly id: bigint;
  readonly clientId: bigint;
  readonly shard: bigint;
  settings: EndpointRow;
  types: SubscribedTypes;
  /** The host and port that it sends to. */
  origin: string;
  live: Line | undefined;
  replay: Line | undefined;
  rows: DueRow[] = [];
  /** Rows that were taken and whose results are not stored yet. While there are some, no more are read. */
  openRows = 0;
  /** When rows are to be read next. */
  rowsAtMs = Infinity;
  isReadingPage = false;
  /** As stored. Null: it shares the cursor of its shard. */
  position: bigint | null;
  /** It may share the cursor of its shard only from here on. Before, positions are skipped, or published before it was added. */
  floor = 0n;
  /** The end of the skipped positions. What was queued before may be of any age. */
  readonly skippedTo: bigint;
  /** When it was last woken. */
  wokenAtMs = 0;
  /** Nothing is taken before. */
  pausedUntilMs = 0;
  inFlight = 0;
  /** Results that are not stored yet. */
  unstored = 0;
  /** As stored: no delivery has succeeded since one failed. */
  isMarkedFailing: boolean;
  /** Removed or reloaded: nothing more is taken, and results are still stored. */
  isRetired = false;
  #meanMs = startMeanMs;
  #failedPets: Set<bigint> | undefined;
  /** Undefined until the worker has read what its rows say. */
  #isFailing: boolean | undefined;
  #turn = 0;

  constructor(row: EndpointRow, checkedTo: bigint) {
    this.id = row.id;
    this.clientId = row.clientId;
    this.shard = row.shard;
    this.settings = row;
    this.types = typesOf(row);
    this.origin = originOf(row);
    this.position = null;
    this.isMarkedFailing = row.isFailing;
    const skipped = parseRanges(row.skipped);
    this.skippedTo = skipped.at(-1)?.upTo ?? 0n;
    this.floor = this.skippedTo;
    if (row.position !== null) {
      this.moveTo(row.position);
      this.live = new Line({ position: row.position, skipped, checkedTo });
    }
    this.#startReplay(row, checkedTo);
  }

  /** Applies changed settings. False if it must be loaded again, because its place in the feed was changed or it takes nothing more. */
  update(row: EndpointRow, checkedTo: bigint): boolean {
    if (this.isRetired || row.position !== this.position || row.skipped !== this.settings.skipped || !row.isServed) return false;
    this.settings = row;
    this.types = typesOf(row);
    this.origin = originOf(row);
    this.pausedUntilMs = 0;
    if (!this.replay) this.#startReplay(row, checkedTo);
    return true;
  }

  get hasLine(): boolean {
    return this.live !== undefined || this.replay !== undefined;
  }

  get subscription(): Subscription {
    const { publicTypes, privateTypes } = this.types;
    return { clientId: this.clientId, shelterId: this.settings.shelterId, publicTypes, privateTypes, interests: this.interests };
  }

  get interests(): Interests {
    return this.settings;
  }

  wake(line: Line): void {
    this.live = line;
    this.wokenAtMs = performance.now();
  }

  /** Says where its stored cursor is; null: at its shard's, which is after all skipped positions. */
  moveTo(position: bigint | null): void {
    this.position = position;
    if (position === null) this.settings = { ...this.settings, skipped: '{}' };
    else if (position > this.floor) this.floor = position;
  }

  get isSlow(): boolean {
    return this.#meanMs >= slowMs;
  }

  get concurrency(): number {
    return concurrencyByMeanMs.find(({ belowMs }) => this.#meanMs < belowMs)?.concurrency ?? 1;
  }

  get isFailing(): boolean {
    return this.#isFailing ?? false;
  }

  get rowChoice(): RowChoice {
    if (!this.settings.isVerified) return 'tests';
    return this.isFailing ? 'oldest' : 'due';
  }

  get mayTake(): boolean {
    return !this.isRetired && this.inFlight < this.concurrency && performance.now() >= this.pausedUntilMs;
  }

  /** The next thing to send, the sources taking turns. */
  take(window: FeedWindow): Item | undefined {
    this.#turn += 1;
    const sources = [
      () => this.#takeRow(),
      () => this.#takeFrom(this.live, window, false),
      () => this.#takeFrom(this.replay, window, true),
    ];
    for (let i = 0; i < sources.length; i += 1) {
      const item = sources[(this.#turn + i) % sources.length]?.();
      if (item) return item;
    }
    return undefined;
  }

  /** The lines that read from the database next. */
  linesToRead(window: FeedWindow): Line[] {
    if (!this.#mayRead) return [];
    return [this.live, this.replay].filter((line): line is Line => line?.needsPage(window) ?? false);
  }

  /** Whether everything up to the end of the window is decided, and none of the events that follow is one that only its line leaves out. */
  isCaughtUp(window: FeedWindow): boolean {
    if (!this.live || this.floor > window.to) return false;
    return this.live.isIdle && this.live.isAtEnd(window);
  }

  isWanted(event: EventRow): boolean {
    if (!this.types.all.has(event.type) || !isOfInterest(event, this.interests)) return false;
    const { shelterId } = this.settings;
    return event.clientId === null || event.clientId === this.clientId || (shelterId !== null && event.shelterId === shelterId);
  }

  /** How long an exchange took so far, or took in the end. */
  noteDuration(ms: number): void {
    this.#meanMs = (1 - lastWeight) * this.#meanMs + lastWeight * ms;
  }

  noteSlow(): void {
    this.#meanMs = Math.max(this.#meanMs, slowMs);
  }

  /** Returns true if the endpoint has just recovered. */
  noteSuccess(): boolean {
    const wasFailing = this.isFailing;
    this.#failedPets = undefined;
    this.#isFailing = false;
    return wasFailing;
  }

  noteFailure(petId: bigint | undefined): void {
    if (petId === undefined) return;
    this.#failedPets = (this.#failedPets ?? new Set()).add(petId);
    if (this.#failedPets.size >= failingAnimals) this.#isFailing = true;
  }

  /**
   * What its rows say: the number of animals that wait for another attempt after one failed, since no delivery succeeded. For a worker
   * that has just loaded it, they say whether it fails. Later the worker knows better, unless some were given up.
   */
  noteStored(failed: number): void {
    if (this.#isFailing === undefined) this.#isFailing = failed >= failingAnimals;
    else if (failed < failingAnimals && this.unstored === 0) this.#isFailing = false;
  }

  /** In how many milliseconds its rows are to be read; null: never. */
  rowsIn({ dueInMs, oldestDueInMs, testDueInMs }: DueState): number {
    if (this.rowChoice === 'due') return dueInMs ?? Infinity;
    const testInMs = testDueInMs ?? Infinity;
    return this.rowChoice === 'tests' ? testInMs : Math.min(testInMs, oldestDueInMs ?? Infinity, probeIntervalMs);
  }

  get #mayRead(): boolean {
    return this.settings.isVerified && !this.isFailing;
  }

  #takeRow(): Item | undefined {
    const row = this.rows.shift();
    if (!row) return undefined;
    this.openRows += 1;
    return { endpoint: this, deliveryId: row.deliveryId, event: row.event, line: undefined, row, isReplay: row.isReplay };
  }

  #takeFrom(line: Line | undefined, window: FeedWindow, isReplay: boolean): Item | undefined {
    if (!line || !this.#mayRead) return undefined;
    const event = line.take(window, (one) => this.isWanted(one));
    return event && { endpoint: this, deliveryId: event.position, event, line, row: undefined, isReplay };
  }

  #startReplay({ replayPosition, replayUpTo, replayCreatedAt }: EndpointRow, checkedTo: bigint): void {
    if (replayPosition === null || replayUpTo === null || !replayCreatedAt) return;
    this.replay = new Line({ position: replayPosition, upTo: replayUpTo, checkedTo, checkedSince: replayCreatedAt });
  }
}

/** The types of a subscription. Many endpoints have the same ones, and share the objects. */
type SubscribedTypes = Pick<Subscription, 'publicTypes' | 'privateTypes'> & { readonly all: ReadonlySet<EventType> };
const sharedTypes = new Map<string, SubscribedTypes>();

function typesOf(row: EndpointRow): SubscribedTypes {
  const { publicTypes, privateTypes } = subscriptionOf(row);
  const key = [...publicTypes, ...privateTypes].sort().join();
  const shared = sharedTypes.get(key) ?? { publicTypes, privateTypes, all: new Set([...publicTypes, ...privateTypes]) };
  sharedTypes.set(key, shared);
  return shared;
}

const originOf = ({ url }: EndpointRow) => URL.parse(url)?.host ?? '';
