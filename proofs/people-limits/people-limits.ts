// One person sends 1,000 requests a second to two consoles, half of them forms that add animals, while colleagues work there.
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient } from '../../testkit/http.ts';
import { queryAt } from '../../testkit/postgres.ts';
import { quantile } from '../../testkit/quantile.ts';
import { Store } from '../../testkit/store.ts';
import { ConsolePeople, newFormId, type SignedIn } from '../audit/console-people.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';

const colleaguesCount = 50;
const perSecond = 1_000;
const tickMs = 5;
/** Beyond that, what is due is not sent: the client would measure itself. */
const inFlightMax = 400;
/** A colleague opens a page each so often, and every tenth time adds an animal: some 60 requests and 6 acts a minute. */
const colleaguePauseMs = 1_000;
const shortFloodMs = 4_000;
/** More than a minute admits. */
const formsFirst = 70;
const minuteMs = 60_000;
const pages = ['/', '/animals', '/me', '/applications'];

export const peopleLimits: Proof = {
  name: 'people-limits',
  promise: 'a person who sends 1,000 requests a second to two consoles acts 60 times a minute, and costs colleagues nothing',
  /** The mutant: each process counts what a person does by itself. */
  mutant: [
    {
      file: 'console/sessions/person-budget.ts',
      from: '{ personId, purpose: what }',
      to: '{ personId: personId + 1_000_000n * BigInt(process.pid), purpose: what }',
    },
  ],
  runsAlone: true,
  isNightly: true,
  about: ['service/src/console/screens', 'service/src/console/sessions', 'service/src/access/rate-limit', 'proofs/people-limits'],
  run,
};

interface Received {
  readonly status: number;
  readonly ms: number;
}

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 0, root, env: { LOG_LEVEL: 'warn' } });
  await using people = await ConsolePeople.open(store);
  using http = new HttpClient(inFlightMax);
  using colleaguesHttp = new HttpClient(colleaguesCount);
  const created = JSON.parse(await store.homeward('shelters', 'create', '--name', 'Danube', '--json')) as { id: number };
  const urls = [(await store.openConsole()).url, (await store.openConsole()).url].map((url) => url.replace('localhost', '127.0.0.1'));
  const join = () => people.signIn('volunteer', BigInt(created.id));
  const colleagues: SignedIn[] = [];
  while (colleagues.length < colleaguesCount) colleagues.push(await join());
  const greedy = await join();

  const send = async (client: HttpClient, url: string, { cookie, token }: SignedIn, form?: string): Promise<Received> => {
    const startedAtMs = performance.now();
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const values = { _token: token, _form: newFormId(), name: form ?? '', categoryId: '1' };
    const { status } = await (form === undefined
      ? client.send(url, { headers })
      : client.send(`${url}/animals/add`, {
          method: 'POST',
          raw: String(new URLSearchParams(values)),
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        }));
    return { status, ms: performance.now() - startedAtMs };
  };

  /** What colleagues get until the signal. */
  const work = async (until: AbortSignal): Promise<Received[]> => {
    const received: Received[] = [];
    await Promise.all(
      colleagues.map(async (colleague, i) => {
        await sleep((colleaguePauseMs * i) / colleaguesCount);
        for (let n = i; !until.aborted; n += 1) {
          const url = urls[n % 2] ?? '';
          const isForm = n % 10 === 9;
          received.push(
            await send(colleaguesHttp, isForm ? url : `${url}${pages[n % pages.length]}`, colleague, isForm ? 'Of a colleague' : undefined),
          );
          await sleep(colleaguePauseMs);
        }
      }),
    );
    return received;
  };

  /** The forms that were accepted, and the number of all requests. */
  const flood = async (endsAtMs?: number): Promise<{ forms: number; requests: number }> => {
    const result = { forms: 0, requests: 0 };
    // First one after the other, so that each is carried out that is admitted, however busy the machine is.
    for (let n = 0; n < formsFirst; n += 1) {
      const { status } = await send(http, urls[n % 2] ?? '', greedy, 'Of the greedy one');
      result.requests += 1;
      if (status === 303) result.forms += 1;
    }
    const begunAtMs = performance.now();
    const lastsMs = endsAtMs === undefined ? shortFloodMs : endsAtMs - Date.now();
    let sent = 0;
    let inFlight = 0;
    while (performance.now() - begunAtMs < lastsMs) {
      const due = ((performance.now() - begunAtMs) / 1_000) * perSecond;
      for (; sent < due; sent += 1) {
        if (inFlight >= inFlightMax) continue;
        inFlight += 1;
        const url = urls[sent % 2] ?? '';
        // The two consoles get as many forms.
        const isForm = sent % 4 < 2;
        void send(http, isForm ? url : `${url}/animals`, greedy, isForm ? 'Of the greedy one' : undefined)
          .then(
            ({ status }) => {
              result.requests += 1;
              if (isForm && status === 303) result.forms += 1;
            },
            () => undefined,
          )
          .finally(() => {
            inFlight -= 1;
          });
      }
      await sleep(tickMs);
    }
    while (inFlight > 0) await sleep(tickMs);
    return result;
  };

  const during = async <T>(task: Promise<T>): Promise<{ result: T; received: Received[] }> => {
    const ending = new AbortController();
    const working = work(ending.signal);
    const result = await task.finally(() => ending.abort());
    return { result, received: await working };
  };

  progress('colleagues alone');
  await during(sleep(1_000));
  const alone = await during(sleep(short ? 2_500 : 30_000));
  // In whole minutes: what a minute admits is known exactly. The short form stays within one.
  const intoMinuteMs = Date.now() % minuteMs;
  if (!short || intoMinuteMs > minuteMs - 30_000) await sleep(minuteMs - intoMinuteMs + 50);
  const minutes = short ? 1 : 3;
  progress('beside one person with 1,000 requests a second');
  const endsAtMs = short ? undefined : Math.ceil(Date.now() / minuteMs) * minuteMs + (minutes - 1) * minuteMs - 1_000;
  const beganAtMs = Date.now();
  const beside = await during(flood(endsAtMs));
  const seconds = (Date.now() - beganAtMs) / 1_000;
  const [row] = await queryAt<{ count: string }>(store.postgres.url, `select count(*) from pets where name = 'Of the greedy one'`);
  const acts = Number(row?.count);
  const { forms, requests } = beside.result;
  const other = beside.received.filter(({ status }) => status === 429);
  const failed = [...alone.received, ...beside.received].filter(({ status }) => status >= 500);
  const p99 = (received: readonly Received[]) =>
    quantile(
      received.map(({ ms }) => ms),
      0.99,
    );
  const [before, after] = [p99(alone.received), p99(beside.received)];
  return [
    {
      claim: `Forms that are accepted in ${minutes} minute${minutes === 1 ? '' : 's'} of a person who sends some ${perSecond.toLocaleString('en')} requests a second to two consoles, half of them forms that add an animal; animals that are added`,
      bar: `${60 * minutes} at most; as many`,
      figure: `${forms}; ${acts}; of ${requests.toLocaleString('en')} requests in ${seconds.toFixed(0)} s`,
      holds: forms > 0 && acts >= forms && acts <= 60 * minutes,
    },
    {
      claim: `Requests of ${colleaguesCount} colleagues beside that which are 429`,
      bar: '0',
      figure: `${other.length} of ${beside.received.length}`,
      holds: other.length === 0 && beside.received.length > 0,
    },
    {
      claim: 'Those that fail, also without that person: what waits too long for a busy machine does',
      bar: '0',
      figure: `${failed.length}`,
      holds: failed.length === 0,
      isTimed: true,
    },
    {
      claim: 'How long 99% of the requests of colleagues take at most, beside that and alone',
      bar: '≤ 2 times',
      figure: `${(after / before).toFixed(2)} times: ${after.toFixed(0)} ms and ${before.toFixed(0)} ms`,
      holds: after <= 2 * before,
      isTimed: true,
    },
  ];
}
