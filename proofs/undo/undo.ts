// People act in a console and undo it: alone, after another act, as the mail becomes due, two at once, and while a worker is killed.
import { undoableKinds } from '../../service/src/domain/undo.ts';
import { castOf, decide, queryStore, verify } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { startMailServer } from '../../testkit/mail-server.ts';
import { type Key, type ServeProcess, Store } from '../../testkit/store.ts';
import { ConsolePeople, newFormId, type SignedIn } from '../audit/console-people.ts';
import { grouped, noIllegalTransition, none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';

const rounds = { short: 60, long: 2_000 };
const consoles = { short: 2, long: 4 };
/** A person has 60 acts a minute. */
const roundsOfPerson = 10;
const playersMax = 4;
const dueSeconds = 0.03;

const kinds = undoableKinds.filter((kind) => kind !== 'photo_removed');
const situations = ['alone', 'another act', 'mail just due', 'two at once', 'worker killed'] as const;

export const undo: Proof = {
  name: 'undo',
  promise:
    'what a person has just done is undone as a whole and without mail, or not at all, and no mail about it is sent before it is final',
  isNightly: true,
  about: ['service/src/adoption', 'service/src/changes/mail', 'service/src/console/undo', 'service/src/domain', 'service/migrations'],
  // The mutant sends mail at once.
  mutant: [{ file: 'changes/mail/queue-queries.ts', from: '$7::timestamptz) as due)', to: 'least($7::timestamptz, now())) as due)' }],
  timeoutMs: 1_800_000,
  run,
};

interface Run {
  readonly store: Store;
  readonly http: HttpClient;
  readonly api: string;
  readonly manager: Key;
  readonly consoles: readonly ServeProcess[];
  readonly halfStates: string[];
  readonly unexplained: string[];
  readonly mailOfUndone: string[];
  undone: number;
  rejected: number;
}

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const size = short ? 'short' : 'long';
  await using server = await startMailServer();
  const env = {
    LOG_LEVEL: 'warn',
    HOMEWARD_SMTP_URL: server.url,
    HOMEWARD_MAIL_FROM: 'Danube <adoption@example.org>',
    HOMEWARD_PUBLIC_URL: 'https://store.example',
  };
  await using store = await Store.open({ processes: 1, root, env });
  const { manager } = await castOf(store, 0);
  await using people = await ConsolePeople.open(store);
  const opened: ServeProcess[] = [];
  while (opened.length < consoles[size]) opened.push(await store.openConsole({ HOMEWARD_TRUSTED_PROXIES: '127.0.0.1,::1' }));
  let worker = store.work();
  using http = new HttpClient(playersMax * 2);
  const run: Run = {
    store,
    http,
    api: store.processes[0]?.url ?? '',
    manager,
    consoles: opened,
    halfStates: [],
    unexplained: [],
    mailOfUndone: [],
    undone: 0,
    rejected: 0,
  };
  let next = 0;
  const killWorker = () => {
    worker.kill('SIGKILL');
    worker = store.work();
  };
  const playRounds = async () => {
    let person: SignedIn | undefined;
    for (let done = 0; next < rounds[size]; done += 1) {
      const round = next;
      next += 1;
      if (done % roundsOfPerson === 0) person = await people.signIn('admin', null);
      if (person) await play(run, person, round, killWorker);
      if (round % 100 === 99) progress(`${round + 1} rounds`);
    }
  };
  await Promise.all(Array.from({ length: playersMax }, playRounds));
  const [early] = await queryStore<{ count: string; sent: string }>(
    store,
    `select count(*) filter (where claimed_at < final_at) as count, count(claimed_at) as sent from mail join undoable_acts on undoable_acts.id = act_id`,
  );
  return [
    none('Acts that are half undone, or undone twice', run.halfStates, {
      of: run.undone + run.rejected,
      more: `: ${grouped(run.undone)} undone, ${grouped(run.rejected)} not`,
      control: run.undone > 0 && run.rejected > 0,
    }),
    none('Acts that are not undone, without a page that says why', run.unexplained, { of: run.rejected }),
    none('Acts that are undone, with mail', run.mailOfUndone, { of: run.undone }),
    none('Messages that a worker has taken before their act was final', Number(early?.count), { of: Number(early?.sent) }),
    noIllegalTransition(await verify(store)),
  ];
}

/** One act, its situation, and what has become of it. */
async function play(run: Run, person: SignedIn, round: number, killWorker: () => void): Promise<void> {
  const { store, consoles: processes } = run;
  const kind = kinds[round % kinds.length];
  const situation = situations[Math.floor(round / kinds.length) % situations.length];
  const at = (n: number) => processes[(round + n) % processes.length]?.url ?? '';
  const send = async (n: number, path: string, values: Readonly<Record<string, string>> = {}) => {
    // Each from somewhere else: an address may undo 60 times a minute.
    const headers = { cookie: person.cookie, 'sec-fetch-site': 'same-origin', 'x-forwarded-for': `10.0.${round >> 8}.${round & 255}` };
    const body = new URLSearchParams({ ...values, _token: person.token, _form: newFormId() });
    const response = await fetch(`${at(n)}${path}`, { method: 'POST', redirect: 'manual', headers, body });
    return { status: response.status, text: await response.text() };
  };
  const subject = await prepare(run, round);
  const [path, values] = await formOf(run, kind ?? 'adopted', subject);
  const before = await stateOf(store, subject.petId);
  const acted = await send(0, path, values);
  const [act] = await queryStore<{ id: string }>(store, 'select id from undoable_acts where pet_id = $1 order by id desc limit 1', [
    subject.petId,
  ]);
  const name = `round ${round}: ${kind}, ${situation}`;
  if (acted.status !== 303 || !act) {
    run.halfStates.push(`${name}: the act is ${acted.status}`);
    return;
  }
  if (situation === 'another act') {
    // As somebody else's change is recorded. Of an animal that is gone there is none.
    const changed = `insert into history (pet_id, from_status, to_status, why, kind)
      select id, status::text, status::text, 'edited by staff', 'pet_edited' from pets where id = $1 and removed_at is null`;
    await queryStore(store, changed, [subject.petId]);
  }
  const after = await stateOf(store, subject.petId);
  if (situation === 'mail just due' || situation === 'worker killed') {
    await queryStore(
      store,
      `with final as (update undoable_acts set final_at = clock_timestamp() + make_interval(secs => $2) where id = $1 returning id, final_at)
        update mail set due_at = final.final_at from final where act_id = final.id and state = 'queued'`,
      [act.id, dueSeconds],
    );
  }
  if (situation === 'worker killed' && round % 5 === 0) killWorker();
  const responses = await Promise.all([1, ...(situation === 'two at once' ? [2] : [])].map((n) => send(n, `/acts/${act.id}/undo`)));
  const undone = responses.filter(({ status }) => status === 303).length;
  const found = await stateOf(store, subject.petId);
  if (undone > 1 || found !== (undone === 1 ? before : after)) run.halfStates.push(name);
  for (const { status, text } of responses)
    if (status !== 303 && !/meanwhile|too late|was undone at/.test(text)) run.unexplained.push(`${name}: ${status}`);
  if (undone === 0) run.rejected += 1;
  else {
    run.undone += 1;
    const mail = await queryStore(store, 'select 1 from mail where act_id = $1', [act.id]);
    if (mail.length > 0) run.mailOfUndone.push(name);
  }
}

interface Subject {
  readonly petId: number;
  readonly applicationIds: readonly number[];
}

/** An animal for which three have applied. */
async function prepare({ http, api, manager: { key } }: Run, round: number): Promise<Subject> {
  const post = async (path: string, body: object): Promise<number> => {
    const response = await http.send(`${api}${path}`, { method: 'POST', key, body });
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${response.text}`);
    return Number(JSON.parse(response.text).id);
  };
  const petId = await post('/pets', { name: `Animal ${round}`, categoryId: 1 });
  const applicationIds = [];
  for (const name of ['Ada', 'Ben', 'Cleo']) {
    const email = `${name.toLowerCase()}.${round}@example.org`;
    applicationIds.push(await post('/applications', { petId, adopter: { name, email }, answers: {}, confirmed: true }));
  }
  return { petId, applicationIds };
}

/** What leads to the act, and the form that carries it out. */
async function formOf(
  { http, api, manager }: Run,
  kind: (typeof kinds)[number],
  { petId, applicationIds: [first = 0, second = 0] }: Subject,
): Promise<readonly [string, Readonly<Record<string, string>>]> {
  const animal = `/animals/${petId}`;
  const hold = () =>
    http.send(`${api}/pets/${petId}/hold`, { method: 'PUT', key: manager.key, body: { reason: 'medical', note: 'Eye drops' } });
  const order = async () => `/orders/${JSON.parse((await decide(http, api, manager, first, 'accept')).text).orderId}`;
  switch (kind) {
    case 'adopted':
      return [`${animal}/sold`, {}];
    case 'accepted':
      return [`/applications/${first}/accept`, {}];
    case 'declined':
      return [`/applications/${second}/decline`, { message: 'We are sorry.' }];
    case 'handed_over':
      return [`${await order()}/complete`, {}];
    case 'taken_back': {
      const path = await order();
      await http.send(`${api}/store${path}/complete`, { method: 'POST', key: manager.key });
      return [`${path}/return`, {}];
    }
    case 'left':
      return [`${animal}/leaving/note`, { type: 'transferred' }];
    case 'removed':
      return [`${animal}/leaving/remove`, {}];
    case 'held':
      return [`${animal}/hold/save`, { reason: 'stray' }];
    case 'hold_ended':
      await hold();
      return [`${animal}/hold/end`, {}];
    default:
      throw new Error(`${kind} has no form here`);
  }
}

/** The animal, its orders that have not come to nothing, and its applications, without the times of changes. */
async function stateOf(store: Store, petId: number): Promise<string> {
  const [row] = await queryStore<{ state: string }>(
    store,
    `select jsonb_build_object(
        'pet', (select to_jsonb(pets) - 'updated_at' from pets where id = $1),
        'orders', (select jsonb_agg(to_jsonb(orders) - 'updated_at' order by id) from orders where pet_id = $1 and status <> 'cancelled'),
        'applications', (select jsonb_agg(to_jsonb(applications) - '{updated_at,acted_at,order_id,is_confirmed}'::text[] order by id)
          from applications where pet_id = $1))::text as state`,
    [petId],
  );
  return row?.state ?? '';
}
