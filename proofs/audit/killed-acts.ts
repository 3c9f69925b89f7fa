// Admins act in the console while its processes are killed. Then the audit must have each act that was acknowledged once, and no other.
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTo } from '../../testkit/postgres.ts';
import { SeededRandom } from '../../testkit/seeded-random.ts';
import type { ServeProcess, Store } from '../../testkit/store.ts';
import type { Claim } from '../proof.ts';
import { type ConsolePeople, newFormId, type SignedIn } from './console-people.ts';

const actors = 8;
const processes = 3;
/** While all processes are busy with other forms, or start. */
const triesMax = 100;
const pauseMs = 100;
const betweenCutsMs = 100;
const peoplePerActor = 20;
/** Of an admin, before somebody else goes on: a person has 60 acts a minute, and a form may be sent several times. */
const actsOfAdminMax = 25;
const roles = ['staff', 'admin'] as const;

/** What became of a form that was sent. Unknown: its process was killed, and nobody has sent it again. */
type Outcome = 'acknowledged' | 'rejected' | 'unknown';

interface Act {
  readonly kind: 'person.invited' | 'person.changed' | 'person.removed';
  /** The address of an invitation, the new name of a change, the id of who is removed: of this act alone. */
  readonly mark: string;
  readonly outcome: Outcome;
}

interface Row {
  readonly act: string;
  readonly targetId: string;
  readonly before: { readonly name?: string } | null;
  readonly after: { readonly name?: string } | null;
}

interface Found {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly isRemoved: boolean;
}

interface Size {
  readonly acts: number;
  readonly kills: number;
  readonly seed: number;
}

export async function killedActClaims(store: Store, people: ConsolePeople, size: Size): Promise<Claim[]> {
  const signedIn: SignedIn[] = [];
  while (signedIn.length < actors + size.acts / actsOfAdminMax) signedIn.push(await people.signIn('admin', null));
  // Signed in before anything is cut: each actor takes the next.
  const waiting = [...signedIn];
  const consoles: ServeProcess[] = [];
  while (consoles.length < processes) consoles.push(await store.openConsole());
  const acts: Act[] = [];
  let resent = 0;
  let killed = 0;
  let cuts = 0;
  const actOn = async (random: SeededRandom) => {
    const known = new Map<string, string>();
    let admin = waiting.pop();
    for (let done = 1; admin && acts.length < size.acts; done += 1) {
      if (done % actsOfAdminMax === 0) admin = waiting.pop() ?? admin;
      const { path, values, kind, mark } = chooseAct(known, random, `${admin.person.id}-${acts.length}-${random.between(1, 1e9)}`);
      const form = { ...values, _token: admin.token, _form: newFormId() };
      let outcome: Outcome = 'unknown';
      for (let tries = 0; outcome === 'unknown' && tries < triesMax; tries += 1) {
        const at = random.pick(consoles);
        const received = await admin.post(`${at.url}${path}`, form).catch(() => undefined);
        if (received?.status === 303) {
          outcome = 'acknowledged';
          if (kind === 'person.invited') known.set(/\d+$/.exec(received.location)?.[0] ?? '', mark);
        } else if (received && received.status < 500 && received.status !== 429) outcome = 'rejected';
        // Half of those who do not know it send the form again, as browsers offer, until they do.
        else if (received === undefined && random.chance(0.5)) break;
        else {
          resent += 1;
          await sleep(pauseMs);
        }
      }
      if (kind === 'person.removed') known.delete(mark);
      acts.push({ kind, mark, outcome });
    }
  };
  const kill = async (random: SeededRandom) => {
    for (let next = 1; next <= size.kills; next += 1) {
      while (acts.length < (next * size.acts) / (size.kills + 1)) await sleep(1);
      // Nothing more is sent to it: what is cut off is what it has begun.
      const [victim] = consoles.splice(random.between(0, consoles.length - 1), 1);
      victim?.child.kill('SIGKILL');
      killed += 1;
      consoles.push(await store.openConsole());
    }
  };
  const cut = async () => {
    await using client = await connectTo(store.postgres.url);
    for (; acts.length < size.acts; await sleep(betweenCutsMs)) {
      const { rowCount } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction' and pid <> pg_backend_pid() limit 1`,
      );
      cuts += rowCount ?? 0;
    }
  };
  const acting = Array.from({ length: actors }, (_, i) => actOn(new SeededRandom(size.seed + i)));
  await Promise.all([...acting, kill(new SeededRandom(size.seed - 1)), cut()]);
  const ids = signedIn.map(({ person }) => person.id);
  const { rows, found } = await readStore(store, ids);
  const wrong = judge(acts, rows, found);
  const count = (outcome: Outcome) => acts.filter((act) => act.outcome === outcome).length;
  return [
    {
      claim: `${acts.length} acts of admins in the console, ${actors} at once, of ${processes} processes of which ${killed} are killed meanwhile, and ${cuts} of whose transactions lose their connection: acts that were acknowledged and are not in the audit once, rows of the audit without their act, and changes without a row`,
      bar: `0 of ${size.acts} or more, with ${size.kills} killed`,
      figure: `${wrong.length} (${count('acknowledged')} acknowledged, ${count('rejected')} rejected, ${count('unknown')} without a response, ${resent} sent again; ${rows.length} rows)${wrong.length > 0 ? `: ${wrong.slice(0, 3).join('; ')}` : ''}`,
      holds: wrong.length === 0 && acts.length >= size.acts && killed === size.kills && cuts > 0 && count('acknowledged') > acts.length / 2,
    },
  ];
}

function chooseAct(known: ReadonlyMap<string, string>, random: SeededRandom, mark: string) {
  const role = random.pick(roles);
  const ids = [...known.keys()];
  const id = ids.length === 0 ? undefined : random.pick(ids);
  const dice = random.between(0, 9);
  if (id === undefined || (dice < 3 && ids.length < peoplePerActor)) {
    const email = `invited-${mark}@example.org`;
    return {
      kind: 'person.invited',
      mark: email,
      path: '/people/invite',
      values: { email, name: `First ${email}`, role, reach: 'store', shelter: '' },
    } as const;
  }
  if (dice < 4) return { kind: 'person.removed', mark: id, path: `/people/${id}/remove`, values: {} } as const;
  // Some are rejected: there is no such shelter.
  const place = dice === 9 ? { reach: 'shelter', shelter: '4711' } : { reach: 'store', shelter: '' };
  return {
    kind: 'person.changed',
    mark: `Name ${mark}`,
    path: `/people/${id}/change`,
    values: { name: `Name ${mark}`, role, ...place },
  } as const;
}

async function readStore(store: Store, actorIds: readonly bigint[]): Promise<{ rows: Row[]; found: Found[] }> {
  await using client = await connectTo(store.postgres.url);
  const { rows } = await client.query<Row>(
    `select act, target_id::text as "targetId", before, after from audit
      where person_id = any($1::bigint[]) and act in ('person.invited', 'person.changed', 'person.removed') order by target_id, id`,
    [actorIds.map(String)],
  );
  const { rows: found } = await client.query<Found>(
    `select id::text as id, email, name, removed_at is not null as "isRemoved" from people where email like 'invited-%'`,
  );
  return { rows, found };
}

/** What is wrong: in words. */
function judge(acts: readonly Act[], rows: readonly Row[], found: readonly Found[]): string[] {
  const wrong: string[] = [];
  const emails = new Map(found.map(({ id, email }) => [id, email]));
  const markOf = ({ act, targetId, after }: Row) =>
    act === 'person.invited' ? emails.get(targetId) : act === 'person.changed' ? after?.name : targetId;
  const counts = Map.groupBy(rows, (row) => `${row.act} ${markOf(row)}`);
  for (const { kind, mark, outcome } of acts) {
    const count = counts.get(`${kind} ${mark}`)?.length ?? 0;
    const isRight = outcome === 'acknowledged' ? count === 1 : outcome === 'rejected' ? count === 0 : count <= 1;
    if (!isRight) wrong.push(`${kind} ${mark}, ${outcome}: ${count} rows`);
  }
  const sent = new Set(acts.map(({ kind, mark }) => `${kind} ${mark}`));
  for (const [name, { length }] of counts) if (!sent.has(name)) wrong.push(`${length} rows without an act: ${name}`);
  const byTarget = Map.groupBy(rows, ({ targetId }) => targetId);
  for (const { id, email, name, isRemoved } of found) {
    const own = byTarget.get(id) ?? [];
    let expected = `First ${email}`;
    for (const { act, before, after } of own) {
      if (act !== 'person.changed') continue;
      if (before?.name !== expected) wrong.push(`person ${id}: a change from ${before?.name}, which was ${expected}`);
      expected = after?.name ?? expected;
    }
    if (name !== expected) wrong.push(`person ${id} is ${name}, and by the audit ${expected}`);
    if (isRemoved !== own.some(({ act }) => act === 'person.removed'))
      wrong.push(`person ${id}: removed, and in the audit, are not the same`);
    if (own[0]?.act !== 'person.invited') wrong.push(`person ${id} is there without an invitation in the audit`);
  }
  return wrong;
}
