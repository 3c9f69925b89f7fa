// Cached pages of listings, in two processes of one store.

import { describe, expect, test, vi } from 'vitest';
import { startRedis } from '../../../../testkit/servers.ts';
import type { ShownChange } from '../../../src/animals/list-cache/shown-changes.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { addDescribed, addShelter, insert, type ListingBody } from '../../listing-steps.ts';
import { openTestStore, type TestStore } from '../../test-store.ts';

const redis = disposeAfterAll(await startRedis());
const store = await openTestStore({ env: { REDIS_URL: redis.url } });
const another = await openTestStore({ env: { REDIS_URL: redis.url, DATABASE_URL: store.databaseUrl } });
const [key, manager] = [await store.createKey(), await createManager(store)];

const list = async (process: TestStore, path: string) => {
  const read = () => process.call<ListingBody[]>('GET', path, { key: key.key });
  const first = await read();
  // A busy machine may exceed a timeout; the client is then told to retry.
  const { status, json } = first.status === 503 ? await read() : first;
  expect(status).toBe(200);
  return json;
};
/** Announces what was changed with SQL. */
const announceListings = (...changes: ShownChange[]) =>
  store.dependencies.catalogue.transaction(async (tx) => {
    for (const change of changes)
      await tx.writeListing({ text: `select pg_current_xact_id()::xid::text as "transactionId"` }, () => change);
  }, theService);
const described = (id: number, categoryId: number): ShownChange => {
  const state = { categoryId: BigInt(categoryId), status: 'available' } as const;
  return { of: 'animal', petId: BigInt(id), state, place: undefined, terms: undefined };
};
const query = (text: string, values: unknown[]) => store.write(text, ...values);

const photoOf = (petId: number) => ({
  pet_id: petId,
  client_id: manager.clientId,
  position: 0,
  status: 'ready',
  original_hash: '0'.repeat(64),
  original_name: 'originals/x',
  width: 1,
  height: 1,
  placeholder: 'x',
  files: '[]',
});

/** On a busy machine Redis may be late, and then nothing cached is used: such a read is no proof, so it is made again. */
const triesMax = 5;

/** Reads it until it is cached, and returns how many searches PostgreSQL has made for another read. */
async function searchesFor(process: TestStore, path: string): Promise<number> {
  let searches = 1;
  for (let i = 0; i < triesMax && searches > 0; i += 1) {
    await list(process, path);
    searches = await searchesOf(process, path);
  }
  return searches;
}

async function searchesOf(process: TestStore, path: string): Promise<number> {
  const snapshots = vi.spyOn(process.dependencies.db, 'search');
  try {
    await list(process, path);
    return snapshots.mock.calls.length;
  } finally {
    snapshots.mockRestore();
  }
}

describe('A page of listings', () => {
  test('shows in another process what was written to the profile, to the shelter, and by a move, once the writer has its response', async () => {
    const { id } = await addPet(store, key, { categoryId: 59 });
    const danube = await addShelter(store, { name: 'Danube' });
    const path = '/v1/listings?categoryId=59';
    const write = async (method: string, target: string, body: object) => {
      expect(await searchesFor(another, path)).toBe(0);
      expect((await store.call(method, target, { key: manager.key, body })).status).toBe(200);
      return (await list(another, path))[0];
    };
    expect(await write('PATCH', `/v1/pets/${id}/profile`, { sex: 'female' })).toMatchObject({ profile: { sex: 'female' } });
    expect(await write('PUT', `/v1/pets/${id}/profile`, { sex: 'male' })).toMatchObject({ profile: { sex: 'male' } });
    expect(await write('PUT', `/v1/pets/${id}/shelter`, { shelterId: danube })).toMatchObject({ shelter: { name: 'Danube' } });
    expect(await write('PATCH', `/v1/shelters/${danube}`, { name: 'Vienna' })).toMatchObject({ shelter: { name: 'Vienna' } });
  });

  test('is served from the cache while nothing changes', async () => {
    await addPet(store, key, { categoryId: 60 });
    expect(await searchesFor(store, '/v1/listings?categoryId=60')).toBe(0);
  });

  test('has the same headers from the cache as from PostgreSQL', async () => {
    await addPet(store, key, { categoryId: 61 });
    await addPet(store, key, { categoryId: 61 });
    const path = '/v1/listings?categoryId=61&limit=1';
    const read = () => store.call('GET', path, { key: key.key });
    const [first, second] = [await read(), await read()];
    for (const name of ['etag', 'link', 'content-type', 'content-length', 'cache-control', 'vary', 'x-content-type-options']) {
      expect(second.headers[name]).toBe(first.headers[name]);
    }
    const unmodified = await store.call('GET', path, { key: key.key, headers: { 'if-none-match': String(first.headers['etag']) } });
    expect(unmodified).toMatchObject({ status: 304, text: '' });
  });

  test('shows a change of an animal at once, in every process', async () => {
    const path = '/v1/listings?categoryId=62';
    const { id } = await addPet(store, key, { categoryId: 62 });
    for (const name of ['One', 'Two', 'Three']) {
      for (const process of [store, another]) await searchesFor(process, path);
      await store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { name } });
      for (const process of [store, another]) expect((await list(process, path))[0]?.pet.name).toBe(name);
    }
  });

  test('shows an announced change of a profile or a shelter at once, in every process', async () => {
    const path = '/v1/listings?categoryId=63';
    const shelterId = await addShelter(store, {});
    const { id } = await addDescribed(store, key, { categoryId: 63, shelterId });
    for (const sex of ['male', 'female', 'male']) {
      for (const process of [store, another]) expect(await searchesFor(process, path)).toBe(0);
      await query('update profiles set sex = $1 where pet_id = $2', [sex, id]);
      await query('update shelters set name = $1 where id = $2', [`Shelter for ${sex}s`, shelterId]);
      await announceListings(described(id, 63), { of: 'shelter', shelterId: BigInt(shelterId), isMoved: false });
      for (const process of [store, another]) {
        expect((await list(process, path))[0]).toMatchObject({ profile: { sex }, shelter: { name: `Shelter for ${sex}s` } });
      }
    }
  });

  test('stays in the cache when an animal changes that it does not depend on', async () => {
    const ids = [];
    for (let i = 0; i < 4; i += 1) ids.push((await addDescribed(store, key, { categoryId: 70 + (i % 2) }, { sex: 'male' })).id);
    const [oldest, other, newest] = ids;
    const rename = (id: number | undefined) =>
      store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { name: `Renamed ${Date.now()}` } });
    /** Whether a page that was cached is searched for again, each time that the animal was renamed. */
    const isTouched = async (path: string, id: number | undefined) => {
      for (let i = 0; i < triesMax; i += 1) {
        expect(await searchesFor(another, path)).toBe(0);
        expect((await rename(id)).status).toBe(200);
        if ((await searchesOf(another, path)) === 0) return false;
      }
      return true;
    };
    expect(await isTouched('/v1/listings?categoryId=70', newest)).toBe(true);
    expect(await isTouched('/v1/listings?categoryId=70', other)).toBe(false);
    expect(await isTouched('/v1/listings?categoryId=70&status=sold', newest)).toBe(false);
    expect(await isTouched(`/v1/listings?id=${newest}&sex=male`, other)).toBe(false);
    // The newest first: the page ends before the oldest.
    await addPet(store, key, { categoryId: 70 });
    expect(await isTouched('/v1/listings?categoryId=70&limit=1', oldest)).toBe(false);
    expect(await isTouched('/v1/listings?categoryId=70&limit=2', oldest)).toBe(true);
    expect(await isTouched('/v1/listings?q=renamed', other)).toBe(true);
    expect(await isTouched('/v1/listings?categoryId=70&q=renamed', other)).toBe(false);
    expect(await isTouched('/v1/listings?categoryId=70&near=1,1', other)).toBe(false);
  });

  test('stays in the cache when a profile, a photo or a shelter changes that it does not depend on', async () => {
    const far = await addShelter(store, { latitude: 10, longitude: 10 });
    const near = await addShelter(store, { latitude: 48, longitude: 16 });
    const [older, newer] = [
      await addDescribed(store, key, { categoryId: 74, shelterId: far }, { sex: 'male', description: 'brave' }),
      await addDescribed(store, key, { categoryId: 74, shelterId: near }, { sex: 'female', description: 'gentle' }),
    ];
    const other = await addDescribed(store, key, { categoryId: 75, shelterId: far });
    const [photo] = await insert(store, 'photos', photoOf(older.id), 'returning id');
    const send = async (method: string, path: string, body: object) =>
      expect((await store.call(method, path, { key: manager.key, body })).status).toBe(200);
    let changes = 0;
    const describeAs = (id: number, text: string) => () =>
      send('PATCH', `/v1/pets/${id}/profile`, { description: `${text} change${++changes}` });
    const showPhoto = () => send('PATCH', `/v1/pets/${older.id}/photos/${photo?.['id']}`, { alt: `Alt ${++changes}` });
    const rename = (id: number) => () => send('PATCH', `/v1/shelters/${id}`, { name: `Name ${++changes}` });
    const moveFar = () => send('PATCH', `/v1/shelters/${far}`, { latitude: 10 + ++changes / 100 });
    /** Whether a page that was cached is searched for again, each time that the change was made. */
    const isTouched = async (path: string, change: () => Promise<void>) => {
      for (let i = 0; i < triesMax; i += 1) {
        expect(await searchesFor(another, `/v1/listings${path}`)).toBe(0);
        await change();
        if ((await searchesOf(another, `/v1/listings${path}`)) === 0) return false;
      }
      return true;
    };
    // What the page shows.
    expect(await isTouched('?categoryId=74', describeAs(older.id, 'brave'))).toBe(true);
    expect(await isTouched('?categoryId=74', showPhoto)).toBe(true);
    expect(await isTouched('?categoryId=74', rename(far))).toBe(true);
    // What it may show.
    expect(await isTouched('?categoryId=74&sex=female&q=brave', describeAs(newer.id, 'brave'))).toBe(true);
    expect(await isTouched('?near=10,10&withinKm=300&q=gentle', describeAs(older.id, 'gentle'))).toBe(true);
    expect(await isTouched('?near=48,16&q=gentle', moveFar)).toBe(true);
    expect(await isTouched('/facets?categoryId=74', describeAs(older.id, 'brave'))).toBe(true);
    const beBeagle = () =>
      send('PATCH', `/v1/pets/${newer.id}/profile`, { breeds: { primary: 'beagle' }, description: `change ${++changes}` });
    expect(await isTouched(`?categoryId=74&breed=${encodeURIComponent('Béagle')}`, beBeagle)).toBe(true);
    expect(await searchesFor(another, '/v1/listings?categoryId=74&q=brave')).toBe(0);
    await describeAs(newer.id, 'gentle')();
    expect((await list(another, '/v1/listings?categoryId=74&q=brave')).map(({ pet }) => pet.id)).not.toContain(newer.id);
    // What it can't show.
    expect(await isTouched('?categoryId=74', describeAs(other.id, 'brave'))).toBe(false);
    expect(await isTouched('?categoryId=74&sex=female', describeAs(older.id, 'brave'))).toBe(false);
    expect(await isTouched('?q=gentle', describeAs(older.id, 'brave'))).toBe(false);
    expect(await isTouched('?categoryId=74&breed=beagle', describeAs(older.id, 'brave'))).toBe(false);
    expect(await isTouched('?categoryId=74&limit=1', describeAs(older.id, 'brave'))).toBe(true);
    await addPet(store, key, { categoryId: 74 });
    await addPet(store, key, { categoryId: 74 });
    expect(await isTouched('?categoryId=74&limit=1', describeAs(older.id, 'brave'))).toBe(false);
    expect(await isTouched('?categoryId=74&near=48,16', describeAs(older.id, 'brave'))).toBe(false);
    expect(await isTouched('?categoryId=75', showPhoto)).toBe(false);
    expect(await isTouched('?categoryId=74&limit=1', rename(far))).toBe(false);
    expect(await isTouched('?categoryId=74&limit=1', moveFar)).toBe(false);
    expect(await isTouched('/facets?categoryId=74', showPhoto)).toBe(false);
  });

  test('is not valid after the token of listings was replaced without an entry in the log', async () => {
    const path = '/v1/listings?categoryId=76';
    const { id } = await addDescribed(store, key, { categoryId: 76 }, { sex: 'male' });
    const { listingsToken } = store.dependencies.redisKeys;
    const { client } = store.dependencies.redis;
    await announceListings(described(id, 76));
    expect(await searchesFor(another, path)).toBe(0);
    await query(`update profiles set sex = 'female' where pet_id = $1`, [id]);
    await client.set(listingsToken, 'of-another');
    expect((await list(another, path))[0]?.profile.sex).toBe('female');
    // Its token is between two of ours.
    expect(await searchesFor(another, path)).toBe(0);
    await query(`update profiles set sex = 'male' where pet_id = $1`, [id]);
    await client.set(listingsToken, 'of-another-again');
    await announceListings({ of: 'photos', petId: 0n });
    expect((await list(another, path))[0]?.profile.sex).toBe('male');
    const before = await client.get(listingsToken);
    await announceListings({ of: 'photos', petId: BigInt(id) });
    expect(await client.get(listingsToken)).not.toBe(before);
  });

  test('shows no animal that is removed among those that another is bonded with', async () => {
    const [bonded, pet] = [await addPet(store, key, { categoryId: 72 }), await addPet(store, key, { categoryId: 73 })];
    await store.call('PUT', `/v1/pets/${pet.id}/profile`, { key: manager.key, body: { bondedWith: [bonded.id] } });
    const path = '/v1/listings?categoryId=73';
    expect(await searchesFor(another, path)).toBe(0);
    expect((await list(another, path))[0]?.profile).toMatchObject({ bondedWith: [bonded.id] });
    await store.call('DELETE', `/v1/pets/${bonded.id}`, { key: manager.key });
    expect((await list(another, path))[0]?.profile).toMatchObject({ bondedWith: [] });
  });

  test('is stale if a change is not announced, so the tests above can fail', async () => {
    const path = '/v1/listings?categoryId=64';
    const { id } = await addDescribed(store, key, { categoryId: 64 }, { sex: 'male' });
    await announceListings(described(id, 64));
    expect(await searchesFor(another, path)).toBe(0);
    await query(`update profiles set sex = 'female' where pet_id = $1`, [id]);
    expect((await list(another, path))[0]?.profile.sex).toBe('male');
  });

  test('is not the same after Redis has lost its data', async () => {
    const path = '/v1/listings?categoryId=65';
    const { id } = await addDescribed(store, key, { categoryId: 65 }, { sex: 'male' });
    await searchesFor(another, path);
    await store.dependencies.redis.client.flushall();
    await query(`update profiles set sex = 'female' where pet_id = $1`, [id]);
    await announceListings({ of: 'photos', petId: 0n });
    expect((await list(another, path))[0]?.profile.sex).toBe('female');
  });

  test('shows a change that Redis could not be told of, once the writer has waited', async () => {
    const path = '/v1/listings?categoryId=66';
    const { id } = await addDescribed(store, key, { categoryId: 66 }, { sex: 'male' });
    await searchesFor(another, path);
    await query(`update profiles set sex = 'female' where pet_id = $1`, [id]);
    const link = vi.spyOn(store.dependencies.redis, 'call').mockRejectedValue(new Error('cut off'));
    await announceListings(described(id, 66));
    link.mockRestore();
    expect((await list(another, path))[0]?.profile.sex).toBe('female');
  });
});

describe('The facets of a search', () => {
  const facets = async (process: TestStore, path: string) =>
    (await list(process, path)) as unknown as { readonly sexes: ReadonlyArray<{ value: string; count: number }> };

  test('are served from the cache while nothing changes', async () => {
    const { id } = await addDescribed(store, key, { categoryId: 80 }, { sex: 'male' });
    await announceListings(described(id, 80));
    expect(await searchesFor(store, '/v1/listings/facets?categoryId=80')).toBe(0);
  });

  test('are never stale after an acknowledged change of an animal, a profile or a shelter, in every process', async () => {
    const path = '/v1/listings/facets?categoryId=81&status=available';
    const danube = await addShelter(store, { name: 'Danube' });
    const { id } = await addDescribed(store, key, { categoryId: 81 }, { sex: 'male' });
    await announceListings(described(id, 81));
    const write = async (method: string, target: string, body: object | undefined, at = path) => {
      for (const process of [store, another]) expect(await searchesFor(process, at)).toBe(0);
      expect((await store.call(method, target, { key: manager.key, ...(body && { body }) })).status).toBeLessThan(300);
      const [mine, others] = [await facets(store, at), await facets(another, at)];
      expect(others).toEqual(mine);
      return mine.sexes;
    };
    expect(await write('PATCH', `/v1/pets/${id}/profile`, { sex: 'female' })).toEqual([{ value: 'female', count: 1 }]);
    expect(await write('PATCH', `/v1/pets/${id}`, { status: 'sold' })).toEqual([]);
    expect(await write('PATCH', `/v1/pets/${id}`, { status: 'available' })).toEqual([{ value: 'female', count: 1 }]);
    expect(await write('PUT', `/v1/pets/${id}/shelter`, { shelterId: danube }, `${path}&shelterId=1`)).toEqual([]);
    expect(await write('DELETE', `/v1/pets/${id}`, undefined)).toEqual([]);
  });

  test('have the same headers from the cache as from PostgreSQL, and are 304 and compressed as pages are', async () => {
    for (let i = 0; i < 20; i += 1)
      await addDescribed(store, key, { categoryId: 82 }, { breed_primary: `Breed of a long name ${i}`.repeat(2) });
    await announceListings(described(0, 82));
    const path = '/v1/listings/facets?categoryId=82';
    const read = (headers: Record<string, string> = {}) => store.call('GET', path, { key: key.key, headers });
    const [first, second] = [await read(), await read()];
    expect(second.text).toBe(first.text);
    for (const name of ['etag', 'content-type', 'content-length', 'cache-control', 'vary', 'x-content-type-options']) {
      expect(second.headers[name]).toBe(first.headers[name]);
    }
    expect(await read({ 'if-none-match': String(first.headers['etag']) })).toMatchObject({ status: 304, text: '' });
    const compressed = [await read({ 'accept-encoding': 'br' }), await read({ 'accept-encoding': 'br' })];
    for (const { headers } of compressed)
      expect(headers).toMatchObject({ 'content-encoding': 'br', etag: `${first.headers['etag']}`.replace(/"$/, '-br"') });
  });

  test('stay in the cache when an animal changes that they do not count', async () => {
    const [counted, other] = [await addPet(store, key, { categoryId: 83 }), await addPet(store, key, { categoryId: 84 })];
    const path = '/v1/listings/facets?categoryId=83';
    const isTouchedBy = async ({ id }: { id: number }) => {
      for (let i = 0; i < triesMax; i += 1) {
        expect(await searchesFor(another, path)).toBe(0);
        await store.call('PATCH', `/v1/pets/${id}`, { key: manager.key, body: { name: `Renamed ${i}` } });
        if ((await searchesOf(another, path)) === 0) return false;
      }
      return true;
    };
    expect([await isTouchedBy(counted), await isTouchedBy(other)]).toEqual([true, false]);
  });
});

test('An announced change of a profile leaves pages of animals in the cache', async () => {
  const path = '/v1/pets?categoryId=67';
  await addPet(store, key, { categoryId: 67 });
  const statements = vi.spyOn(store.dependencies.db, 'query');
  for (let i = 0; i < 3; i += 1) await store.call('GET', path, { key: key.key });
  statements.mockClear();
  await announceListings(described(0, 67));
  await store.call('GET', path, { key: key.key });
  expect(statements.mock.calls.filter(([{ text }]) => text.includes('from pets'))).toEqual([]);
  statements.mockRestore();
});
