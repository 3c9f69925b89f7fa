// Clients of a store that record what they ask and what they get, for the checker.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Channel, type History, monotonicMs } from './history.ts';
import { Animals, type KnownAnimal } from './recorder-animals.ts';
import { type OpenChannel, openEndpointServer, Stream } from './recorder-channels.ts';
import { type FeedEvent, FeedReader } from './recorder-feed.ts';
import { HistoryFile, readHistory } from './recorder-file.ts';
import { overdriveLimit, revokeKeys, useKeys } from './recorder-keys.ts';
import { Operations } from './recorder-operations.ts';
import { Requests } from './recorder-requests.ts';

export interface ClientKey {
  readonly clientId: number;
  readonly key: string;
}

export interface RecordOptions {
  /** The history, as JSON lines. It is written while it happens, so that it survives this process. */
  readonly file: string;
  /** Of the `serve` processes, each ending in /v1. */
  readonly urls: readonly string[];
  /** With pets:read, pets:write, orders:read, orders:write and store:manage, and no limit that matters. */
  readonly manager: ClientKey;
  /** With the default scopes. They place the orders, and have the endpoints: a client's endpoints are all sent to by one worker. */
  readonly partners: readonly ClientKey[];
  /** Are used all the time, and revoked one after the other by the command, in which {id} is replaced. */
  readonly revocable?: RevocableKeys;
  /** A client whose limits are smaller than what it sends. */
  readonly limited?: LimitedKey;
  readonly writesPerSecond?: number;
  readonly readsPerSecond?: number;
  readonly streams?: number;
  /** Workers must allow 127.0.0.1, and run in the network namespace of this process. */
  readonly endpoints?: number;
  /** How many of the endpoints get all types. The others get two types each, so that fewer requests are made. */
  readonly endpointsWithAllTypes?: number;
  /** The load ends then, or with the signal. */
  readonly durationMs?: number;
  readonly signal?: AbortSignal;
  /** For operations whose outcome is unknown, and for events under way, once the load has ended. */
  readonly settleMsMax?: number;
  /** Called when streams and endpoints are open, and the first animals there. */
  readonly onReady?: () => void;
}

export interface RevocableKeys {
  readonly keys: readonly { readonly id: number; readonly key: string }[];
  readonly command: readonly string[];
}

export interface LimitedKey {
  readonly key: string;
  readonly perMinute: number;
  readonly perDay: number;
}

const animalsUsed = 60;
const startTimeoutMs = 60_000;
const pollMs = 250;
/** What share of the writes are of which kind. */
const shares = { create: 0.3, change: 0.38, place: 0.13, act: 0.16, remove: 0.03 };
type WriteKind = keyof typeof shares;
const eventTypes = [
  'pet.created',
  'pet.updated',
  'pet.status_changed',
  'pet.removed',
  'order.placed',
  'order.approved',
  'order.completed',
  'order.cancelled',
  'order.returned',
];

/** Resolves once the load has ended, outcomes are known or given up, and events have arrived or are given up. */
export async function record(options: RecordOptions): Promise<History> {
  await recordToFile(options);
  return readHistory(options.file);
}

/** Like record, for a process whose parent reads the file. */
export async function recordToFile(options: RecordOptions): Promise<void> {
  const { urls, manager, partners, writesPerSecond = 100, readsPerSecond = 300, settleMsMax = 60_000, signal } = options;
  await using resources = new AsyncDisposableStack();
  const file = resources.use(new HistoryFile(options.file));
  const requests = resources.use(new Requests(urls));
  const animals = new Animals(animalsUsed);
  let overAtMs = Infinity;
  const operations = new Operations({ requests, file, animals, manager, partners, isOver: () => performance.now() > overAtMs });
  const { channels, feeds } = await openChannels(options, { requests, file, resources });
  await Promise.all(Array.from({ length: animalsUsed }, () => operations.create()));
  const beginMs = monotonicMs();
  options.onReady?.();

  const load = new AbortController();
  const stopped = AbortSignal.any([load.signal, ...(signal ? [signal] : []), AbortSignal.timeout(options.durationMs ?? 2 ** 31 - 1)]);
  const { revocable, limited } = options;
  if (limited) file.add({ kind: 'limits', perMinute: limited.perMinute, perDay: limited.perDay });
  const loads = [
    repeat(writesPerSecond, stopped, () => write(operations, animals)),
    repeat(readsPerSecond, stopped, () => read(operations, animals)),
    ...(revocable ? [useKeys(revocable, { requests, file, stopped }), revokeKeys(revocable, { file, stopped })] : []),
    ...(limited ? [overdriveLimit(limited, { requests, file, stopped })] : []),
  ];
  await new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve(), { once: true }));
  file.add({ kind: 'load', beginMs, endMs: monotonicMs() });
  overAtMs = performance.now() + settleMsMax / 2;
  await Promise.all(loads);
  // Its event is the last one: when it is in the feed, so are those of earlier changes.
  const lastPetId = await operations.create();
  await untilArrived(channels, feeds, { lastPetId, deadlineMs: performance.now() + settleMsMax / 2 });
}

interface Parts {
  readonly requests: Requests;
  readonly file: HistoryFile;
  readonly resources: AsyncDisposableStack;
}

/** One reader of the feed for each key that has a channel, to know what has to arrive. */
async function openChannels(
  { manager, partners, streams = 4, endpoints = 20, endpointsWithAllTypes = endpoints }: RecordOptions,
  { requests, file, resources }: Parts,
): Promise<{ channels: OpenChannel[]; feeds: ReadonlyMap<string, FeedReader> }> {
  const feeds = new Map<string, FeedReader>();
  for (const { key } of [manager, ...partners]) feeds.set(key, await FeedReader.open(requests, key));
  const channels: OpenChannel[] = [];
  for (let index = 0; index < streams; index += 1) {
    const isStaff = index % 2 === 0;
    const { clientId, key } = isStaff ? manager : (partners[index % partners.length] ?? manager);
    const channel: Channel = { kind: 'stream', index, clientId, isStaff, types: [] };
    channels.push(resources.use(new Stream(channel, key, { requests, file, cursor: feeds.get(key)?.cursor ?? '' })));
  }
  for (const [number, { clientId, key }] of partners.entries()) {
    const indexes = Array.from({ length: endpoints }, (_, index) => index).filter((index) => index % partners.length === number);
    const own = indexes.map((index): Channel => {
      const types = [eventTypes[index % eventTypes.length] ?? '', eventTypes[(index + 4) % eventTypes.length] ?? ''];
      return { kind: 'endpoint', index, clientId, isStaff: false, types: index < endpointsWithAllTypes ? [] : types };
    });
    const server = resources.use(await openEndpointServer(own, key, file));
    channels.push(...server.endpoints);
    await Promise.all(own.map((channel) => addEndpoint(requests, key, server.urlOf(channel), channel.types)));
  }
  return { channels, feeds };
}

/** Resolves once the endpoint is verified, and so gets events. */
async function addEndpoint(requests: Requests, key: string, url: string, types: readonly string[]): Promise<void> {
  const deadlineMs = performance.now() + startTimeoutMs;
  const added = await requests.send({ method: 'POST', path: '/webhooks', key, body: { url, types } });
  if (added.attempt.status !== 201) throw new Error(`an endpoint was not added: ${JSON.stringify(added.json)}`);
  const path = `/webhooks/${(added.json as { id: number }).id}`;
  for (;;) {
    const { json } = await requests.send({ method: 'GET', path, key });
    if ((json as { status?: string } | undefined)?.status === 'enabled') return;
    if (performance.now() > deadlineMs) throw new Error(`the endpoint ${url} was not verified: ${JSON.stringify(json)}`);
    await sleep(pollMs);
  }
}

/** Sends at a fixed rate without waiting for earlier ones, as long as no more are under way than begin in a second. */
async function repeat(perSecond: number, stopped: AbortSignal, send: () => Promise<unknown>): Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  const startMs = performance.now();
  for (let sent = 0; !stopped.aborted; ) {
    const due = Math.floor(((performance.now() - startMs) / 1_000) * perSecond) + 1;
    for (; sent < due; sent += 1) {
      if (underWay.size >= perSecond) continue;
      const one = send().finally(() => underWay.delete(one));
      underWay.add(one);
    }
    await sleep(Math.max(startMs + (sent / perSecond) * 1_000 - performance.now(), 1));
  }
  await Promise.all(underWay);
}

async function write(operations: Operations, animals: Animals): Promise<void> {
  const kind = chooseKind();
  const needsAvailable = kind === 'place' || kind === 'remove';
  const isSuitable = ({ order, seen }: KnownAnimal) => {
    if (kind === 'act') return order !== undefined;
    return !needsAvailable || (!order && (seen?.value.status ?? 'available') === 'available');
  };
  const animal = kind === 'create' ? undefined : animals.find(isSuitable);
  if (animal) await writeTo(animal, kind, operations);
  else await operations.create();
}

function chooseKind(): WriteKind {
  let left = Math.random();
  for (const [kind, share] of Object.entries(shares) as [WriteKind, number][]) {
    left -= share;
    if (left < 0) return kind;
  }
  return 'change';
}

async function writeTo(animal: KnownAnimal, kind: WriteKind, operations: Operations): Promise<void> {
  animal.writesInFlight += 1;
  try {
    if (kind === 'act' && animal.order) await operations.act(animal, animal.order);
    else if (kind === 'place') await operations.place(animal);
    else if (kind === 'remove' && animal.writesInFlight === 1) await operations.remove(animal);
    else await operations.change(animal);
  } finally {
    animal.writesInFlight -= 1;
  }
}

async function read(operations: Operations, animals: Animals): Promise<void> {
  if (Math.random() < 0.5) {
    const petId = animals.anyId();
    if (petId !== undefined) await operations.read(petId);
    return;
  }
  const petIds = animals.someIds();
  if (petIds.length > 0) await operations.list(petIds, Math.random() < 0.5 ? 'available' : undefined);
}

/** Until the last animal is in the feed, and every channel has what is there for it, or the deadline. */
async function untilArrived(
  channels: readonly OpenChannel[],
  feeds: ReadonlyMap<string, FeedReader>,
  { lastPetId, deadlineMs }: { readonly lastPetId: number | undefined; readonly deadlineMs: number },
): Promise<void> {
  for (let isComplete = false; !isComplete && performance.now() < deadlineMs; ) {
    for (const feed of feeds.values()) await feed.readOn(deadlineMs);
    // A reader whose cursor was 410 has read what was there before the channels were open, too.
    const firstPosition = Math.min(...channels.map(({ arrived: [first = Infinity] }) => first));
    const isAllThere =
      lastPetId === undefined || [...feeds.values()].every(({ events }) => events.some(({ petId }) => petId === lastPetId));
    isComplete =
      isAllThere &&
      channels.every(({ channel: { types }, key, arrived }) => {
        const isDue = ({ position, type }: FeedEvent) => position >= firstPosition && (types.length === 0 || types.includes(type));
        return (feeds.get(key)?.events ?? []).every((event) => !isDue(event) || arrived.has(event.position));
      });
    await sleep(isComplete ? 0 : pollMs);
  }
}
