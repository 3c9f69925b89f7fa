// Streams of events that reconnect, and endpoints of webhooks. Each records what arrives.
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveLocally } from '../../testkit/local-server.ts';
import { type Channel, digestOfEvent, monotonicMs } from './history.ts';
import type { HistoryFile } from './recorder-file.ts';
import type { Requests } from './recorder-requests.ts';

export interface OpenChannel extends AsyncDisposable {
  readonly channel: Channel;
  readonly key: string;
  /** The positions that have arrived. */
  readonly arrived: ReadonlySet<number>;
}

const reconnectMs = 200;
/** The store sends a heartbeat every 15 s. */
const silenceMsMax = 20_000;
const eventText = /^\{"id":"evt_(\d+)","type":"([^"]+)","createdAt":"[^"]+","data":(.*)\}$/s;

export class Stream implements OpenChannel {
  readonly channel: Channel;
  readonly key: string;
  readonly arrived = new Set<number>();
  readonly #requests: Requests;
  readonly #file: HistoryFile;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  /** Undefined: from the oldest event. */
  #lastId: string | undefined;
  #process: number;

  constructor(channel: Channel, key: string, { requests, file, cursor }: { requests: Requests; file: HistoryFile; cursor: string }) {
    this.channel = channel;
    this.key = key;
    this.#requests = requests;
    this.#file = file;
    this.#lastId = cursor;
    this.#process = channel.index;
    file.add(channel);
    this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await this.#connect();
      // To another process, since this one may be the reason.
      this.#process = (this.#process + 1) % this.#requests.processes;
      await sleep(reconnectMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Resolves when the connection has ended. */
  #connect(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const headers = {
      accept: 'text/event-stream',
      authorization: `Bearer ${this.key}`,
      ...(this.#lastId !== undefined && { 'last-event-id': this.#lastId }),
    };
    const outgoing = request(`${this.#requests.urlOf(this.#process)}/events`, { agent: false, headers }, (response) => {
      if (response.statusCode === 200) this.#follow(outgoing, response);
      else {
        if (response.statusCode === 410) this.#restart();
        response.resume();
      }
      response.on('error', () => {});
      response.on('close', resolve);
    });
    outgoing.setTimeout(silenceMsMax, () => outgoing.destroy());
    outgoing.on('error', () => resolve());
    outgoing.on('close', resolve);
    const abort = () => outgoing.destroy();
    this.#stopped.signal.addEventListener('abort', abort);
    outgoing.end();
    return promise.finally(() => this.#stopped.signal.removeEventListener('abort', abort));
  }

  #restart(): void {
    this.#lastId = undefined;
    this.#file.add({ kind: 'restart', channel: { kind: 'stream', index: this.channel.index }, atMs: monotonicMs() });
  }

  #follow(outgoing: ClientRequest, response: IncomingMessage): void {
    let rest = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      // What was buffered is not recorded any more: another connection may have sent it already.
      if (!outgoing.destroyed) for (const block of blocks) this.#take(block);
    });
  }

  #take(block: string): void {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (data !== undefined) recordArrival(this.#file, this.channel, this.arrived, data);
    this.#lastId = /^id: (.*)$/m.exec(block)?.[1] ?? this.#lastId;
  }
}

export interface EndpointServer extends AsyncDisposable {
  readonly endpoints: readonly OpenChannel[];
  urlOf(channel: Channel): string;
}

/** The endpoints of one client, on one port. Its path ends in the index of the channel. */
export async function openEndpointServer(channels: readonly Channel[], key: string, file: HistoryFile): Promise<EndpointServer> {
  const arrivedAt = new Map(channels.map((channel) => [channel.index, { channel, arrived: new Set<number>() }]));
  const server = await serveLocally(({ url }, response, text) => {
    const to = arrivedAt.get(Number(url?.split('/').at(-1)));
    if (to) recordArrival(file, to.channel, to.arrived, text);
    response.writeHead(to ? 204 : 404).end();
  });
  for (const channel of channels) file.add(channel);
  const done = async () => {};
  return {
    ...server,
    endpoints: [...arrivedAt.values()].map((one) => ({ ...one, key, [Symbol.asyncDispose]: done })),
    urlOf: ({ index }) => `${server.origin}/hooks/${index}`,
  };
}

/** Tests of endpoints have no position, and are not recorded. */
function recordArrival(file: HistoryFile, { kind, index }: Channel, arrived: Set<number>, text: string): void {
  const [, digits, type, data] = eventText.exec(text) ?? [];
  if (digits === undefined || type === undefined || data === undefined) return;
  const position = Number(digits);
  arrived.add(position);
  file.add({ kind: 'arrival', channel: { kind, index }, atMs: monotonicMs(), position, digest: digestOfEvent(type, data) });
}
