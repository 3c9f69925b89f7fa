// What partners do while a store is lost and restored: they add animals, read the feed, and receive webhooks.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../../testkit/http.ts';
import { serveLocally } from '../../testkit/local-server.ts';
import type { Key } from '../../testkit/store.ts';

export interface AddedAnimal {
  readonly name: string;
  /** When the store had acknowledged it, from Date.now(). */
  readonly atMs: number;
}

export interface TakenCursor {
  readonly cursor: string;
  readonly atMs: number;
}

const pauseMs = 20;
const cursorEvery = 5;

/** Adds animals one after another, and takes the feed's cursor now and then, until it is stopped. What fails is not counted. */
export class Partner {
  readonly animals: AddedAnimal[] = [];
  readonly cursors: TakenCursor[] = [];
  #isStopped = false;
  readonly #running: Promise<void>;

  constructor(url: string, key: Key, era: string) {
    this.#running = this.#run(url, key, era);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(url: string, { key }: Key, era: string): Promise<void> {
    using http = new HttpClient();
    for (let number = 0; !this.#isStopped; number += 1) {
      const name = `${era} ${number}`;
      const added = await http.send(`${url}/pets`, { method: 'POST', key, body: { name, categoryId: 1 } }).catch(() => undefined);
      if (added?.status === 201) this.animals.push({ name, atMs: Date.now() });
      if (number % cursorEvery === 0) {
        const cursor = await readCursor(http, url, key).catch(() => undefined);
        if (cursor) this.cursors.push({ cursor, atMs: Date.now() });
      }
      await sleep(pauseMs);
    }
  }
}

/** The cursor of the current end of the feed. */
async function readCursor(http: HttpClient, url: string, key: string): Promise<string | undefined> {
  const { headers } = await http.send(`${url}/events?cursor=latest`, { key });
  return /[?&]cursor=([^&>]+)/.exec(String(headers['link']))?.[1];
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** The names of the animals of which something arrived. */
  received(): Set<string>;
  /** Ids under which two different events arrived: a receiver drops the second one as a duplicate. */
  reusedIds(): string[];
}

/** Records what arrives, by the id by which a receiver recognises duplicates. */
export async function openReceiver(): Promise<Receiver> {
  const namesById = new Map<string, Set<string>>();
  const server = await serveLocally(({ headers }, response, text) => {
    const { pet } = (JSON.parse(text) as { data: { pet?: { name: string } } }).data;
    const id = String(headers['webhook-id']);
    if (pet) namesById.set(id, (namesById.get(id) ?? new Set()).add(pet.name));
    response.writeHead(204).end();
  });
  return {
    ...server,
    url: `${server.origin}/hooks`,
    received: () => new Set([...namesById.values()].flatMap((names) => [...names])),
    reusedIds: () => [...namesById].filter(([, names]) => names.size > 1).map(([id]) => id),
  };
}
