// Keys that are used while they are revoked, and a client that sends more than its limit.
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { monotonicMs, type Outcome } from './history.ts';
import type { LimitedKey, RevocableKeys } from './recorder.ts';
import type { HistoryFile } from './recorder-file.ts';
import type { Requests } from './recorder-requests.ts';

interface Parts {
  readonly requests: Requests;
  readonly file: HistoryFile;
  readonly stopped: AbortSignal;
}

const useEveryMs = 500;
const revokeEveryMs = 4_000;
const commandTimeoutMs = 20_000;
/** While its limit is used up. Few, or the key would be banned, and its limit would not be tried any more. */
const pauseMs = 1_000;

/** Each key alone, at both processes in turn. */
export async function useKeys({ keys }: RevocableKeys, { requests, file, stopped }: Parts): Promise<void> {
  await Promise.all(
    keys.map(async ({ id, key }) => {
      while (!stopped.aborted) {
        const { attempt } = await requests.send({ method: 'GET', path: '/pets?limit=1', key });
        file.add({ kind: 'key-use', keyId: id, attempt });
        await pause(useEveryMs, stopped);
      }
    }),
  );
}

export async function revokeKeys({ keys, command }: RevocableKeys, { file, stopped }: Omit<Parts, 'requests'>): Promise<void> {
  for (const { id } of keys) {
    let outcome: Outcome = 'unknown';
    while (outcome !== 'ok' && !stopped.aborted) {
      await pause(revokeEveryMs, stopped);
      if (stopped.aborted) return;
      const beginMs = monotonicMs();
      outcome = await runs(command.map((word) => word.replace('{id}', String(id))));
      file.add({ kind: 'revocation', keyId: id, beginMs, endMs: monotonicMs(), outcome });
    }
  }
}

export async function overdriveLimit({ key, perMinute }: LimitedKey, { requests, file, stopped }: Parts): Promise<void> {
  const underWay = new Set<Promise<void>>();
  let isLimited = false;
  const send = async () => {
    const { attempt, headers } = await requests.send({ method: 'GET', path: '/pets?limit=1', key });
    isLimited = attempt.status === 429;
    const resetSeconds = Number(headers['x-ratelimit-reset']);
    const dayRemaining = Number(/"day";r=(\d+)/.exec(String(headers['ratelimit']))?.[1]);
    file.add({
      kind: 'limited-use',
      attempt,
      ...(Number.isFinite(resetSeconds) && { resetSeconds }),
      ...(Number.isFinite(dayRemaining) && { dayRemaining }),
    });
  };
  while (!stopped.aborted) {
    if (underWay.size < perMinute) {
      const one = send().finally(() => underWay.delete(one));
      underWay.add(one);
    }
    // Twice what the limit allows.
    await pause(isLimited ? pauseMs : 30_000 / perMinute, stopped);
  }
  await Promise.all(underWay);
}

async function runs([file = '', ...args]: readonly string[]): Promise<Outcome> {
  return promisify(execFile)(file, args, { timeout: commandTimeoutMs }).then(
    () => 'ok',
    () => 'unknown',
  );
}

const pause = (ms: number, stopped: AbortSignal): Promise<void> => sleep(ms, undefined, { signal: stopped }).catch(() => {});
