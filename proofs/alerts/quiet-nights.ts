// Nights in which a person has nothing to do. Nobody may be woken up.
import { setTimeout as sleep } from 'node:timers/promises';
import { makePhoto, photographerOf } from './photographer.ts';
import { haste } from './prometheus.ts';
import type { WatchedStore } from './watched-store.ts';

export interface QuietNight {
  readonly name: string;
  /** Lasts until the time, by performance.now(). */
  pass(watched: WatchedStore, untilMs: number): Promise<void>;
}

/** As real ones would be, divided by `haste`. */
const requestIntervalMs = 15_000 / haste;
const uploadMs = 3_000;
const listsBesideUpload = 15;

export const quietNights: readonly QuietNight[] = [
  {
    name: 'few requests: one in 15 s',
    pass: async (watched, untilMs) => alone(watched, () => sendFew(watched, untilMs)),
  },
  {
    name: 'one error: one request in 15 s, and one is 503',
    pass: async (watched, untilMs) =>
      alone(watched, async () => {
        const staff = await photographerOf(watched);
        const lock = await watched.session('begin', `select from pets where id = ${staff.petId} for update`);
        const { status } = await staff.rename();
        await lock[Symbol.asyncDispose]();
        if (status !== 503) throw new Error(`a change of a locked animal got ${status}`);
        await sendFew(watched, untilMs);
      }),
  },
  {
    name: 'slow uploads: each takes 3 s, beside 15 lists',
    pass: async (watched, untilMs) =>
      alone(watched, async () => {
        const staff = await photographerOf(watched);
        const photo = await makePhoto();
        while (performance.now() < untilMs) {
          const uploaded = staff.upload(photo, uploadMs);
          for (let i = 0; i < listsBesideUpload; i += 1) {
            await watched.list();
            await sleep(uploadMs / listsBesideUpload);
          }
          const { status, text } = await uploaded;
          if (status !== 202) throw new Error(`a slow upload got ${status}: ${text}`);
        }
      }),
  },
  {
    name: 'a deploy: the worker and every API process are replaced, one after the other, under load',
    async pass(watched, untilMs) {
      await watched.stopWorker();
      watched.startWorker();
      await watched.replaceApis();
      await sleepUntil(untilMs);
    },
  },
  {
    name: 'a restart: PostgreSQL, Redis, the worker and an API process, under load',
    async pass(watched, untilMs) {
      const { postgres, redis } = watched.store;
      await postgres.signal('SIGINT');
      await postgres.start();
      await redis.signal('SIGTERM');
      await redis.start();
      await watched.stopWorker();
      watched.startWorker();
      watched.killApi(1);
      await watched.startApi(1);
      await sleepUntil(untilMs);
    },
  },
  {
    name: 'one of four API processes is down, under load',
    async pass(watched, untilMs) {
      watched.killApi(1);
      await sleepUntil(untilMs);
      await watched.startApi(1);
    },
  },
];

/** Without the load of the other faults. */
async function alone(watched: WatchedStore, act: () => Promise<void>): Promise<void> {
  await watched.pauseLoad();
  try {
    await act();
  } finally {
    watched.resumeLoad();
  }
}

async function sendFew(watched: WatchedStore, untilMs: number): Promise<void> {
  while (performance.now() < untilMs) {
    await watched.list();
    await sleep(requestIntervalMs);
  }
}

const sleepUntil = (untilMs: number) => sleep(Math.max(untilMs - performance.now(), 0));
