// What applications say of adopters is gone after its retention and after its erasure: from a dump, and from older backups once the journal is
// applied to them.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { addAnimals, castOf, queryStore } from '../testkit/adopters.ts';
import { dumpDatabase, linesWith, runPostgresTool } from '../testkit/dump.ts';
import { HttpClient } from '../testkit/http.ts';
import { type Key, Store } from '../testkit/store.ts';
import { temporaryFolder } from '../testkit/temporary-folder.ts';
import { until } from '../testkit/until.ts';
import { none } from './claims.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const retentionTimeoutMs = 90_000;

export const applicants: Proof = {
  name: 'applicants',
  promise: 'what an adopter has sent with an application is gone after its retention or erasure, also from older backups that are restored',
  // The mutant reads the journal but erases nothing.
  mutant: [
    {
      file: 'operations/recovery/apply-journal.ts',
      from: '({ applications, extent }) => reapplyApplicantErasure(tx, applications, extent, at)',
      to: 'async ({ applications }) => applications.length > 0',
    },
  ],
  isNightly: true,
  about: ['service/src/adoption/applications', 'service/src/operations/recovery', 'service/src/platform/journal', 'proofs/applicants.ts'],
  run,
};

/** What becomes of the application before it is erased, and what erases it. */
const kinds = {
  declined: 'the worker',
  withdrawn: 'the worker',
  cancelled: 'the worker',
  completed: 'the worker',
  requested: 'orders erase --email',
  adopted: 'orders erase',
  submitted: 'applications erase',
  accepted: 'applications erase',
  unconfirmed: 'applications erase',
  open: 'nothing',
} as const;
type Kind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as Kind[];

interface Applicant {
  readonly kind: Kind;
  readonly id: number;
  /** In name and address. */
  readonly contact: string;
  /** In phone number, answers and note. */
  readonly told: string;
}

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  using folder = temporaryFolder('applicants');
  const journal = path.join(folder.path, 'journal');
  // With a retention of 0 days, the worker's first run erases whatever has ended.
  const env = { HOMEWARD_JOURNAL: journal, HOMEWARD_ADOPTER_RETENTION: '0' };
  await using store = await Store.open({ processes: 1, root, env });
  const { manager, partners } = await castOf(store, 1);
  const partner = partners[0] as Key;
  const steps = new Steps(store, manager, partner);
  const perKind = short ? 1 : 30;

  progress('applying');
  const all = await steps.submitAll(perKind);
  const of = (...wanted: Kind[]) => all.filter(({ kind }) => wanted.includes(kind));
  const early = path.join(folder.path, 'early');
  await runPostgresTool('pg_dump', '--format=custom', `--file=${early}`, store.postgres.url);
  progress('deciding');
  await steps.decideAll(all);
  const late = path.join(folder.path, 'late');
  await runPostgresTool('pg_dump', '--format=custom', `--file=${late}`, store.postgres.url);

  progress('erasing');
  for (const address of new Set(of('requested').map(({ contact }) => addressOf('requested', contact))))
    await store.homeward('orders', 'erase', '--email', address);
  for (const { id } of of('adopted')) await store.homeward('orders', 'erase', String(await steps.orderOf(id)));
  for (const { id } of of('submitted', 'accepted', 'unconfirmed')) await store.homeward('applications', 'erase', String(id));
  store.work();
  const left = 'select count(*) = $1 as done from applications where answers is not null';
  const isErased = async () => (await queryStore<{ done: boolean }>(store, left, [of('open').length]))[0]?.done;
  await until('the retention has run', isErased, { timeoutMs: retentionTimeoutMs });

  progress('searching the dump');
  const gone = kindNames.filter((kind) => kind !== 'open' && kind !== 'completed');
  const words = [...of(...gone).flatMap(({ contact, told }) => [contact, told]), ...of('completed').map(({ told }) => told)];
  // As staff find them, too.
  const fold = 'select adopter_fold(word) as word from unnest($1::text[]) as word';
  const erased = [...words, ...(await queryStore<{ word: string }>(store, fold, [words])).map(({ word }) => word)];
  const dump = await dumpDatabase(store.postgres.url);
  const kept = [...of('completed').map(({ contact }) => contact), ...of('open').flatMap(({ contact, told }) => [contact, told])];
  const keptFound = kept.filter((word) => linesWith(dump, [word]).length > 0);

  const claims: Claim[] = [
    none(`Lines of the dump that contain one of ${erased.length} words of erased applicants`, linesWith(dump, erased).length),
    none('Such lines of the journal', linesWith(readFileSync(journal, 'utf8'), [...erased, ...kept]).length),
    {
      claim: "Words that stay: name and address of completed ones, which go with their order's, and all of open ones",
      bar: `${kept.length} of ${kept.length}`,
      figure: `${keptFound.length} of ${kept.length}`,
      holds: keptFound.length === kept.length,
    },
  ];
  for (const [name, file] of Object.entries({ early, late })) {
    progress(`restoring the ${name} backup`);
    claims.push(...(await restored(store, { name, file, journal, erased, open: of('open') })));
  }
  return claims;
}

interface Backup {
  readonly name: string;
  readonly file: string;
  readonly journal: string;
  readonly erased: readonly string[];
  readonly open: readonly Applicant[];
}

async function restored(store: Store, { name, file, journal, erased, open }: Backup): Promise<Claim[]> {
  await queryStore(store, `create database ${name}`);
  const url = new URL(store.postgres.url);
  url.pathname = `/${name}`;
  await runPostgresTool('pg_restore', '--exit-on-error', `--dbname=${url.href}`, file);
  const before = linesWith(await dumpDatabase(url.href), erased).length;
  await store.homewardAt(url.href, 'journal', 'apply', journal, '--json');
  const dump = await dumpDatabase(url.href);
  const { holds } = JSON.parse(await store.homewardAt(url.href, 'verify', '--json')) as { holds: boolean };
  const what = name === 'early' ? 'in which all are submitted or unconfirmed' : 'in which they have ended';
  const stillOpen = open.filter(({ contact, told }) => linesWith(dump, [contact]).length > 0 && linesWith(dump, [told]).length > 0);
  return [
    none(`The same in an older backup, ${what}, once it is restored and the journal is applied`, linesWith(dump, erased).length),
    {
      claim: `Control: the same in the restored ${name} backup, before the journal is applied`,
      bar: `at least ${erased.length / 2}`,
      figure: String(before),
      holds: before >= erased.length / 2,
    },
    {
      claim: `In the restored ${name} backup: open applications that still have their adopter; \`homeward verify\``,
      bar: `${open.length}; holds`,
      figure: `${stillOpen.length}; ${holds ? 'holds' : 'VIOLATION'}`,
      holds: stillOpen.length === open.length && holds,
    },
  ];
}

/** Of one adopter who has several applications; others have one each. */
const addressOf = (kind: Kind, contact: string) => `${kind === 'requested' ? 'requested.contact' : contact}@applicants.example`;

class Steps {
  readonly #url: string;
  readonly #store: Store;
  readonly #manager: Key;
  readonly #partner: Key;

  constructor(store: Store, manager: Key, partner: Key) {
    this.#url = store.processes[0]?.url ?? '';
    this.#store = store;
    this.#manager = manager;
    this.#partner = partner;
  }

  async submitAll(perKind: number): Promise<Applicant[]> {
    const animals = await addAnimals(this.#store, this.#manager, kindNames.length * perKind);
    const all: Applicant[] = [];
    for (const kind of kindNames) {
      for (let n = 0; n < perKind; n += 1) all.push(await this.#submit(kind, n, animals.pop() ?? 0));
    }
    return all;
  }

  async decideAll(all: readonly Applicant[]): Promise<void> {
    const [staff, partner] = [this.#manager, this.#partner];
    const acts: Record<Kind, (id: number) => Promise<unknown>> = {
      declined: (id) => this.#decide(staff, id, 'decline'),
      requested: (id) => this.#decide(staff, id, 'decline'),
      withdrawn: (id) => this.#decide(partner, id, 'withdraw'),
      accepted: (id) => this.#decide(staff, id, 'accept'),
      cancelled: (id) => this.#accept(id, partner, 'cancel'),
      completed: (id) => this.#accept(id, staff, 'complete'),
      adopted: (id) => this.#accept(id, staff, 'complete'),
      submitted: async () => {},
      unconfirmed: async () => {},
      open: async () => {},
    };
    for (const { kind, id } of all) await acts[kind](id);
  }

  async orderOf(id: number): Promise<number> {
    const [row] = await queryStore<{ id: string }>(this.#store, 'select order_id as id from applications where id = $1', [id]);
    return Number(row?.id);
  }

  async #submit(kind: Kind, n: number, petId: number): Promise<Applicant> {
    const [contact, told] = [`${kind}.contact${n}x`, `${kind}.told${n}x`];
    const adopter = { name: `Ada ${contact}`, email: addressOf(kind, contact), phone: `+43 ${told}` };
    const { id } = await this.#send<{ id: number }>('POST', '/applications', this.#partner, { petId, adopter });
    const answers = JSON.stringify([{ question: 'home', text: 'Where do you live?', answer: `In a flat, ${told}` }]);
    await queryStore(this.#store, 'update applications set answers = $2 where id = $1', [id, answers]);
    if (kind === 'unconfirmed') {
      await queryStore(this.#store, 'delete from application_history where application_id = $1', [id]);
      await queryStore(this.#store, `update applications set status = 'unconfirmed' where id = $1`, [id]);
    } else await this.#send('PATCH', `/applications/${id}`, this.#manager, { note: `Telephoned: ${told}` });
    return { kind, id, contact, told };
  }

  async #accept(id: number, key: Key, action: string): Promise<void> {
    await this.#decide(this.#manager, id, 'accept');
    await this.#send('POST', `/store/orders/${await this.orderOf(id)}/${action}`, key);
  }

  #decide(key: Key, id: number, action: string): Promise<unknown> {
    const body = action === 'decline' ? { message: `To applicant ${id}: declined.told0x` } : undefined;
    return this.#send('POST', `/applications/${id}/${action}`, key, body);
  }

  async #send<Body>(method: string, to: string, { key }: Key, body?: object): Promise<Body> {
    using http = new HttpClient();
    // Its stored response has the adopter too.
    const headers = method === 'POST' ? { 'idempotency-key': randomUUID() } : { 'content-type': 'application/merge-patch+json' };
    const response = await http.send(this.#url + to, { method, key, headers, ...(body && { body }) });
    if (response.status >= 300) throw new Error(`${method} ${to} ended with ${response.status} ${response.text}`);
    return JSON.parse(response.text) as Body;
  }
}
