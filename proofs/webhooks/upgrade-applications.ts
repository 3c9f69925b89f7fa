// Processes of the release before know no applications, but change the animals and orders that have some: this release settles them.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { act, addAnimals, apply, decide, generous, queryStore, verify } from '../../testkit/adopters.ts';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { until } from '../../testkit/until.ts';
import { applyFor, decideAsStaff, type Run } from '../applications/application-cast.ts';
import { grouped, noIllegalTransition, none } from '../claims.ts';
import type { Claim, ProofContext } from '../proof.ts';

interface Upgrade {
  readonly short: boolean;
  /** The source tree of the release before. */
  readonly before: string;
  /** That of this release, if it is a mutant's. */
  readonly root: string | undefined;
  readonly progress: ProofContext['progress'];
}

/** First one after another, so that each was done, and then beside everything else. */
const sizes = { short: { ofEach: 1, animals: 30, seconds: 3 }, long: { ofEach: 20, animals: 400, seconds: 60 } };
const applicantsOfAnimal = 4;
const staffOfEach = 4;
const settledMsMax = 1_000;
const startMsMax = 60_000;

export async function upgradeApplications({ short, before, root, progress }: Upgrade): Promise<Claim[]> {
  const size = sizes[short ? 'short' : 'long'];
  await using resources = new AsyncDisposableStack();
  const env = { LOG_LEVEL: 'warn' };
  progress('applications beside the release before');
  const old = resources.use(await Store.open({ processes: 1, root: before, env }));
  const oldUrl = old.processes[0]?.url ?? '';
  const partners = [await old.createKey('first', generous), await old.createKey('second', generous)];
  const manager = await old.createKey('store', generous, '--scopes', 'pets:read,pets:write,orders:read,orders:write,store:manage');
  const http = resources.use(new HttpClient(64));
  await http.send(`${oldUrl}/shelters`, { method: 'POST', key: manager.key, body: { name: 'Danube Shelter' } });
  const animals = await addAnimals(old, manager, size.animals);
  const store = resources.use(await Store.open({ processes: 1, root, env, beside: old }));
  store.work();
  const isWorking = async () => (await queryStore(store, 'select from webhook_workers')).length > 0;
  await until('a worker', isWorking, { timeoutMs: startMsMax });

  const done: Done = { complete: 0, cancel: 0, sold: 0, removed: 0, moved: 0 };
  const callers = { http, oldUrl, url: store.processes[0]?.url ?? '', partner: partners[0] as Key, manager };
  for (let i = 0; i < size.ofEach; i += 1) for (const what of Object.keys(done) as Array<keyof Done>) await actOnce(callers, what, done);
  const endsAtMs = Date.now() + size.seconds * 1_000;
  const run: Run = {
    animals,
    endsAtMs,
    acknowledged: [],
    failures: new Map(),
    live: [...store.processes],
    requests: 0,
    waits: 0,
    kills: 0,
  };
  const shares = animals.flatMap((petId) => Array.from({ length: applicantsOfAnimal }, (_, adopter) => ({ petId, adopter })));
  const byStaff = Array.from({ length: staffOfEach });
  await Promise.all([
    ...partners.map((key, index) =>
      applyFor(
        http,
        key,
        shares.filter((_, i) => i % partners.length === index),
        run,
      ),
    ),
    ...byStaff.map(() => decideAsStaff(http, manager, run)),
    ...byStaff.map(() => actBefore(http, oldUrl, manager, run, done)),
  ]);
  await sleep(settledMsMax);
  return [...(await judge(store, done)), noIllegalTransition(await verify(store))];
}

/** How often a process of the release before did what concerns applications. */
type Done = Record<'complete' | 'cancel' | 'sold' | 'removed' | 'moved', number>;

interface Callers {
  readonly http: HttpClient;
  readonly oldUrl: string;
  readonly url: string;
  readonly partner: Key;
  readonly manager: Key;
}

/** Two apply for a new animal, and the release before acts on it; staff have accepted one of them if that acts on its order. */
async function actOnce({ http, oldUrl, url, partner, manager }: Callers, what: keyof Done, done: Done): Promise<void> {
  const pet = await http.send(`${oldUrl}/pets`, { method: 'POST', key: manager.key, body: { name: 'Biscuit', categoryId: 1 } });
  const { id: petId } = read<{ id: number }>(pet);
  const { id } = read<{ id: number }>(await apply(http, url, partner, petId, `ada.${petId}@example.org`));
  read(await apply(http, url, partner, petId, `bob.${petId}@example.org`));
  const { orderId } = isOfOrder(what) ? read<{ orderId: number }>(await decide(http, url, manager, id, 'accept')) : { orderId: 0 };
  read(await actThrough(http, oldUrl, manager, what, { petId, orderId, shelterId: 2 }));
  done[what] += 1;
}

const isOfOrder = (what: keyof Done) => what === 'complete' || what === 'cancel';

function read<Body>({ status, text }: Response): Body {
  if (status >= 300) throw new Error(`expected success; got ${status} ${text}`);
  return (text ? JSON.parse(text) : undefined) as Body;
}

function actThrough(
  http: HttpClient,
  url: string,
  key: Key,
  what: keyof Done,
  { petId, orderId, shelterId }: { readonly petId: number; readonly orderId: number; readonly shelterId: number },
): Promise<Response> {
  if (isOfOrder(what)) return act(http, url, key, orderId, what);
  const pet = `${url}/pets/${petId}`;
  if (what === 'removed') return http.send(pet, { method: 'DELETE', key: key.key });
  if (what === 'moved') return http.send(`${pet}/shelter`, { method: 'PUT', key: key.key, body: { shelterId } });
  return http.send(pet, { method: 'PATCH', key: key.key, body: { status: 'sold' } });
}

/** Staff who use a process of the release before. */
async function actBefore(http: HttpClient, url: string, key: Key, { animals, endsAtMs }: Run, done: Done): Promise<void> {
  while (Date.now() < endsAtMs) {
    const petId = animals[randomInt(animals.length)] ?? 0;
    const orders = await http.send(`${url}/store/orders?petId=${petId}&status=approved`, { key: key.key });
    const [order] = JSON.parse(orders.text) as Array<{ id: number }>;
    const whats = order ? withOrder : withoutOrder;
    const what = whats[randomInt(whats.length)];
    if (what === 'available') {
      await http.send(`${url}/pets/${petId}`, { method: 'PATCH', key: key.key, body: { status: 'available' } });
    } else if (what) {
      const ids = { petId, orderId: order?.id ?? 0, shelterId: 1 + randomInt(2) };
      if ((await actThrough(http, url, key, what, ids)).status < 300) done[what] += 1;
    }
  }
}

/** The more often something is named, the likelier it is. */
const withOrder = ['complete', 'complete', 'cancel', 'moved'] as const;
const withoutOrder = [...Array(9).fill('available'), ...Array(9).fill('sold'), ...Array(9).fill('moved'), 'removed'] as ReadonlyArray<
  keyof Done | 'available'
>;

async function judge(store: Store, done: Done): Promise<Claim[]> {
  const [row] = await queryStore<{ left: number; settled: number; elsewhere: number; longestMs: number | null }>(
    store,
    `with settled as (select application_history.at, pet_id from application_history join applications on applications.id = application_id
        where by = 'service' and application_history.client_id is null)
      select count(*) filter (where case status when 'accepted' then order_status not in ('placed', 'approved') else gone end)::int as left,
        count(*) filter (where shelter_id <> shelter_of_pet)::int as elsewhere,
        (select count(*)::int from settled) as settled,
        (select (extract(epoch from max(at - (select max(at) from history
            where history.pet_id = settled.pet_id and history.at <= settled.at and to_status in ('completed', 'cancelled', 'sold', 'removed'))))
          * 1000)::float from settled) as "longestMs"
      from (select applications.status, applications.shelter_id, pets.shelter_id as shelter_of_pet, orders.status as order_status,
            pets.status = 'sold' or pets.removed_at is not null as gone
          from applications join pets on pets.id = applications.pet_id left join orders on orders.id = applications.order_id
          where applications.status in ('submitted', 'reviewing', 'accepted')) as open`,
  );
  const what = Object.entries(done).map(([name, count]) => `${grouped(count)} × ${name}`);
  return [
    none(
      `Applications left open, or with another shelter than their animal, after processes of the release before acted: ${what.join(', ')}`,
      (row?.left ?? Number.NaN) + (row?.elsewhere ?? Number.NaN),
      {
        more: `; the worker settled ${grouped(row?.settled ?? 0)}`,
        control: (row?.settled ?? 0) > 0 && Object.values(done).every((count) => count > 0),
      },
    ),
    settledClaim(row?.longestMs ?? Number.NaN),
  ];
}

const settledClaim = (longestMs: number): Claim => ({
  claim: 'Time for which such an application was left open, at most',
  bar: `${settledMsMax} ms`,
  figure: `${longestMs.toFixed(0)} ms`,
  holds: longestMs <= settledMsMax,
  isTimed: true,
});
