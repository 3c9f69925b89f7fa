// Partners who apply for their adopters and withdraw, and staff who decide: each goes on until the time is up.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, apply, decide } from '../../testkit/adopters.ts';
import type { HttpClient, Response } from '../../testkit/http.ts';
import type { Key, ServeProcess } from '../../testkit/store.ts';

/** An act on an application or an order that was answered with a 2xx. */
export interface Acknowledged {
  readonly of: 'application' | 'order';
  readonly id: number;
  readonly to: string;
  readonly keyId: number;
}

export interface Run {
  readonly animals: readonly number[];
  readonly endsAtMs: number;
  readonly acknowledged: Acknowledged[];
  /** Responses of 5xx that do not say when to retry. */
  readonly failures: Map<string, number>;
  live: ServeProcess[];
  requests: number;
  /** How often a caller was told to retry later, and waited. */
  waits: number;
  kills: number;
}

interface Application {
  readonly id: number;
  readonly status: string;
  readonly orderId: number | null;
}

/** Half of the acts of staff are for one animal of so many: the more acts for one animal, the more races. */
const popularEvery = 20;
const pauseMs = 20;

/** Sends the partner's share of the applications, and then withdraws and sends again. */
export async function applyFor(
  http: HttpClient,
  key: Key,
  share: ReadonlyArray<{ petId: number; adopter: number }>,
  run: Run,
): Promise<void> {
  const own: number[] = [];
  const waiting = [...share];
  while (Date.now() < run.endsAtMs) {
    const next = waiting.pop() ?? (randomInt(3) > 0 ? share[randomInt(share.length)] : undefined);
    if (next) {
      const response = await send(run, (url) => apply(http, url, key, next.petId, `adopter.${next.petId}.${next.adopter}@example.org`));
      if (response?.status === 201) own.push(note(run, key, response));
    } else if (own.length > 0) {
      const [id = 0] = own.splice(randomInt(own.length), 1);
      const response = await send(run, (url) => decide(http, url, key, id, 'withdraw'));
      if (response?.status === 200) note(run, key, response);
    }
    await sleep(pauseMs);
  }
}

/** Looks at the applications for an animal, and decides on one of them or on its order. */
export async function decideAsStaff(http: HttpClient, key: Key, run: Run): Promise<void> {
  while (Date.now() < run.endsAtMs) {
    const petId = run.animals[randomInt(randomInt(2) ? Math.ceil(run.animals.length / popularEvery) : run.animals.length)] ?? 0;
    const list = await send(run, (url) => http.send(`${url}/applications?petId=${petId}&limit=100`, { key: key.key }));
    if (list?.status !== 200) continue;
    const applications = JSON.parse(list.text) as Application[];
    const accepted = applications.find(({ status }) => status === 'accepted');
    // Also another one, as if the list had been read before.
    const chosen = accepted && randomInt(3) > 0 ? accepted : applications[randomInt(Math.max(applications.length, 1))];
    const names = decisions[chosen?.status ?? ''] ?? [];
    const name = names[randomInt(Math.max(names.length, 1))];
    if (!chosen || !name) continue;
    const response = await send(run, (url) =>
      isOfOrder(name) ? act(http, url, key, chosen.orderId ?? 0, name) : decide(http, url, key, chosen.id, name),
    );
    if (response?.status === 200) note(run, key, response, isOfOrder(name) ? 'order' : 'application');
  }
}

const decisions: Readonly<Record<string, readonly string[]>> = {
  submitted: ['review', 'accept', 'accept', 'decline'],
  reviewing: ['accept', 'accept', 'decline'],
  accepted: ['complete', 'complete', 'complete', 'cancel', 'withdraw'],
  declined: ['reopen'],
  closed: ['reopen'],
  // The adopter brings the animal back, so that others can have it.
  completed: ['return'],
};
const isOfOrder = (name: string) => name === 'complete' || name === 'cancel' || name === 'return';

/** Undefined: the process was killed, so the outcome is unknown. */
async function send(run: Run, request: (url: string) => Promise<Response>): Promise<Response | undefined> {
  const process = run.live[randomInt(run.live.length)];
  if (!process) return undefined;
  run.requests += 1;
  const response = await request(process.url).catch(() => undefined);
  if (!response) await sleep(pauseMs);
  else if (response.status === 503 && response.headers['retry-after'] !== undefined) {
    run.waits += 1;
    await sleep(Math.min(Number(response.headers['retry-after']) * 1_000, run.endsAtMs - Date.now()));
  } else if (response.status >= 500) {
    const what = `${response.status} ${JSON.parse(response.text).message}`;
    run.failures.set(what, (run.failures.get(what) ?? 0) + 1);
  }
  return response;
}

function note(run: Run, key: Key, { text }: Response, of: Acknowledged['of'] = 'application'): number {
  const { id, status } = JSON.parse(text) as { id: number; status: string };
  run.acknowledged.push({ of, id, to: status, keyId: key.id });
  return id;
}
