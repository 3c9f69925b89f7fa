// One connection to the store's feed for the whole site, however many visitors have a page open.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FeedEvent, HomewardError, type Int64, type Store } from '@homeward/sdk';
import { type ShownStatus, statusShown } from './shown-status.ts';

const visitorsMax = 1_000;
const heartbeatMs = 20_000;
/** Changes that are buffered for pages that reconnect, or that were rendered just before they connected. */
const recentMax = 500;
/** A visitor with more than this unread is too slow and gets disconnected; the browser reconnects. */
const unreadBytesMax = 65_536;
const feedPauseMs = 5_000;

/** What an open page receives: an animal as it is now, or that an order or an application has changed; only its own page shows how. */
type Change =
  | { readonly order: Int64 }
  | {
      readonly application: Int64;
      /** Its adopter has sent it, or confirmed it if the store asks for that. */
      readonly isNew: boolean;
    }
  | {
      readonly animal: Int64;
      readonly name: string;
      readonly categoryId: Int64;
      readonly status: ShownStatus | 'removed';
      readonly words: string;
    };

export class Live {
  readonly #store: Store;
  readonly #ending = new AbortController();
  readonly #visitors = new Set<ServerResponse>();
  /** Starts with a position that is unique to this process, for pages rendered before the first change. */
  readonly #recent: Array<{ readonly position: string; readonly text: string }> = [{ position: randomUUID(), text: '' }];
  readonly #heartbeat = setInterval(() => this.#send(':\n\n'), heartbeatMs);
  readonly #following: Promise<void>;

  constructor(store: Store) {
    this.#store = store;
    this.#following = this.#follow();
  }

  /** The last change that the site knows of: the feed's cursor, so that every process of the site understands it. */
  readonly position = (): string => this.#recent.at(-1)?.position ?? '';

  /** Responds to GET /live with server-sent events; `asOf` is the position of the page that connects. */
  listen(request: IncomingMessage, response: ServerResponse, asOf: string): void {
    // A browser does not reconnect after 204: its page still works, but without live updates.
    if (this.#visitors.size >= visitorsMax || this.#ending.signal.aborted) return void response.writeHead(204).end();
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
    response.write(`retry: 3000\nid: ${this.position()}\n\n${this.#missedSince(request.headers['last-event-id'], asOf)}`);
    this.#visitors.add(response);
    response.once('close', () => this.#visitors.delete(response));
  }

  /** The changes since the last event that the page received, or else since it was rendered. */
  #missedSince(lastReceived: string | string[] | undefined, asOf: string): string {
    const at = this.#recent.findIndex(({ position }) => position === String(lastReceived ?? asOf));
    if (at >= 0)
      return this.#recent
        .slice(at + 1)
        .map(({ text }) => text)
        .join('');
    return lastReceived === undefined ? '' : 'event: missed\ndata: {}\n\n';
  }

  async close(): Promise<void> {
    this.#ending.abort();
    clearInterval(this.#heartbeat);
    for (const visitor of this.#visitors) visitor.end();
    await this.#following;
  }

  /** The SDK reconnects by itself. If it gives up, this starts again: the site works without the feed meanwhile. */
  async #follow(): Promise<void> {
    const { signal } = this.#ending;
    let cursor = 'latest';
    while (!signal.aborted) {
      try {
        for await (const event of this.#store.events.follow({ cursor, signal })) {
          cursor = event.cursor;
          this.#publish(changeOf(event), event.cursor);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof HomewardError && error.code === 'cursor_expired') cursor = 'latest';
        console.error('The feed was lost; reconnecting:', error);
      }
      await sleep(feedPauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** A change that open pages don't show moves the position too, so that pages are read again from the store. */
  #publish(change: Change | undefined, position: string): void {
    const data = JSON.stringify(change, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    const text = change ? `id: ${position}\ndata: ${data}\n\n` : '';
    this.#recent.push({ position, text });
    if (this.#recent.length > recentMax) this.#recent.shift();
    if (text) this.#send(text);
  }

  #send(text: string): void {
    for (const visitor of this.#visitors) {
      if (visitor.writableLength > unreadBytesMax) visitor.destroy();
      else visitor.write(text);
    }
  }
}

function changeOf({ type, data }: FeedEvent): Change | undefined {
  // The visitor who placed the order knows already that it was placed.
  if ('order' in data) return type === 'order.placed' ? undefined : { order: data.order.id };
  if ('application' in data) return { application: data.application.id, isNew: type === 'application.submitted' };
  // A new profile or photo is shown when the page is next loaded.
  if (type === 'pet.profile_changed' || type === 'pet.photos_changed') return undefined;
  // A store may be newer than this site and send other types of events.
  if (!('pet' in data)) return undefined;
  const { id, name, categoryId, status } = data.pet;
  if (type === 'pet.removed') return { animal: id, name, categoryId, status: 'removed', words: 'No longer listed here' };
  // Whether a pending animal is held is not in events that are about something else.
  if (status === 'pending' && (type === 'pet.updated' || type === 'pet.moved')) return undefined;
  return { animal: id, name, categoryId, ...statusShown(status, 'hold' in data ? data.hold : undefined) };
}
