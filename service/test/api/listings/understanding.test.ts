// What people type into one field: phrases become filters, and the response says which.
import { describe, expect, test } from 'vitest';
import { addPet, createManager } from '../../adoption-steps.ts';
import { addDescribed, addShelter, idsOf, type ListingBody, searchListings } from '../../listing-steps.ts';
import { nextPage, walk } from '../../page-walk.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [key, manager] = [await store.createKey(), await createManager(store)];
const [dogs, cats] = [1, 2];
for (const [id, name] of [
  [dogs, 'Dogs'],
  [cats, 'Cats & kittens'],
  [3, 'Rabbits'],
  [4, 'Water voles'],
]) {
  await store.call('PUT', `/v1/categories/${id}`, { key: manager.key, body: { name } });
}
const vienna = await addShelter(store, { town: 'Wien', postcode: '1020' });
const today = new Date().toISOString().slice(0, 10);
const add = async (name: string, categoryId: number, profile: Record<string, unknown> = {}, shelterId = 1) =>
  (await addDescribed(store, key, { name, categoryId, shelterId }, profile)).id;

const small = await add('Rex', dogs, { size: 'small', birth_date: '2016-01-01', good_with_cats: 'yes', colors: ['white'] });
const large = await add('Wolf', dogs, {
  size: 'large',
  birth_date: '2016-01-01',
  good_with_cats: 'no',
  description: 'A small heart for puppies.',
});
const puppy = await add('Krümel', dogs, { birth_date: today, size: 'small', breed_primary: 'Labrador Retriever' }, vienna);
const shy = await add('Minka', cats, { description: 'She is shy.', colors: ['orange', 'white'], breed_primary: 'Siamese/Burmese' });
const black = await add('Ginger', cats, { colors: ['black'], birth_date: '2010-01-01' });
const bunny = await add('Hoppel', 3, { colors: ['grey'] });
const namedPuppy = await add('Puppy', cats, { birth_date: '2010-01-01', size: 'medium' });
const vole = await add('Ratty', 4);

const ask = (q: string, more = '') => searchListings(store, key, `?q=${encodeURIComponent(q)}${more}`);
const locationOf = ({ headers }: { readonly headers: Record<string, unknown> }) => String(headers['content-location']);
const understood = (response: Awaited<ReturnType<typeof ask>>) => Object.fromEntries(new URL(locationOf(response), store.url).searchParams);

describe('GET /v1/listings with words', () => {
  test.each<[string, Record<string, string>, number[]]>([
    ['small dog', { categoryId: '1', size: 'small' }, [puppy, small]],
    ['puppies', { categoryId: '1', age: 'baby' }, [puppy]],
    ['shy cat', { categoryId: '2', q: '"shy"' }, [shy]],
    ['dogs good with cats', { categoryId: '1', goodWith: 'cats' }, [small]],
    ['dog in wien', { categoryId: '1', town: 'Wien' }, [puppy]],
    ['1020', { postcode: '1020' }, [puppy]],
    ['lab', { breed: 'labrador' }, [puppy]],
    ['ginger white cat', { categoryId: '2', color: 'white' }, [shy]],
    ['burmese', { breed: 'burmese' }, [shy]],
    ['gray bunny', { categoryId: '3', color: 'grey' }, [bunny]],
    ['water vole', { categoryId: '4' }, [vole]],
    ['WOLF', { q: '"WOLF"' }, [large]],
    ['not small dog', { categoryId: '1', not: 'size:small' }, [large]],
    ['dog, no kids', { categoryId: '1', not: 'goodWith:children' }, [puppy, large, small]],
    ['pupies', { categoryId: '1', age: 'baby' }, [puppy]],
    ['family dog', { categoryId: '1', goodWith: 'children' }, []],
    ['small dog for seniors', { categoryId: '1', size: 'small', q: '"for seniors"' }, []],
    ['dog under 1 year', { categoryId: '1', age: 'baby' }, [puppy]],
    ['cat older than 8 years', { categoryId: '2', age: 'senior' }, [namedPuppy, black]],
    ['dog over 9 years', { categoryId: '1', ageMonthsMin: '108' }, [large, small]],
    ['cat aged 9 or 10', { categoryId: '2', ageMonthsMin: '108', ageMonthsMax: '131' }, []],
    ['cat named ginger', { categoryId: '2', name: 'ginger' }, [black]],
    ['wien', { town: 'Wien' }, [puppy]],
    ['wien dogs', { categoryId: '1', town: 'Wien' }, [puppy]],
    ['"wien" dogs', { categoryId: '1', q: '"wien"' }, []],
    ['dogs not in wien', { categoryId: '1', q: '"not in wien"' }, []],
  ])('%s', async (q, filters, ids) => {
    const response = await ask(q);
    expect(understood(response)).toEqual({ ...filters, sort: 'relevance' });
    expect(idsOf(response)).toEqual(ids);
  });

  test('shows animals whose name is the searched word first, and then what it means', async () => {
    const ginger = await ask('Ginger');
    expect(understood(ginger)).toEqual({ color: 'ginger', orNamed: 'Ginger', sort: 'relevance' });
    expect(idsOf(ginger)).toEqual([black, shy]);
    const named = await ask('puppy');
    expect(idsOf(named)).toEqual([namedPuppy, puppy]);
    expect(idsOf(await ask('puppy', '&size=small'))).toEqual([puppy]);
    expect(idsOf(await ask('minka'))).toEqual([shy]);
  });

  test('searches names alone if what was understood finds nothing', async () => {
    const id = await add('The Little Bald Tiger', dogs);
    const response = await ask('little bald tiger');
    expect(understood(response)).toEqual({ name: 'little bald tiger', sort: 'relevance' });
    expect(idsOf(response)).toEqual([id]);
    const nothing = await ask('huge bald rabbit');
    expect(understood(nothing)).toEqual({ categoryId: '3', size: 'extra_large', coat: 'hairless', sort: 'relevance' });
    expect(nothing.json).toEqual([]);
  });

  test('says what was left out and what was corrected, and searches for the word itself if that is asked for', async () => {
    const notesOf = (response: Awaited<ReturnType<typeof ask>>) => String(response.headers['search-notes'] ?? '');
    const left = await ask('looking for a small dog please');
    expect(understood(left)).toEqual({ categoryId: '1', size: 'small', sort: 'relevance' });
    expect(notesOf(left)).toBe('leftOut=looking+for+a&leftOut=please');
    const path = '/v1/listings?q=labrodor+dog&limit=1';
    const corrected = await store.call<ListingBody[]>('GET', path, { key: key.key });
    expect(understood(corrected)).toEqual({ categoryId: '1', q: '"labrador"', sort: 'relevance', limit: '1' });
    expect([idsOf(corrected), notesOf(corrected)]).toEqual([[puppy], 'misspelt=labrodor&searched=labrador']);
    const cached = await store.call<ListingBody[]>('GET', path, { key: key.key });
    expect(notesOf(cached)).toBe(notesOf(corrected));
    expect(notesOf(await ask('kiten'))).toBe('misspelt=kiten&searched=kitten');
    const exact = await ask('"labrodor"', '&spelling=exact');
    expect([idsOf(exact), notesOf(exact), understood(exact)]).toEqual([[], '', { q: '"labrodor"', spelling: 'exact', sort: 'relevance' }]);
    expect(idsOf(await ask('kiten', '&spelling=exact'))).toEqual([]);
    const facets = await store.call('GET', '/v1/listings/facets?q=labrodor', { key: key.key });
    expect([facets.headers['content-location'], facets.headers['search-notes']]).toEqual([
      '/v1/listings/facets?q=%22labrador%22',
      'misspelt=labrodor&searched=labrador',
    ]);
  });

  test('takes a cursor of a corrected search with the words as they were typed', async () => {
    await add('Labrador', dogs, { breed_primary: 'Labrador Retriever' });
    const all = await ask('labrodor');
    expect(idsOf(all)).toEqual(idsOf(await ask('"labrador"')));
    const first = await ask('labrodor', '&limit=1');
    const link = nextPage(first) ?? '';
    expect(new URL(link, store.url).searchParams.get('q')).toBe('"labrador"');
    const second = await store.call<ListingBody[]>('GET', link, { key: key.key });
    const cursor = new URL(link, store.url).searchParams.get('cursor');
    expect(idsOf(await ask('labrodor', `&limit=1&cursor=${cursor}`))).toEqual(idsOf(second));
    expect(idsOf(second)).toEqual([puppy]);
  });

  test('finds the name of an animal that nobody has described', async () => {
    const { id } = await addPet(store, key, { name: 'Undescribed Ulla', categoryId: dogs });
    expect(idsOf(await searchListings(store, key, '?name=ulla'))).toEqual([id]);
    expect(idsOf(await searchListings(store, key, '?name=ulla&sort=newest'))).toEqual([id]);
  });

  test('follows the filters of the request', async () => {
    const against = await ask('small dog', '&size=large');
    expect(understood(against)).toEqual({ categoryId: '1', size: 'large', q: '"small"', sort: 'relevance' });
    expect(idsOf(against)).toEqual([large]);
    expect(understood(await ask('puppy', '&categoryId=2'))).toEqual({ categoryId: '2', q: '"puppy"', sort: 'relevance' });
    const added = await ask('good with cats', '&goodWith=dogs&sort=newest&limit=7');
    expect(new URL(locationOf(added), store.url).searchParams.getAll('goodWith')).toEqual(['dogs', 'cats']);
    expect(understood(added)).toMatchObject({ sort: 'newest', limit: '7' });
  });

  test.each([
    'small dog',
    'shy cat',
    'ginger',
    'puppy',
    'little bald tiger',
    'lab in wien',
    'wien',
    'cat named ginger',
    'wolf',
    '"small" dog',
    'cat',
    'a"b',
    'dog "',
    'good with cats',
    'white cat, not shy',
    "';--",
    '<script>',
    '\\',
    '%',
    '☃ dog',
    'x'.repeat(100),
    'cat '.repeat(25),
    'a '.repeat(50),
    '" '.repeat(50),
  ])('%j means the same at its Content-Location: the same animals in the same order on every page', async (q) => {
    const response = await ask(q);
    expect(response.status).toBe(200);
    const location = locationOf(response);
    expect(location).toMatch(/^\/v1\/listings\?[\w=&%.~!*'()-]+$/);
    const again = await store.call<ListingBody[]>('GET', location, { key: key.key });
    expect(again).toMatchObject({ status: 200, json: response.json });
    expect(locationOf(again)).toBe(again.headers['content-location'] === undefined ? 'undefined' : location);
    const pages = (await walk(store, key, `${location}&limit=1`)) as ListingBody[][];
    expect(pages.flat().map(({ pet }) => pet.id)).toEqual(idsOf(response));
    expect(new Set(idsOf(response)).size).toBe(response.json.length);
  });

  test('carries what was understood in links, and takes their cursors with the words as they were typed', async () => {
    const first = await ask('puppy', '&limit=1');
    const link = nextPage(first) ?? '';
    expect(link).toContain('orNamed=puppy');
    const second = await store.call<ListingBody[]>('GET', link, { key: key.key });
    expect(idsOf(second)).toEqual([puppy]);
    const cursor = new URL(link, store.url).searchParams.get('cursor');
    expect(idsOf(await ask('puppy', `&limit=1&cursor=${cursor}`))).toEqual([puppy]);
    expect(await ask('kitten', `&limit=1&cursor=${cursor}`)).toMatchObject({ status: 400, json: { code: 'invalid_cursor' } });
  });

  test('has the header on a cached page, with 304, and for scripts of other origins', async () => {
    const path = '/v1/listings?q=small+dog&limit=9';
    const first = await store.call('GET', path, { key: key.key });
    const cached = await store.call('GET', path, { key: key.key });
    const unmodified = await store.call('GET', path, { key: key.key, headers: { 'if-none-match': String(first.headers['etag']) } });
    expect([cached.headers['content-location'], unmodified.headers['content-location']]).toEqual([locationOf(first), locationOf(first)]);
    expect(unmodified.status).toBe(304);
    expect(first.headers['access-control-expose-headers']).toContain('Content-Location');
    expect((await searchListings(store, key, '?categoryId=1')).headers).not.toHaveProperty('content-location');
  });

  test('shows at once that an animal has the name, or is what was meant', async () => {
    expect((await ask('blue foal')).json).toEqual([]);
    expect((await ask('silver rabbit')).json).toEqual([]);
    expect((await ask('silver rabbit')).json).toEqual([]);
    const id = await add('Silver Rabbit', dogs);
    expect(idsOf(await ask('silver rabbit'))).toEqual([id]);
    const { status } = await store.call('PATCH', `/v1/pets/${bunny}/profile`, { key: manager.key, body: { colors: ['silver'] } });
    expect(status).toBe(200);
    expect(idsOf(await ask('silver rabbit'))).toEqual([id, bunny]);
  });

  test('finds the animals of a shelter in a town as soon as it says so, and no others', async () => {
    const shelterId = await addShelter(store, {});
    const id = await add('Traveller', dogs, { size: 'large' }, shelterId);
    const path = '?town=Graz';
    expect((await searchListings(store, key, path)).json).toEqual([]);
    expect((await searchListings(store, key, path)).json).toEqual([]);
    const patch = (town: string | null) => store.call('PATCH', `/v1/shelters/${shelterId}`, { key: manager.key, body: { town } });
    expect((await patch('GRAZ')).status).toBe(200);
    expect(idsOf(await searchListings(store, key, path))).toEqual([id]);
    expect(idsOf(await ask('dogs in graz'))).toEqual([id]);
    expect(idsOf(await ask('graz', '&town=graz'))).toEqual([id]);
    expect(understood(await ask('graz', '&town=Wien'))).toEqual({ town: 'Wien', q: '"graz"', sort: 'relevance' });
    await add('Graz', cats);
    expect((await ask('graz')).json.map(({ pet }) => pet.name)).toEqual(['Graz', 'Traveller']);
    await patch(null);
    expect(idsOf(await searchListings(store, key, path))).toEqual([]);
  });
});

describe('GET /v1/listings/facets with words', () => {
  test.each(['small dog', 'shy cat', 'puppy', 'ginger', 'wolf', 'lab', 'dogs good with cats', 'little bald tiger'])(
    '%s counts what the search finds',
    async (q) => {
      const { json: found } = await ask(q);
      const { json, headers } = await store.call<{ sizes: Array<{ value: string; count: number }> }>(
        'GET',
        `/v1/listings/facets?q=${encodeURIComponent(q)}`,
        { key: key.key },
      );
      const sizes = found.flatMap(({ profile }) => (profile as unknown as { size: string | null }).size ?? []);
      expect(Object.fromEntries(json.sizes.map(({ value, count }) => [value, count]))).toEqual(
        Object.fromEntries([...new Set(sizes)].map((size) => [size, sizes.filter((one) => one === size).length])),
      );
      const location = String(headers['content-location']);
      expect(location).toMatch(/^\/v1\/listings\/facets\?/);
      expect((await store.call('GET', location, { key: key.key })).json).toEqual(json);
    },
  );
});
