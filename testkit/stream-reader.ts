// A reader of server-sent events that records what arrived, and when.
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  /** From performance.now(). */
  readonly atMs: number;
}

interface StreamOptions {
  readonly key: string;
  readonly lastId?: string;
  /** If false, the reader reads only the headers. */
  readonly reads?: boolean;
  readonly keepsText?: boolean;
  readonly keepsEvents?: boolean;
}

const openTimeoutMs = 30_000;

export class StreamReader implements Disposable {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The events that arrived, unless `keepsEvents` is false. */
  readonly events: SentEvent[] = [];
  count = 0;
  /** Everything that arrived, if `keepsText` is set. */
  text = '';
  /** The id to send as Last-Event-ID when a reader reconnects. */
  lastId: string | undefined;
  isEnded = false;
  readonly #response: IncomingMessage;
  readonly #keepsEvents: boolean;
  #rest = '';

  private constructor(response: IncomingMessage, { keepsText = false, keepsEvents = true }: StreamOptions) {
    this.#response = response;
    this.#keepsEvents = keepsEvents;
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      if (keepsText) this.text += text;
      this.#take(text);
    });
    response.on('close', () => (this.isEnded = true));
    response.on('error', () => (this.isEnded = true));
  }

  static async open(url: string, options: StreamOptions): Promise<StreamReader> {
    const { key, lastId, reads = true } = options;
    const headers = {
      accept: 'text/event-stream',
      authorization: `Bearer ${key}`,
      ...(lastId !== undefined && { 'last-event-id': lastId }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { agent: false, headers }, (response) => {
        outgoing.setTimeout(0);
        const reader = new StreamReader(response, options);
        if (!reads) response.pause();
        resolve(reader);
      });
      outgoing.setTimeout(openTimeoutMs, () => outgoing.destroy(new Error(`no response in ${openTimeoutMs} ms`)));
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  /** Resolves once `count` events have arrived in total. */
  async untilCount(count: number, timeoutMs = 5_000): Promise<readonly SentEvent[]> {
    return this.until(() => this.count >= count, `${count} events`, timeoutMs).then(() => this.events);
  }

  async until(condition: () => boolean, what: string, timeoutMs = 5_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error(`no ${what} in ${timeoutMs} ms; there are ${this.count} events`);
      await sleep(5);
    }
  }

  resume(): void {
    this.#response.resume();
  }

  [Symbol.dispose](): void {
    this.#response.destroy();
  }

  /** Parses as the standard requires: a blank line ends an event, and an event without data only updates the last id. */
  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
      );
      this.lastId = fields.get('id') ?? this.lastId;
      const data = fields.get('data');
      if (data === undefined) continue;
      this.count += 1;
      if (this.#keepsEvents)
        this.events.push({ id: fields.get('id') ?? '', type: fields.get('event') ?? 'message', data, atMs: performance.now() });
    }
  }
}
