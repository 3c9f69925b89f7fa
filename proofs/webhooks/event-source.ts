// Records events as a change of an animal or an order does, at a steady rate or at once.

import { setTimeout as sleep } from 'node:timers/promises';
import type { NewEvent } from '../../service/src/changes/events/event-queries.ts';
import { recordEvents } from '../../service/src/changes/events/events.ts';
import type { Dependencies } from '../../service/src/dependencies.ts';
import { theService } from '../../service/src/domain/actor.ts';
import { AppError } from '../../service/src/platform/errors.ts';

/** The number of the event is the name of the animal, so that a receiver knows it again. */
export const petEvent = (petId: bigint, number: number | string): NewEvent => ({
  type: 'pet.updated',
  petId,
  clientId: null,
  data: `{"pet":{"id":${petId},"name":"${number}","categoryId":1,"status":"available"}}`,
});

export const orderEvent = (petId: bigint, clientId: number, number: number): NewEvent => ({
  type: 'order.placed',
  petId,
  clientId: BigInt(clientId),
  data: `{"order":{"id":${number},"petId":${petId},"status":"placed","createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:00.000Z"}}`,
});

const triesMax = 10;

/** Commits all of them in one transaction, and returns the time of the commit. Tries again while all connections are busy. */
export async function commitEvents({ db }: Pick<Dependencies, 'db'>, events: readonly NewEvent[]): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      await db.transaction((tx) => recordEvents(tx, ...events), theService);
      return Date.now();
    } catch (error) {
      if (tries >= triesMax || !(error instanceof AppError) || error.code !== 'unavailable') throw error;
    }
  }
}

interface Steady {
  readonly perSecond: number;
  readonly forMs: number;
  event(index: number): NewEvent;
  progress(text: string): void;
}

/** Commits events one by one at a fixed rate, without waiting for earlier ones. Returns the time of each commit. */
export async function commitSteadily(
  dependencies: Pick<Dependencies, 'db'>,
  { perSecond, forMs, event, progress }: Steady,
): Promise<number[]> {
  const committedAtMs: number[] = [];
  const count = Math.round((forMs / 1_000) * perSecond);
  const pending: Promise<void>[] = [];
  const startMs = performance.now();
  for (let i = 0; i < count; i += 1) {
    const aheadMs = startMs + (i * 1_000) / perSecond - performance.now();
    if (aheadMs > 0) await sleep(aheadMs);
    if (i % perSecond === 0) progress(`${i} of ${count} events`);
    pending.push(
      commitEvents(dependencies, [event(i)]).then((atMs) => {
        committedAtMs[i] = atMs;
      }),
    );
  }
  await Promise.all(pending);
  return committedAtMs;
}
