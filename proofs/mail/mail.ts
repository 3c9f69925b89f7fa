// Queued mail, from the workers' processes to a real SMTP server that misbehaves, while workers are killed and adopters are erased.

import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitAdopterMail, cancelAdopterMail } from '../../service/src/adoption/applications/application-mail.ts';
import { openDependencies } from '../../service/src/dependencies.ts';
import { theService } from '../../service/src/domain/actor.ts';
import { loadConfig } from '../../service/src/platform/config.ts';
import { queryStore } from '../../testkit/adopters.ts';
import { faultsOfMail, hostileNames } from '../../testkit/hostile-names.ts';
import { type MailReply, type MailServer, type ReceivedMail, startMailServer } from '../../testkit/mail-server.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { endProcess } from '../../testkit/running-processes.ts';
import { SeededRandom } from '../../testkit/seeded-random.ts';
import { Store } from '../../testkit/store.ts';
import { until } from '../../testkit/until.ts';
import { every, grouped, none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { otherJobsBesideHanging, queueDeclined } from './other-jobs.ts';

interface Size {
  readonly messages: number;
  readonly kills: number;
  readonly erased: number;
  readonly killPauseMs: number;
}

const full: Size = { messages: 10_000, kills: 20, erased: 300, killPauseMs: 6_000 };
const small: Size = { messages: 540, kills: 2, erased: 20, killPauseMs: 1_000 };
/** Each may tell 5,000 adopters of its decisions in a day. */
const shelters = 4;
const workersAtOnce = 2;
const senders = 4;
/** What a worker has sent and not recorded when it is killed was taken by the server within this time before. */
const unrecordedMs = 2_000;

export const mail: Proof = {
  name: 'mail',
  promise: 'every message is sent, twice only if its text was cut off or its worker killed, and none begins after an erasure',
  mutant: [
    {
      file: 'changes/mail/mail-sender.ts',
      from: 'if (signal.aborted || !(await beginMail(db, claim, begunSeconds))) throw new NotBegun();',
      to: 'if (signal.aborted) throw new NotBegun();',
    },
  ],
  isNightly: true,
  about: [
    'service/src/changes/mail',
    'service/src/adoption/applications/application-mail.ts',
    'service/src/adoption/shelters/mail-senders.ts',
  ],
  timeoutMs: 1_800_000,
  run,
};

async function run({ short, root, progress, seed = 1 }: ProofContext): Promise<Claim[]> {
  const size = short ? small : full;
  const misbehaviour = new Misbehaviour(new SeededRandom(seed));
  await using server = await startMailServer({
    recipient: (address) => misbehaviour.toRecipient(address),
    text: (mail) => misbehaviour.toText(mail),
  });
  await using store = await Store.open({ processes: 0, root, env: envOf(server) });
  await addApplications(store, size.messages);
  const trial = new Trial(store, server, size, progress);
  await trial.run();
  const { sent, failed } = await countEnds(store);
  const addresses = Array.from({ length: size.messages }, (_, i) => addressOf(i + 1));
  const taken = Map.groupBy(server.accepted, ({ to }) => to[0] ?? '');
  const expected = addresses.filter((address) => !misbehaviour.rejects(address) && !trial.erasedAtMs.has(address));
  const twice = [...taken].filter(([, mails]) => mails.length > 1);
  const unexplained = twice.filter(([address, mails]) => !misbehaviour.wasCut(address) && !trial.wasKilledAfter(mails[0]));
  const late = server.received.filter(({ to: [to = ''], atMs }) => atMs > (trial.erasedAtMs.get(to) ?? Number.POSITIVE_INFINITY));
  const ids = Map.groupBy(server.received, ({ to }) => to[0] ?? '');
  const changed = [...ids.values()].filter((mails) => new Set(mails.map(({ messageId }) => messageId)).size > 1);
  const faulty = await findFaulty(server.accepted);
  progress(`${grouped(server.accepted.length)} messages taken`);
  return [
    none(
      `${grouped(size.messages)} messages with greylisting, resets and silence, ${size.kills} workers killed: missing`,
      expected.filter((address) => !taken.has(address)),
      { of: expected.length, control: sent > 0 },
    ),
    none(
      'Messages taken twice, neither cut off after their text nor of a worker that was killed',
      unexplained.map(([address]) => address),
      {
        more: ` (${twice.length} with a reason)`,
        control: twice.length <= misbehaviour.cuts + senders * size.kills,
      },
    ),
    none('Messages of which two attempts have different Message-IDs', changed.length),
    every(
      'Permanent rejections that staff see',
      failed,
      addresses.filter((one) => misbehaviour.wasRejected(one) && !trial.erasedAtMs.has(one)).length,
    ),
    none(
      `Messages begun after the erasure of their adopter had returned, of ${trial.erasedAtMs.size}`,
      late.map(({ to }) => to.join()),
      {
        control: trial.erasedAtMs.size > 0 && [...trial.erasedAtMs.keys()].some((address) => !taken.has(address)),
      },
    ),
    none(`Headers or recipients added by ${hostileNames.length} hostile names`, faulty, { of: taken.size }),
    await otherJobsBesideHanging(store, server, { samples: short ? 80 : 600, progress }),
  ];
}

const shelterAddress = 'hello@danube.example';
const sender = 'Danube Shelters <adoption@store.example>';
const envOf = ({ url }: MailServer) => ({
  HOMEWARD_SMTP_URL: url,
  HOMEWARD_MAIL_FROM: sender,
  HOMEWARD_PUBLIC_URL: 'https://api.example.org',
  LOG_LEVEL: 'warn',
});

const addressOf = (id: number) => `adopter${id}@example.org`;
const addressPattern = /^adopter(\d+)@/;

/** Decides what the server does, and records which texts it has cut off. */
class Misbehaviour {
  readonly #random: SeededRandom;
  readonly #seen = new Set<string>();
  readonly #cut = new Set<string>();
  readonly #rejected = new Set<string>();

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  get cuts(): number {
    return this.#cut.size;
  }

  /** Each fiftieth. */
  rejects(address: string): boolean {
    return Number(addressPattern.exec(address)?.[1] ?? 1) % 50 === 0;
  }

  wasRejected(address: string): boolean {
    return this.#rejected.has(address);
  }

  wasCut(address: string): boolean {
    return this.#cut.has(address);
  }

  async toRecipient(address: string): Promise<MailReply> {
    // A real server looks things up, too.
    await sleep(this.#random.next() * 20);
    if (this.rejects(address)) {
      this.#rejected.add(address);
      return { code: 550, text: `5.1.1 <${address}>: no such user` };
    }
    if (!this.#seen.has(address)) {
      this.#seen.add(address);
      const random = this.#random.next();
      if (random < 0.2) return { code: 451, text: '4.7.1 Greylisted' };
      if (random < 0.22) return this.#silence('reset');
    }
    return 'accept';
  }

  async toText({ to: [address = ''] }: ReceivedMail): Promise<MailReply> {
    if (this.#cut.has(address) || this.#random.next() > 0.05) return 'accept';
    this.#cut.add(address);
    // It may have taken the message.
    return this.#random.next() < 0.5 ? 'reset' : this.#silence('reset');
  }

  async #silence(end: MailReply): Promise<MailReply> {
    await sleep(500);
    return end;
  }
}

class Trial {
  readonly erasedAtMs = new Map<string, number>();
  readonly #store: Store;
  readonly #server: MailServer;
  readonly #size: Size;
  readonly #progress: (text: string) => void;
  readonly #killedAtMs: number[] = [];

  constructor(store: Store, server: MailServer, size: Size, progress: (text: string) => void) {
    this.#store = store;
    this.#server = server;
    this.#size = size;
    this.#progress = progress;
  }

  async run(): Promise<void> {
    const isRunning = new AbortController();
    const workers = Array.from({ length: workersAtOnce }, () => this.#store.work());
    const [erasing, hurrying] = [this.#erase(), this.#hurry(isRunning.signal)];
    await until('mail is sent', () => this.#server.accepted.length > 0);
    for (let kills = 0; kills < this.#size.kills; kills += 1) {
      await sleep(this.#size.killPauseMs * (0.5 + Math.random()));
      await this.#kill(workers);
      this.#progress(`${kills + 1} of ${this.#size.kills} workers killed, ${grouped(this.#server.accepted.length)} messages taken`);
    }
    await erasing;
    // What is left has been deferred, or belongs to a worker that was killed. None of those that run has a claim after its end.
    await until('what can be sent is sent', async () => (await this.#countDue()) === 0, {
      timeoutMs: 600_000,
      intervalMs: 250,
    });
    isRunning.abort();
    await hurrying;
    await Promise.all(workers.map((worker) => this.#store.stopWorker(worker)));
    await this.#drain();
  }

  /** Whether the worker that sent it may have been killed before it could record that. */
  wasKilledAfter(mail: ReceivedMail | undefined): boolean {
    return this.#killedAtMs.some((killedAtMs) => mail && mail.atMs <= killedAtMs && mail.atMs > killedAtMs - unrecordedMs);
  }

  async #kill(workers: ChildProcess[]): Promise<void> {
    const [worker] = workers.splice(0, 1);
    if (!worker) return;
    await endProcess(worker, 'SIGKILL');
    this.#killedAtMs.push(performance.now());
    workers.push(this.#store.work());
  }

  /** The claims of killed workers end now, since nobody is left who has one. */
  async #drain(): Promise<void> {
    await queryStore(this.#store, `update mail set due_at = now() where state = 'queued'`);
    const workers = Array.from({ length: workersAtOnce }, () => this.#store.work());
    const stopping = new AbortController();
    const hurrying = this.#hurry(stopping.signal);
    await until('all mail has ended', async () => (await queryStore<{ n: number }>(this.#store, queuedText))[0]?.n === 0, {
      timeoutMs: 600_000,
      intervalMs: 250,
    });
    stopping.abort();
    await hurrying;
    await Promise.all(workers.map((worker) => this.#store.stopWorker(worker)));
  }

  /** As if time went by: what was deferred is due at once. What a worker has is left alone. */
  async #hurry(signal: AbortSignal): Promise<void> {
    await using database = await connectTo(this.#store.postgres.url);
    while (!signal.aborted) {
      await database.query(`update mail set due_at = now() where state = 'queued' and claim is null and due_at > now()`);
      await sleep(300);
    }
  }

  async #countDue(): Promise<number> {
    const [row] = await queryStore<{ n: number }>(this.#store, `${queuedText} and (claim is null or due_at <= now())`);
    return row?.n ?? 0;
  }

  /** Chooses those that a worker is just about to send. */
  async #erase(): Promise<void> {
    const env = { DATABASE_URL: this.#store.postgres.url, REDIS_URL: this.#store.redis.url, LOG_LEVEL: 'silent' };
    await using dependencies = await openDependencies(loadConfig(env));
    const { db } = dependencies;
    await db.open();
    const text = `select subject_id as id from mail where state = 'queued' and claim is not null and due_at > now() and begun_at is null limit 1`;
    for (let tries = 0; tries < 50 * this.#size.erased && this.erasedAtMs.size < this.#size.erased; tries += 1) {
      const [row] = (await db.query<{ id: bigint }>({ text })).rows;
      if (!row) {
        await sleep(10);
        continue;
      }
      const { id } = row;
      await db.transaction(async (tx) => {
        await tx.query({
          text: 'update applications set adopter_name = null, adopter_email = null, adopter_address = null where id = $1',
          values: [id],
        });
        await cancelAdopterMail(tx, [id]);
      }, theService);
      await awaitAdopterMail(db, [id]);
      this.erasedAtMs.set(addressOf(Number(id)), performance.now());
      await sleep(20);
    }
  }
}

const queuedText = `select count(*)::int as n from mail where state = 'queued'`;

async function countEnds(store: Store): Promise<{ sent: number; failed: number }> {
  const [row] = await queryStore<{ sent: number; failed: number }>(
    store,
    `select count(*) filter (where state = 'sent')::int as sent, count(*) filter (where state = 'failed' and failure = '550 5.1.1')::int as failed from mail`,
  );
  return row ?? { sent: 0, failed: 0 };
}

/** Applications with hostile names, of which each adopter is told. */
async function addApplications(store: Store, count: number): Promise<void> {
  await store.createKey('partner', 'pro');
  await store.homeward('pets', 'add', '--name', 'Biscuit', '--category', '1');
  for (let i = 1; i < shelters; i += 1) await store.homeward('shelters', 'create', '--name', `Shelter ${i}`);
  await queryStore(store, 'update shelters set email = $1', [shelterAddress]);
  await queryStore(store, 'update confirmed_shelters set email = $1', [shelterAddress]);
  const names = Array.from({ length: count }, (_, i) => storable(hostileNames[i % hostileNames.length] ?? ''));
  await queryStore(
    store,
    `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, is_confirmed, answers)
      select (select min(id) from clients), (select min(id) from pets),
        (select id from shelters order by id offset n % ${shelters} limit 1), 'declined', true, name, 'adopter' || n || '@example.org', 'adopter' || n || '@example.org', true, '[]'
      from unnest($1::text[]) with ordinality as given (name, n) order by n`,
    [names],
  );
  await queueDeclined(store);
}

/** What PostgreSQL stores. The API rejects all control characters. */
const storable = (name: string) => name.toWellFormed().replaceAll('\0', ' ').slice(0, 200);

/** Of a message to an adopter whose name is harmless. */
const headers = [
  'auto-submitted',
  'content-language',
  'content-transfer-encoding',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'reply-to',
  'subject',
  'to',
  'x-auto-response-suppress',
];

async function findFaulty(mails: readonly ReceivedMail[]): Promise<string[]> {
  const found: string[] = [];
  for (const mail of mails) {
    const faults = await faultsOfMail(mail, { to: mail.to[0] ?? '', replyTo: shelterAddress, keys: headers });
    if (faults.length > 0) found.push(`${mail.to}: ${faults}`);
  }
  return found;
}
