// A store with some thousand animals, an honest partner, and a hostile one with a shelter and a client for each attack.

import { setTimeout as sleep } from 'node:timers/promises';
import { createKey } from '../../service/src/access/clients/clients.ts';
import type { PlanName } from '../../service/src/access/rate-limit/plans.ts';
import { defaultScopes, type Scope } from '../../service/src/domain/scopes.ts';
import { generous, queryStore } from '../../testkit/adopters.ts';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { drawSamples } from '../../testkit/listing-searches.ts';
import { fillListings } from '../../testkit/listings-fill.ts';
import { freePort } from '../../testkit/servers.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { testAuthor } from '../../testkit/test-author.ts';
import { openDirectory } from '../photos/photo-places.ts';
import type { HostileKeys, Target } from './attack.ts';
import { attackNames } from './attacks.ts';
import { makeSwellingPhoto } from './photo-attack.ts';
import { hostileName } from './write-attacks.ts';

/** In words. */
const descriptionLengths = [24, 400] as const;
const [honestShelterId, hostileShelterId] = [1, 2];
/** As many as a page has at most, and as many without a profile. */
const hostileAnimals = 100;
/** As many characters as a description may have, of four bytes each. */
const largestDescription = '🐕'.repeat(8_000);
const pictureTimeoutMs = 60_000;

export interface AttackedStore extends AsyncDisposable {
  readonly store: Store;
  readonly honest: Key;
  readonly target: Target;
}

/** `root`: the source tree, if it is a mutant's. */
export async function openAttackedStore(size: { animals: number; events: number }, root: string | undefined): Promise<AttackedStore> {
  await using resources = new AsyncDisposableStack();
  const photos = resources.use(await openDirectory());
  const env = { ...photos.env, LOG_LEVEL: 'fatal', HOMEWARD_TRUSTED_PROXIES: '127.0.0.1', HOMEWARD_WEBHOOKS_TO_LOOPBACK: 'on' };
  const store = resources.use(await Store.open({ processes: 0, root, env }));
  await fillListings(store.postgres.url, size.animals, { words: descriptionLengths });
  const samples = await drawSamples(store.postgres.url, size.animals);
  await addEvents(store, size);
  const metricsPorts = [await freePort(), await freePort(), await freePort()];
  const [first, second, ofWorker] = metricsPorts.map((port) => ({ HOMEWARD_METRICS_PORT: String(port) }));
  await store.serve(first);
  await store.serve(second);
  store.work(ofWorker);
  const urls = store.processes.map(({ url }) => url);
  await using staff = await Staff.of(store);
  const { picture, ...animals } = await addHostileAnimals(staff, urls[0] ?? '');
  const target: Target = {
    urls,
    metricsPorts,
    ...(await makeHostileKeys(staff)),
    samples,
    shelterId: hostileShelterId,
    ...animals,
    picture,
  };
  const honest = await staff.createKey('honest', generous, [...defaultScopes, 'shelter:manage'], BigInt(honestShelterId));
  const opened = resources.move();
  return { store, honest, target, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** The feed is long enough that reading it takes a while. */
async function addEvents(store: Store, { animals, events }: { animals: number; events: number }): Promise<void> {
  await queryStore(
    store,
    `insert into events (position, type, pet_id, at, data)
      select i, 'pet.updated', 1 + i % $2::int, now(), format('{"pet":{"id":%s,"name":"Animal %s","categoryId":1,"status":"available"}}', 1 + i % $2::int, i)
        from generate_series(1, $1::int) as i`,
    [events, animals],
  );
  await queryStore(store, 'update feed set last_position = $1', [events]);
  await queryStore(store, 'analyze');
}

/** Animals of the hostile shelter, and a large picture of one of them. */
async function addHostileAnimals(staff: Staff, url: string): Promise<Pick<Target, 'petIds' | 'largePetIds' | 'picture'>> {
  const { key } = await staff.createKey('preparing', generous, ['pets:read', 'pets:write'], BigInt(hostileShelterId));
  using http = new HttpClient(2);
  const send = async (path: string, options: Parameters<HttpClient['send']>[1]) =>
    expectSuccess(await http.send(`${url}${path}`, { key, ...options }));
  const add = async (): Promise<number> => {
    const { text } = await send('/pets', { method: 'POST', body: { name: hostileName, categoryId: 1 } });
    return (JSON.parse(text) as { id: number }).id;
  };
  const addAll = () => Promise.all(Array.from({ length: hostileAnimals }, add));
  const [petIds, largePetIds] = [await addAll(), await addAll()];
  await Promise.all(largePetIds.map((id) => send(`/pets/${id}/profile`, { method: 'PUT', body: { description: largestDescription } })));
  const headers = { 'content-type': 'image/jpeg' };
  await send(`/pets/${largePetIds[0]}/photos`, { method: 'POST', raw: await makeSwellingPhoto(), headers });
  for (const giveUpAtMs = performance.now() + pictureTimeoutMs; performance.now() < giveUpAtMs; await sleep(100)) {
    const [photo] = JSON.parse((await send(`/pets/${largePetIds[0]}/photos`, {})).text) as Array<{ urls: Array<{ url: string }> }>;
    const picture = photo?.urls.at(-1)?.url;
    if (picture) return { petIds, largePetIds, picture };
  }
  throw new Error('the picture was not made');
}

function expectSuccess(response: Response): Response {
  if (response.status >= 300) throw new Error(`the store could not be prepared: ${response.status} ${response.text}`);
  return response;
}

async function makeHostileKeys(staff: Staff): Promise<Pick<Target, 'keys' | 'freeKey' | 'revokedKey'>> {
  const keys: Record<string, HostileKeys> = {};
  for (const name of attackNames) {
    const make = (scopes: readonly Scope[], shelterId: bigint | null = null) => makeKey(staff, name, 'business', scopes, shelterId);
    const partner = await make(defaultScopes);
    const shelter = await make([...defaultScopes, 'shelter:manage'], BigInt(hostileShelterId));
    const manager = await make([...defaultScopes, 'store:manage']);
    keys[name] = { clientId: partner.clientId, partner: partner.key, shelter: shelter.key, staff: manager.key };
  }
  const free = await makeKey(staff, 'free', 'free', defaultScopes, null);
  const revoked = await makeKey(staff, 'revoked', 'business', defaultScopes, null);
  await staff.revoke(revoked);
  return { keys, freeKey: free.key, revokedKey: revoked.key };
}

async function makeKey(
  { dependencies: { db } }: Staff,
  client: string,
  plan: PlanName,
  scopes: readonly Scope[],
  shelterId: bigint | null,
): Promise<Key> {
  const limits = { plan, perMinute: null, perDay: null };
  const { key, record } = await createKey(db, {
    client,
    limits,
    scopes,
    shelterId,
    expiresAt: null,
    environment: 'production',
    by: testAuthor,
  });
  return { id: Number(record.id), clientId: Number(record.clientId), key };
}
