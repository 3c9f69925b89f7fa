// Misspelt breeds, colors and towns are corrected to words of the program and to towns that store staff have confirmed, whatever animals say.
import { expect, test } from 'vitest';
import { breedSpellings, colorSpellings } from '../../../src/domain/label-spellings.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { addDescribed, addShelter, idsOf, type ListingBody, searchListings } from '../../listing-steps.ts';
import { type Misspelt, misspelt, towns } from '../../search/phrases/misspelt-words.ts';
import { createShelterKey } from '../../shelter-steps.ts';
import { openTestStore, type TestResponse } from '../../test-store.ts';

const rightShareMin = 0.95;

const store = await openTestStore({ env: { HOMEWARD_PAGE_CACHE: 'off' } });
const [key, manager] = [await store.createKey(), await createManager(store)];
await store.call('PUT', '/v1/categories/1', { key: manager.key, body: { name: 'Dogs' } });

/** The animals that each breed, color and town is searched for to find. */
const animals = new Map<string, number>();
let count = 0;
const add = async (profile: Record<string, unknown>, shelterId = 1) => {
  count += 1;
  return (await addDescribed(store, key, { name: `Animal ${count}`, shelterId }, profile)).id;
};
for (const breed of Object.keys(breedSpellings)) animals.set(`breed ${breed}`, await add({ breed_primary: breed }));
for (const color of Object.keys(colorSpellings)) animals.set(`color ${color}`, await add({ colors: [color] }));
for (const town of towns) animals.set(`town ${town}`, await add({}, await addShelter(store, { town })));

const find = (q: string, more = '') => searchListings(store, key, `?limit=100&q=${encodeURIComponent(q)}${more}`);
const notesOf = ({ headers }: TestResponse<ListingBody[]>) => headers['search-notes'];
const isRight = ({ of, meant }: Misspelt, found: readonly number[]) => found.includes(animals.get(`${of} ${meant}`) ?? 0);

async function judge() {
  const wrong: string[] = [];
  const notes: unknown[] = [];
  for (const one of misspelt) {
    const response = await find(one.typed);
    notes.push(notesOf(response));
    if (!isRight(one, idsOf(response))) wrong.push(`${one.typed} (${one.meant}): ${notesOf(response)}`);
  }
  return { wrong, notes };
}

test(`${rightShareMin * 100} % of ${misspelt.length} misspelt breeds, colors and towns find what is meant, and names that are spelt so change none`, async () => {
  expect([misspelt.length, new Set(misspelt.map(({ typed }) => typed)).size]).toEqual([240, 240]);
  const before = await judge();
  console.info([`${misspelt.length - before.wrong.length} of ${misspelt.length} are right.`, ...before.wrong].join('\n'));
  expect(before.wrong.length).toBeLessThanOrEqual((1 - rightShareMin) * misspelt.length);
  const named = new Map<string, number>();
  for (const { typed } of misspelt) named.set(typed, (await addPet(store, key, { name: typed })).id);
  expect(await judge()).toEqual(before);
  // Who means the animal finds it, too.
  for (const { typed } of misspelt) expect([typed, idsOf(await find(typed))[0]]).toEqual([typed, named.get(typed)]);
}, 120_000);

test('A word that is corrected and that an animal has finds the animals with either, those as typed first', async () => {
  const labradors = [
    await addDescribed(store, key, {}, { breed_primary: 'Labrador' }),
    await addDescribed(store, key, {}, { breed_primary: 'Labrador' }),
  ];
  const named = await addPet(store, key, { name: 'Sir Labbrador' });
  const described = await addDescribed(store, key, { name: 'Tom' }, { description: 'Half a labbrador.' });
  const found = await find('labbrador');
  expect(idsOf(found).slice(0, 2)).toEqual([named.id, described.id]);
  expect(idsOf(found)).toEqual(expect.arrayContaining(labradors.map(({ id }) => id)));
  expect(notesOf(found)).toBe('misspelt=labbrador&searched=labrador');
  expect(idsOf(await find('labbrador', '&spelling=exact'))).toEqual([named.id, described.id]);
});

test('Words that no list has are never corrected', async () => {
  const names = ['Wolpertinger', 'Philomena', 'Poppy', 'Mittens', 'Sunny', 'Hund', 'Callie', 'Lottie', 'Brownie', 'Tigger'];
  for (const name of names) {
    const { id } = await addPet(store, key, { name });
    const found = await find(name);
    expect([name, idsOf(found), notesOf(found)]).toEqual([name, [id], undefined]);
  }
  expect(idsOf(await find('Wolpertingr'))).toEqual([]);
});

test('Of more than three misspelt words none is corrected', async () => {
  const notes = async (q: string) => notesOf(await find(q));
  expect(await notes('labrodor poodel beegle')).toBe(
    'misspelt=labrodor&searched=labrador&misspelt=poodel&searched=poodle&misspelt=beegle&searched=beagle',
  );
  expect(await notes('labrodor poodel beegle dalmaitan')).toBeUndefined();
});

test('A kind of animal and a size that are misspelt are filters, and so is a breed of several words', async () => {
  const understood = async (q: string) => {
    const { headers } = await find(q);
    return Object.fromEntries(
      [...new URL(String(headers['content-location']), store.url).searchParams].filter(([name]) => name !== 'limit' && name !== 'sort'),
    );
  };
  expect(await understood('smal doggs')).toEqual({ size: 'small', categoryId: '1' });
  expect(await understood('golden retreiver')).toEqual({ breed: 'golden retriever' });
  expect(await understood('german shepehrd femlae')).toEqual({ breed: 'german shepherd', sex: 'female' });
  expect(await understood('shy dogs in dubln')).toEqual({ categoryId: '1', town: 'Dublin', q: '"shy"' });
  expect(await understood('dogs new yrok')).toEqual({ categoryId: '1', town: 'New York' });
});

test('A town that store staff have not confirmed corrects nothing, and neither does one that is a word of descriptions', async () => {
  const shelterId = await addShelter(store, {});
  const shelter = await createShelterKey(store, shelterId);
  const patch = async (by: { readonly key: string }, town: string) =>
    expect((await store.call('PATCH', `/v1/shelters/${shelterId}`, { key: by.key, body: { town } })).status).toBe(200);
  const id = await add({}, shelterId);
  await patch(shelter, 'Quedlinburg');
  expect((await find('quedlinbrug')).json).toEqual([]);
  await patch(manager, 'Quedlinburg');
  expect([idsOf(await find('quedlinbrug')), notesOf(await find('quedlinbrug'))]).toEqual([
    [id],
    'misspelt=quedlinbrug&searched=Quedlinburg',
  ]);
  const described = await addDescribed(store, key, {}, { description: 'Born in Quedlinbrug.' });
  expect(idsOf(await find('quedlinbrug'))).toEqual([described.id]);
});
