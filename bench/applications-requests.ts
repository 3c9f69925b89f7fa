// The requests about applications that are timed: pages of every kind of list, from its front to its end, and what staff and partners do.
import type { ApplicationStatus } from '../service/src/domain/application-states.ts';
import { writeCursor } from '../service/src/platform/http/paging.ts';
import type { HttpClient } from '../testkit/http.ts';
import { connectTo } from '../testkit/postgres.ts';
import type { Landmarks } from './applications-fill.ts';

/** Whose key asks. `shelters` are some that were drawn, `shelter` has the most applications; `large` is the client that has the most. */
export interface Keys {
  readonly staff: string;
  readonly shelter: string;
  readonly shelters: readonly string[];
  readonly large: { readonly clientId: number; readonly key: string };
  readonly partners: readonly string[];
}

/** One store under measurement. */
export interface Target extends Landmarks {
  readonly url: string;
  readonly databaseUrl: string;
  readonly keys: Keys;
  /** Where pages begin, by the name of the list. */
  readonly starts: ReadonlyMap<string, readonly number[]>;
  /** Submitted ones, each for another animal that is available. */
  readonly candidates: number[];
}

interface Filter {
  readonly petId?: number;
  readonly shelterId?: number;
  readonly status?: ApplicationStatus;
}

interface List {
  readonly as: 'staff' | 'shelter' | 'shelters' | 'large' | 'partner';
  readonly from: 'front' | 'middle' | 'end';
  readonly filter?: (target: Landmarks) => Filter;
}

const ofStatus = (status: ApplicationStatus) => () => ({ status });
const ofCrowd = ({ crowdedPets }: Landmarks) => ({ petId: drawOne(crowdedPets) });
const ofFirstCrowd = ({ crowdedPets }: Landmarks) => ({ petId: crowdedPets[0] ?? 0 });
const ofOldPet = ({ oldPetId: petId }: Landmarks) => ({ petId });
const ofAnyPet = ({ applications }: Landmarks) => ({ petId: 100 + drawBelow(applications / 5 - 100) });
const ofLargeShelter = ({ largeShelterId: shelterId }: Landmarks) => ({ shelterId });
const queueOfLargeShelter = (landmarks: Landmarks) => ({ ...ofLargeShelter(landmarks), status: 'submitted' as const });
const ofAnyShelter = ({ applications }: Landmarks) => ({ shelterId: 3 + drawBelow(applications / 250 - 3) });

export const lists: Readonly<Record<string, List>> = {
  "a shelter's queue": { as: 'shelters', from: 'front', filter: ofStatus('submitted') },
  "a large shelter's queue": { as: 'shelter', from: 'front', filter: ofStatus('submitted') },
  "a large shelter's queue, middle": { as: 'shelter', from: 'middle', filter: ofStatus('submitted') },
  "a large shelter's queue, end": { as: 'shelter', from: 'end', filter: ofStatus('submitted') },
  "a large shelter's, all": { as: 'shelter', from: 'front' },
  "a large shelter's, all, middle": { as: 'shelter', from: 'middle' },
  "a large shelter's, all, end": { as: 'shelter', from: 'end' },
  "an animal's": { as: 'staff', from: 'front', filter: ofAnyPet },
  'an animal with 500 open': { as: 'staff', from: 'front', filter: ofCrowd },
  'an animal with 500 open, middle': { as: 'staff', from: 'middle', filter: ofFirstCrowd },
  'an animal with 500 open, by its shelter': { as: 'shelters', from: 'front', filter: ofCrowd },
  'an animal with 500 open, by a partner': { as: 'partner', from: 'front', filter: ofCrowd },
  'an animal with 20,000 ended': { as: 'staff', from: 'front', filter: ofOldPet },
  'an animal with 20,000 ended, end': { as: 'staff', from: 'end', filter: ofOldPet },
  'an animal with 20,000 ended, by a partner': { as: 'partner', from: 'front', filter: ofOldPet },
  "a large client's, all": { as: 'large', from: 'front' },
  "a large client's, all, middle": { as: 'large', from: 'middle' },
  "a large client's, all, end": { as: 'large', from: 'end' },
  "a large client's, submitted, middle": { as: 'large', from: 'middle', filter: ofStatus('submitted') },
  "a large client's, submitted, end": { as: 'large', from: 'end', filter: ofStatus('submitted') },
  "a large client's, declined, middle": { as: 'large', from: 'middle', filter: ofStatus('declined') },
  "a large client's, of a shelter": { as: 'large', from: 'front', filter: ofAnyShelter },
  "a large client's, of a large shelter, middle": { as: 'large', from: 'middle', filter: ofLargeShelter },
  "a large client's, of an animal": { as: 'large', from: 'front', filter: ofAnyPet },
  "a large client's, of an old animal": { as: 'large', from: 'front', filter: ofOldPet },
  "a partner's, all, middle": { as: 'partner', from: 'middle' },
  "the store's, all": { as: 'staff', from: 'front' },
  "the store's, all, middle": { as: 'staff', from: 'middle' },
  "the store's, all, end": { as: 'staff', from: 'end' },
  "the store's, submitted": { as: 'staff', from: 'front', filter: ofStatus('submitted') },
  "the store's, submitted, middle": { as: 'staff', from: 'middle', filter: ofStatus('submitted') },
  "the store's, closed, end": { as: 'staff', from: 'end', filter: ofStatus('closed') },
  "the store's, of a shelter": { as: 'staff', from: 'front', filter: ofAnyShelter },
  "the store's, of a large shelter, middle": { as: 'staff', from: 'middle', filter: ofLargeShelter },
  "the store's, of a large shelter, submitted, end": { as: 'staff', from: 'end', filter: queueOfLargeShelter },
};

const parts = { middle: [0.4, 0.6], end: [0.9, 0.999] } as const;
const startsOfPart = 20;
const isConfirmed = `status <> 'unconfirmed'`;

/** Finds where pages of the lists begin that do not begin at the front: some ids in the middle, and some near the end. */
export async function prepareTarget(
  store: Omit<Target, 'starts' | 'candidates'>,
  { partnerId, candidates }: { partnerId: number; candidates: number },
): Promise<Target> {
  await using client = await connectTo(store.databaseUrl, { statement_timeout: 600_000 });
  const starts = new Map<string, readonly number[]>();
  const { largeShelterId, keys } = store;
  const seen = {
    staff: isConfirmed,
    shelter: `shelter_id = ${largeShelterId} and ${isConfirmed}`,
    large: `client_id = ${keys.large.clientId}`,
  };
  for (const [name, { as, from, filter }] of Object.entries(lists)) {
    if (from === 'front') continue;
    const [first, last] = parts[from];
    const { petId, shelterId, status } = filter?.(store) ?? {};
    const { rows } = await client.query<{ ids: bigint[] }>(
      `select percentile_disc(array(select $1::float8 + ($2::float8 - $1::float8) * n / ${startsOfPart} from generate_series(1, ${startsOfPart}) as n)) within group (order by id) as ids
        from applications where ${as === 'partner' ? `client_id = ${partnerId}` : (seen[as as keyof typeof seen] ?? 'true')}
          and ($3::bigint is null or pet_id = $3) and ($4::bigint is null or shelter_id = $4) and ($5::application_status is null or status = $5)`,
      [first, last, petId, shelterId, status],
    );
    starts.set(name, rows[0]?.ids.map(Number) ?? []);
  }
  const { rows } = await client.query<{ id: bigint }>(
    `select min(applications.id) as id from applications join pets on pets.id = pet_id
      where applications.status = 'submitted' and pets.status = 'available' and pet_id > $1 group by pet_id order by random() limit $2`,
    [store.oldPetId, candidates],
  );
  return { ...store, starts, candidates: rows.map(({ id }) => Number(id)) };
}

/** How many milliseconds a page takes. It must have as many rows as the list has in the largest store, where those are known. */
export async function timeList(http: HttpClient, target: Target, name: string): Promise<number> {
  const { as, filter, from } = lists[name] as List;
  const filters = filter?.(target) ?? {};
  const query = new URLSearchParams(Object.entries(filters).map(([key, value]): [string, string] => [key, String(value)]));
  if (from !== 'front') {
    const { petId, shelterId, status } = filters;
    const after = BigInt(drawOne(target.starts.get(name) ?? []));
    query.set('cursor', writeCursor(after, { petId: petId?.toString(), shelterId: shelterId?.toString(), status }));
  }
  const { tookMs, text } = await call(http, `${target.url}/applications?${query}`, { key: keyOf(target, as) });
  const { length } = JSON.parse(text);
  if (from === 'middle' && length === 0) throw new Error(`${name}: an empty page`);
  return tookMs;
}

function keyOf({ keys }: Target, as: List['as']): string {
  if (as === 'shelters') return drawOne(keys.shelters);
  if (as === 'partner') return keys.partners[0] ?? '';
  return as === 'large' ? keys.large.key : keys[as];
}

/** What is done in one round, and how many milliseconds each takes. */
export async function timeActs(http: HttpClient, target: Target): Promise<Record<string, number>> {
  const { url, keys, applications, candidates } = target;
  const [first, second] = [candidates.pop(), candidates.pop()];
  if (first === undefined || second === undefined) throw new Error('there are too few applications');
  const act = (id: number, name: string, body?: object) =>
    call(http, `${url}/applications/${id}/${name}`, { method: 'POST', key: keys.staff, ...(body && { body }) });
  const submit = (key: string) => {
    const [petId, n] = [target.oldPetId + 1 + drawBelow(applications * 0.05), drawBelow(1e12)];
    const body = { petId, adopter: { name: 'Grace Hopper', email: `grace${n}@example.org` } };
    return call(http, `${url}/applications`, { method: 'POST', key, body });
  };
  return {
    'one application': (await call(http, `${url}/applications/${first}`, { key: keys.staff })).tookMs,
    'submit, a partner': (await submit(drawOne(keys.partners))).tookMs,
    'submit, the large client': (await submit(keys.large.key)).tookMs,
    review: (await act(first, 'review')).tookMs,
    note: (await call(http, `${url}/applications/${first}`, { method: 'PATCH', key: keys.staff, body: { note: 'Called.' } })).tookMs,
    decline: (await act(first, 'decline', { message: 'Somebody else is nearer.' })).tookMs,
    accept: (await act(second, 'accept')).tookMs,
  };
}

/** Completes the order of each crowded animal, which closes its other applications. */
export async function timeCompletions(http: HttpClient, { url, databaseUrl, keys, crowdedPets }: Target): Promise<number[]> {
  await using client = await connectTo(databaseUrl);
  const times: number[] = [];
  for (const petId of crowdedPets) {
    const { rows } = await client.query(`select order_id as id from applications where pet_id = $1 and status = 'accepted'`, [petId]);
    times.push((await call(http, `${url}/store/orders/${rows[0]?.id}/complete`, { method: 'POST', key: keys.staff })).tookMs);
    const left = await client.query(
      `select count(*) as count from applications where pet_id = $1 and status in ('submitted', 'reviewing', 'accepted')`,
      [petId],
    );
    if (Number(left.rows[0]?.count) !== 0) throw new Error(`animal ${petId} has open applications`);
  }
  return times;
}

async function call(http: HttpClient, url: string, options: Parameters<HttpClient['send']>[1]): Promise<{ tookMs: number; text: string }> {
  const startMs = performance.now();
  const { status, text } = await http.send(url, options);
  const tookMs = performance.now() - startMs;
  if (status !== 200 && status !== 201) throw new Error(`${options?.method ?? 'GET'} ${url} got ${status} ${text}`);
  return { tookMs, text };
}

const drawBelow = (bound: number) => Math.floor(Math.random() * bound);

function drawOne<T>(values: readonly T[]): T {
  const value = values[drawBelow(values.length)];
  if (value === undefined) throw new Error('the list is empty');
  return value;
}
