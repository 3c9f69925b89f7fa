// The same POST many times at once, and a POST whose process is killed at every point of its execution.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { addAnimals, castOf, place, queryStore, verify } from '../testkit/adopters.ts';
import { HttpClient, type Response } from '../testkit/http.ts';
import { type Key, type ServeProcess, Store } from '../testkit/store.ts';
import { noIllegalTransition } from './claims.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const overloadedShareMax = 0.1;
const atOnce = 50;

export const idempotency: Proof = {
  name: 'idempotency',
  promise: 'a retried POST has one effect and one response, whatever crashes in between',
  // The mutant ignores the stored response.
  mutant: [{ file: 'access/idempotency/idempotent-route.ts', from: 'if (stored) {', to: 'if (stored && Math.random() < 0) {' }],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 2, root, env: { LOG_LEVEL: 'warn' } });
  const cast = await castOf(store, 1);
  const [partner] = cast.partners;
  if (!partner) throw new Error('no partner');
  const rounds = short ? 10 : 200;
  const concurrent = await sendConcurrently(store, partner, await addAnimals(store, cast.manager, rounds), progress);
  const crashes = await sweepCrashPoints(store, partner, await addAnimals(store, cast.manager, 60), short ? 4 : 1, progress);
  return [...concurrent, ...crashes, noIllegalTransition(await verify(store))];
}

async function sendConcurrently(store: Store, key: Key, animals: readonly number[], progress: ProofContext['progress']): Promise<Claim[]> {
  using http = new HttpClient(atOnce);
  let oneEffect = 0;
  let oneResponse = 0;
  let inProgress = 0;
  let overloaded = 0;
  for (const [round, petId] of animals.entries()) {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: `Twin ${petId}`, categoryId: 2 };
    const responses = await Promise.all(
      Array.from({ length: atOnce }, (_, i) =>
        http.send(`${store.processes[i % 2]?.url}/pets`, { method: 'POST', key: key.key, body, headers }),
      ),
    );
    const later = await retry(() => http.send(`${store.processes[0]?.url}/pets`, { method: 'POST', key: key.key, body, headers }));
    const [row] = await queryStore<{ count: number }>(store, 'select count(*)::int as count from pets where name = $1', [body.name]);
    if (row?.count === 1) oneEffect += 1;
    inProgress += responses.filter(({ status }) => status === 409).length;
    const allowed = responses.every(
      ({ status, text }) =>
        (status === 201 && text === later.text) ||
        (status === 409 && text.includes('idempotency_in_progress')) ||
        (status === 503 && text.includes('unavailable')),
    );
    overloaded += responses.filter(({ status }) => status === 503).length;
    if (allowed && later.status === 201 && responses.some(({ status }) => status === 201)) oneResponse += 1;
    progress(`${round + 1} of ${animals.length} rounds`);
  }
  const of = `of ${animals.length}`;
  return [
    {
      claim: `The same Idempotency-Key ${atOnce} times at once, to 2 processes: rounds with one effect`,
      bar: 'every one',
      figure: `${oneEffect} ${of}`,
      holds: oneEffect === animals.length,
    },
    {
      claim: 'Rounds in which every response was the stored one, byte for byte, or 409; or 503, on a busy machine',
      bar: 'every one',
      figure: `${oneResponse} ${of} (${inProgress} responses were 409)`,
      holds: oneResponse === animals.length,
    },
    {
      claim: 'Of these responses, 503',
      bar: `${overloadedShareMax * 100} % at most`,
      figure: `${overloaded} of ${atOnce * animals.length}`,
      holds: overloaded <= overloadedShareMax * atOnce * animals.length,
      isTimed: true,
    },
  ];
}

/** The system calls by which a process sends to PostgreSQL, to Redis and to the caller. strace counts each of them separately. */
const sendingCalls = ['write', 'writev'];
const pointsMax = 30;

interface CrashPoint {
  readonly survived: boolean;
  /** The response was 503, which says nothing about this point. */
  readonly wasBusy: boolean;
  /** The order existed before the request was retried. */
  readonly committed: boolean;
  /** There is one order in the end, and the retry got the original response if there was one. */
  readonly right: boolean;
}

/** Kills the process at its n-th send, for each n that a request reaches. */
async function sweepCrashPoints(
  store: Store,
  key: Key,
  animals: number[],
  step: number,
  progress: ProofContext['progress'],
): Promise<Claim[]> {
  const points: CrashPoint[] = [];
  for (const call of sendingCalls) {
    // The commit and the response are among the few plain writes, so none of those is skipped.
    for (let n = 1; n <= pointsMax; ) {
      progress(`killed at ${call} ${n}`);
      const petId = animals.pop();
      if (petId === undefined) throw new Error('too few animals');
      const point = await crash(store, key, petId, call, n);
      points.push(point);
      if (point.wasBusy) continue;
      if (point.survived) break;
      n += call === 'write' ? 1 : step;
    }
  }
  const killed = points.filter((point) => !point.survived);
  const afterCommit = killed.filter((point) => point.committed);
  const right = points.filter((point) => point.right);
  return [
    {
      claim: `placeOrder killed at its n-th ${sendingCalls.join(' or ')}, for each n until it survives, then retried: exactly one order, and the original response`,
      bar: 'every point; some killed before the commit, some after',
      figure: `${right.length} of ${points.length} (${killed.length - afterCommit.length} killed before, ${afterCommit.length} after)`,
      holds: right.length === points.length && afterCommit.length > 0 && killed.length > afterCommit.length,
    },
  ];
}

async function crash(store: Store, key: Key, petId: number, call: string, n: number): Promise<CrashPoint> {
  using http = new HttpClient(4);
  const victim = await store.serve();
  const headers = { 'idempotency-key': randomUUID() };
  await http.send(`${victim.url}/pets?limit=1`, { key: key.key });
  const tracer = await killAtCall(victim, call, n);
  const first = await place(http, victim.url, key, petId, headers).catch(() => undefined);
  // Kill the tracer first: otherwise it would wait for a process that it has stopped.
  tracer.kill('SIGKILL');
  victim.child.kill('SIGKILL');
  const before = await countOrders(store, petId);
  const retried = await retry(() => place(http, store.processes[0]?.url ?? '', key, petId, headers));
  const one = (await countOrders(store, petId)) === 1;
  const wasBusy = first?.status === 503;
  const sameResponse = first === undefined || wasBusy || first.text === retried.text;
  const right = one && retried.status === 201 && sameResponse;
  return { survived: wasBusy || first?.status === 201, wasBusy, committed: before === 1, right };
}

async function countOrders(store: Store, petId: number): Promise<number> {
  const [row] = await queryStore<{ count: number }>(store, 'select count(*)::int as count from orders where pet_id = $1', [petId]);
  return row?.count ?? 0;
}

async function killAtCall({ child }: ServeProcess, call: string, n: number) {
  const inject = `inject=${call}:signal=SIGKILL:when=${n}`;
  const tracer = spawn('strace', ['-f', '-p', String(child.pid), '-e', `trace=${call}`, '-e', inject, '-o', '/dev/null'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // strace writes to stderr once it is attached.
  await Promise.race([once(tracer.stderr, 'data'), once(tracer, 'exit')]);
  return tracer;
}

/** Retries the same request while its outcome is unknown or it is in progress, as a careful client would. */
async function retry(send: () => Promise<Response>): Promise<Response> {
  for (let tries = 0; tries < 50; tries += 1) {
    const response = await send().catch(() => undefined);
    if (response && response.status !== 503 && !response.text.includes('idempotency_in_progress')) return response;
    await sleep(100);
  }
  throw new Error('no retry got a response');
}
