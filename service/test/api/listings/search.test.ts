import { beforeAll, describe, expect, test } from 'vitest';
import { addPet, createManager } from '../../adoption-steps.ts';
import { errorResponse } from '../../error-response.ts';
import { addDescribed, addShelter, idsOf, insert, searchListings } from '../../listing-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const key = await store.createKey();

const search = (query: string) => searchListings(store, key, query);
const yearsAgo = (years: number, days = 0) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear() - years, now.getUTCMonth(), now.getUTCDate() + days)).toISOString().slice(0, 10);
};

describe('GET /v1/listings', () => {
  test('returns an animal with its shelter, profile and photos', async () => {
    const shelterId = await addShelter(store, { name: 'Danube Shelter', address: 'Handelskai 1', phone: '+43 1 555' });
    const pet = await addDescribed(store, key, { categoryId: 10, shelterId }, { breed_primary: 'Labrador', birth_date: yearsAgo(2) });
    const photo = { pet_id: pet.id, client_id: key.clientId, original_hash: 'a'.repeat(64), width: 320, height: 240, placeholder: 'x' };
    const files = JSON.stringify([{ width: 320, height: 240, hash: 'b'.repeat(64) }]);
    await insert(store, 'photos', { ...photo, original_name: 'originals/1', position: 1, status: 'ready', files });
    await insert(store, 'photos', {
      ...photo,
      original_name: 'originals/2',
      original_hash: 'c'.repeat(64),
      position: 0,
      status: 'processing',
    });
    const { status, json, headers } = await search('?categoryId=10');
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'private, no-cache' });
    expect(json).toMatchObject([
      {
        pet,
        shelter: { id: shelterId, name: 'Danube Shelter', address: 'Handelskai 1', phone: '+43 1 555', website: null },
        profile: { breeds: { primary: 'Labrador' }, age: 'young', sex: 'unknown' },
        photos: [{ status: 'ready', urls: [{ width: 320, height: 240, url: `/photos/${'b'.repeat(64)}.webp` }] }],
      },
    ]);
    expect(json[0]).not.toHaveProperty('distanceKm');
  });

  test('has an ETag, and is 304 while nothing has changed', async () => {
    await addPet(store, key, { categoryId: 11 });
    const { headers } = await search('?categoryId=11');
    const again = await store.call('GET', '/v1/listings?categoryId=11', {
      key: key.key,
      headers: { 'if-none-match': `${headers['etag']}` },
    });
    expect(again).toMatchObject({ status: 304, text: '' });
  });

  test('lists animals without a profile, the newest first', async () => {
    const added = [await addPet(store, key, { categoryId: 12 }), await addPet(store, key, { categoryId: 12 })];
    const response = await search('?categoryId=12');
    expect(idsOf(response)).toEqual(added.map(({ id }) => id).reverse());
    expect(response.json[0]?.profile).toMatchObject({ breeds: { unknown: true }, age: null, sex: 'unknown' });
  });

  test('shows a changed animal at once, and a removed one not at all', async () => {
    const manager = await createManager(store);
    const pet = await addDescribed(store, key, { categoryId: 13, name: 'Vanisher' }, { sex: 'male' });
    await store.call('PATCH', `/v1/pets/${pet.id}`, { key: manager.key, body: { status: 'sold' } });
    expect(idsOf(await search('?categoryId=13&sex=male&status=sold'))).toEqual([pet.id]);
    expect(idsOf(await search('?categoryId=13&sex=male&status=available'))).toEqual([]);
    await store.call('DELETE', `/v1/pets/${pet.id}`, { key: manager.key });
    for (const query of ['?categoryId=13', '?categoryId=13&sex=male', '?q=vanisher', `?id=${pet.id}`]) {
      expect(idsOf(await search(query))).toEqual([]);
    }
  });

  test('needs the scope pets:read', async () => {
    const { key: other } = await store.createKey({ scopes: ['orders:read'] });
    expect(await store.call('GET', '/v1/listings', { key: other })).toMatchObject(errorResponse(403, 'insufficient_scope'));
    expect(await store.call('GET', '/v1/listings/facets', { key: other })).toMatchObject(errorResponse(403, 'insufficient_scope'));
  });
});

describe('A filter of listings', () => {
  const category = 20;
  const ids: Record<string, number> = {};
  let shelterId: number;
  beforeAll(async () => {
    shelterId = await addShelter(store, { latitude: 10, longitude: 10 });
    const add = async (name: string, profile: Record<string, unknown>, pet = {}) => {
      ids[name] = (await addDescribed(store, key, { name, categoryId: category, ...pet }, profile)).id;
    };
    await add('Ada', { sex: 'female', size: 'small', coat: 'long', birth_date: yearsAgo(0, -30), good_with_children: 'yes' });
    await add('Bob', {
      sex: 'male',
      size: 'large',
      coat: 'short',
      birth_date: yearsAgo(1),
      good_with_children: 'no',
      good_with_dogs: 'yes',
    });
    await add('Cleo', { breed_primary: 'Labrador Retriever', breed_secondary: 'Épagneul', birth_date: yearsAgo(1, 1) }, { status: 'sold' });
    await add('Dora', { birth_date: yearsAgo(8), good_with_children: 'yes', good_with_dogs: 'yes' }, { shelterId });
    await add('Emil', { birth_date: yearsAgo(8, 1) });
    ids['Fay'] = (await addPet(store, key, { name: 'Fay', categoryId: category })).id;
  });

  test.each([
    ['status=sold', ['Cleo']],
    ['sex=female', ['Ada']],
    ['sex=male', ['Bob']],
    ['size=large', ['Bob']],
    ['coat=long', ['Ada']],
    ['age=baby', ['Cleo', 'Ada']],
    ['age=young', ['Bob']],
    ['age=adult', ['Emil']],
    ['age=senior', ['Dora']],
    ['breed=labrador%20retriever', ['Cleo']],
    ['breed=LABRADOR%20Retriever', ['Cleo']],
    ['breed=epagneul', ['Cleo']],
    ['breed=labrador', ['Cleo']],
    ['goodWith=children', ['Dora', 'Ada']],
    ['goodWith=children&goodWith=dogs', ['Dora']],
    ['goodWith=cats', []],
    ['sex=female&goodWith=children&age=baby', ['Ada']],
    ['sex=female&size=large', []],
    ['status=available&goodWith=dogs', ['Dora', 'Bob']],
    ['near=10.001,9.999', ['Dora']],
    ['near=10,10&sort=newest&goodWith=dogs', ['Dora']],
    ['near=12,10&withinKm=100', []],
    ['near=12,10&withinKm=300&age=senior', ['Dora']],
    ['q=ada', ['Ada']],
    ['q=labrador', ['Cleo']],
    ['q=fay', ['Fay']],
    ['q=fay&sex=female', []],
    ['q=dora&near=10,10', ['Dora']],
    ['q=dora&near=10,10&sort=newest', ['Dora']],
    ['q=dora&near=10,10&sort=distance', ['Dora']],
    ['q=ada&near=10,10', []],
    ['q=cleo&status=available', []],
    ['q=cleo&sort=newest&status=sold', ['Cleo']],
  ])('%s finds the animals that are known to match, and no others', async (query, names) => {
    expect(idsOf(await search(`?categoryId=${category}&${query}`))).toEqual(names.map((name) => ids[name]));
  });

  test('of a shelter finds its animals, with any other filter', async () => {
    const queries = ['', '&status=available', `&categoryId=${category}`, '&goodWith=dogs', '&q=dora', '&near=10,10'];
    for (const query of queries) expect(idsOf(await search(`?shelterId=${shelterId}${query}`))).toEqual([ids['Dora']]);
    expect(idsOf(await search(`?shelterId=${shelterId}&status=sold`))).toEqual([]);
  });

  test('of ids finds those that match the others', async () => {
    const query = Object.values(ids)
      .map((id) => `id=${id}`)
      .join('&');
    expect(idsOf(await search(`?${query}`))).toHaveLength(6);
    expect(idsOf(await search(`?${query}&sex=male`))).toEqual([ids['Bob']]);
    expect(idsOf(await search(`?${query}&q=ada`))).toEqual([ids['Ada']]);
    expect(idsOf(await search(`?${query}&near=10,10`))).toEqual([ids['Dora']]);
  });

  test('counts what it finds', async () => {
    const { json } = await store.call('GET', `/v1/listings/facets?categoryId=${category}`, { key: key.key });
    expect(json).toEqual({
      isExact: true,
      breeds: [
        { value: 'epagneul', count: 1 },
        { value: 'labrador retriever', count: 1 },
      ],
      ages: expect.arrayContaining([
        { value: 'baby', count: 2 },
        { value: 'young', count: 1 },
        { value: 'adult', count: 1 },
        { value: 'senior', count: 1 },
      ]),
      sizes: expect.arrayContaining([
        { value: 'small', count: 1 },
        { value: 'large', count: 1 },
      ]),
      sexes: expect.arrayContaining([
        { value: 'female', count: 1 },
        { value: 'male', count: 1 },
      ]),
    });
    const near = await store.call('GET', '/v1/listings/facets?near=10,10&q=dora', { key: key.key });
    expect(near.json).toEqual({ isExact: true, breeds: [], ages: [{ value: 'senior', count: 1 }], sizes: [], sexes: [] });
  });
});

describe('The words of a search', () => {
  test('are found without accents, in any case, in names, breeds, tags and descriptions', async () => {
    const pet = await addDescribed(
      store,
      key,
      { name: 'Zoë-Renée' },
      { breed_primary: 'Bergère Épagneule', tags: ['câline'], description: 'Très timide.\nShe loves schnitzel.' },
    );
    for (const q of ['zoe', 'ZOË', 'renee', 'epagneule', 'Bergere', 'caline', 'tres timide', 'Schnitzel zoë']) {
      expect(idsOf(await search(`?q=${encodeURIComponent(q)}`))).toEqual([pet.id]);
    }
    expect(idsOf(await search('?q=zoe%20absent'))).toEqual([]);
  });

  test('rank a name above a breed above a description', async () => {
    const inText = await addDescribed(store, key, {}, { description: 'A friend of Quasimodo.' });
    const asBreed = await addDescribed(store, key, {}, { breed_primary: 'Quasimodo' });
    const asName = await addDescribed(store, key, { name: 'Quasimodo' });
    expect(idsOf(await search('?q=quasimodo'))).toEqual([asName.id, asBreed.id, inText.id]);
    expect(idsOf(await search('?q=quasimodo&sort=newest'))).toEqual([asName.id, asBreed.id, inText.id]);
  });

  test.each([
    ['Chihuahua', 'chiuahua'],
    ['Rottweiler', 'rotweiler'],
    ['Schnauzer', 'shnauzer'],
  ])('of the breed %s are found when they are spelt %s', async (breed, misspelt) => {
    const pet = await addDescribed(store, key, {}, { breed_primary: breed });
    expect(idsOf(await search(`?q=${misspelt}`))).toEqual([pet.id]);
  });

  test('find a new name at once, and are not corrected to one', async () => {
    const old = await addPet(store, key, { name: 'Methuselax' });
    const find = async () => idsOf(await search('?q=methuselah'));
    expect([idsOf(await search('?q=methuselax')), await find()]).toEqual([[old.id], []]);
    const pet = await addPet(store, key, { name: 'Methuselah' });
    expect(await find()).toEqual([pet.id]);
  });
});

describe('GET /v1/listings with a hostile query', () => {
  test.each([
    ['?near=NaN,NaN', 'near must be a latitude and a longitude in degrees, such as 48.2,16.37; got "NaN,NaN".'],
    ['?near=91,0', 'near must be a latitude from -90 to 90 and a longitude from -180 to 180, such as 48.2,16.37; got "91,0".'],
    ['?near=1e1,1', 'got "1e1,1"'],
    ['?near=48.2', 'got "48.2"'],
    ['?near=1,1&withinKm=0', 'withinKm must be an integer from 1 to 500; got 0.'],
    ['?near=1,1&withinKm=501', 'withinKm must be an integer from 1 to 500; got 501.'],
    ['?withinKm=5', 'withinKm needs near'],
    ['?sort=distance', 'sort=distance needs near'],
    ['?sort=price', 'sort must be one of newest, distance, relevance; got "price".'],
    ['?q=', 'q must be a string of 1–100 characters'],
    [`?q=${'x'.repeat(101)}`, 'q must be a string of 1–100 characters'],
    ['?q=%00', 'q must be a string of 1–100 characters'],
    ['?sex=unknown', 'sex must be one of male, female; got "unknown".'],
    ['?goodWith=wolves', 'goodWith must be one of children, dogs, cats; got "wolves".'],
    ['?colour=brown', 'Unknown query parameter "colour".'],
  ])('%s is 400 and says why', async (query, message) => {
    expect(await search(query)).toMatchObject(errorResponse(400, 'invalid_query', message));
  });

  test.each([
    '%25',
    '_',
    "'",
    "'' | ''",
    '\\',
    "biscuit' & !'x",
    'a & b | !c:*',
    '((((',
    '<->',
    '"unclosed',
    "sex='female'",
    'sex=female',
    "breed=''); drop table pets; --",
    '😀',
    'http://a.example/?x=sex=female',
  ])('q and breed %s find nothing and break nothing', async (text) => {
    for (const name of ['q', 'breed']) {
      const { status, json } = await search(`?categoryId=20&${name}=${encodeURIComponent(text)}`);
      expect([status, json]).toEqual([200, []]);
    }
  });
});
