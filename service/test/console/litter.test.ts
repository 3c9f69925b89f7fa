import { expect, test } from 'vitest';
import { getProfile } from '../../src/animals/profiles/profiles.ts';
import { addAnimal, addShelter } from './console-steps.ts';
import { hiddenOf, openTestConsole, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const { db } = site.store.dependencies;
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const staff = await site.arrive({ role: 'staff', shelterId, name: 'Ada' });
const volunteer = await site.arrive({ role: 'volunteer', shelterId });
const other = await site.arrive({ role: 'admin', shelterId: await addShelter(site, 'Alpine Shelter', 'Europe/Vienna') });

const page = '/animals/litter';
const form = `${page}/add`;
const idsOf = (location: string | undefined) => (new URLSearchParams(location?.split('?')[1]).get('of') ?? '').split(',').map(BigInt);
const countPets = async () => Number((await site.store.read<{ n: bigint }>('select count(*) as n from pets'))[0]?.n);
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

test('a litter is added with one profile, each animal with its sex, its history and its events', async () => {
  expect((await volunteer.open(page)).text.match(/<option value="unknown" selected>/g)).toHaveLength(8);
  const sent = await volunteer.submit(page, form, {
    femaleNames: 'Mia\r\nKitten x2',
    maleNames: ' Kitten x1 \n\n',
    categoryId: '1',
    age: '8 weeks',
    breedPrimary: 'European Shorthair',
    colors: 'black, white',
    children: 'yes',
    vaccinated: 'yes',
  });
  const ids = idsOf(sent.location);
  expect(ids).toHaveLength(4);
  const pets = await site.store.read('select name, shelter_id from pets where id = any($1) order by id', ids);
  expect(pets.map(({ name }) => name)).toEqual(['Kitten 1', 'Mia', 'Kitten 2', 'Kitten 3']);
  expect(new Set(pets.map((pet) => pet['shelter_id']))).toEqual(new Set([shelterId]));
  for (const [index, id] of ids.entries()) {
    const profile = await getProfile(db, id);
    expect(profile).toMatchObject({
      sex: index === 0 ? 'male' : 'female',
      breeds: { primary: 'European Shorthair' },
      colors: ['black', 'white'],
      goodWith: { children: 'yes', dogs: 'unknown' },
      birthDateIsExact: false,
    });
    expect([daysAgo(56), daysAgo(55)]).toContain(profile.birthDate);
    const history = await site.store.read('select kind, person_id from history where pet_id = $1 order by id', id);
    expect(history.map(({ kind }) => kind)).toEqual(['pet_added', 'pet_described']);
    expect(history.every((row) => row['person_id'] === volunteer.person.id)).toBe(true);
    const events = await site.store.read(`select type from outbox where pet_id = $1 order by id`, id);
    expect(events.map(({ type }) => type)).toEqual(['pet.created', 'pet.profile_changed']);
  }
  const shown = await volunteer.open(sent.location ?? '');
  expect(wordsOf(shown.text)).toMatch(/4 animals are added\..*Kitten 1.*Mia.*Kitten 2.*Kitten 3.*Done/);
  expect(wordsOf((await staff.open(`/animals/${ids[1]}`)).text)).toContain('Age about 8 weeks');
});

test('a litter of a shelter whose new animals are not ready yet begins on hold', async () => {
  const careful = await addShelter(site, 'Careful', 'UTC');
  await site.store.write('update shelters set new_animals_held = true where id = $1', careful);
  const keeper = await site.arrive({ role: 'staff', shelterId: careful });
  const ids = idsOf((await keeper.submit(page, form, { unknownNames: 'Held x2', categoryId: '1', age: '3 weeks' })).location);
  const pets = await site.store.read('select status, hold from pets where id = any($1)', ids);
  expect(pets).toEqual([
    { status: 'pending', hold: 'other' },
    { status: 'pending', hold: 'other' },
  ]);
  expect(await getProfile(db, ids[0] ?? 0n)).toMatchObject({ birthDateIsExact: false, sex: 'unknown' });
});

test('a litter that is sent twice is added once', async () => {
  const hidden = hiddenOf((await staff.open(page)).text, form);
  const values = { ...hidden, unknownNames: 'Once x3', categoryId: '1' };
  const [first, second] = [await staff.post(form, values), await staff.post(form, values)];
  expect(second.location).toBe(first.location);
  expect(idsOf(first.location)).toHaveLength(3);
  expect(await site.store.read(`select id from pets where name like 'Once%'`)).toHaveLength(3);
});

test.each([
  ['without a name', {}, 'Write at least one name.'],
  ['with more than 12', { maleNames: 'Pup x7', femaleNames: 'Pup x6' }, 'At most 12 animals at once; these are 13.'],
  ['with more lines than anybody has animals', { unknownNames: 'a x99\n'.repeat(300) }, 'At most 12 animals at once; these are 29,700.'],
  ['with a name that is too long', { maleNames: `Rex\n${'x'.repeat(201)}` }, 'At most 200 characters'],
  ['with an age that is none', { maleNames: 'Rex', age: 'quite old' }, 'Write an age, such as 8 weeks, 5 months or 2 years.'],
  ['with a birth date to come', { maleNames: 'Rex', birthDate: '2999-01-01' }, 'must not be in the future'],
  ['with an unknown animal beside it', { maleNames: 'Rex\nMax', bondedWith: '999999999' }, 'there is no animal with the number 999999999'],
])('a litter %s is not added, nor any of it', async (_, values, words) => {
  const before = await countPets();
  const sent = await staff.submit(page, form, { categoryId: '1', ...values });
  expect([sent.status, wordsOf(sent.text)]).toEqual([422, expect.stringContaining(words)]);
  expect(await countPets()).toBe(before);
});

test('a copy begins with the profile of the animal, without what is its alone', async () => {
  const id = await addAnimal(site, { shelterId, name: 'Kümmel <b>' });
  await staff.submit(`/animals/${id}/profile`, `/animals/${id}/profile/save`, {
    description: 'Shy at first. <script>alert(1)</script>',
    sex: 'male',
    externalId: 'A-1',
    breedPrimary: 'Beagle',
    attributes: 'Toy: ball',
  });
  const path = `${page}?from=${id}`;
  expect((await staff.open(`/animals/${id}`)).text).toContain(`href="${path}"`);
  const { text } = await staff.open(path);
  expect(wordsOf(text)).toContain('Animals like Kümmel <b>');
  expect(text).not.toContain('<script>alert');
  expect(text).toMatch(/name="breedPrimary"[^>]*value="Beagle"/);
  expect(text).not.toContain('A-1');
  const sent = await staff.submit(path, form, {
    maleNames: 'Second',
    categoryId: '1',
    breedPrimary: 'Beagle',
    description: 'Shy at first.',
    attributes: 'Toy: ball',
  });
  const [copy = 0n] = idsOf(sent.location);
  expect(await getProfile(db, copy)).toMatchObject({ breeds: { primary: 'Beagle' }, externalId: null, attributes: { Toy: 'ball' } });
  expect((await other.open(path)).status).toBe(404);
});

test('the page of new photos shows animals of the shelter alone, each with its own form, and says if there is none', async () => {
  const ids = [await addAnimal(site, { shelterId, name: 'One' }), await addAnimal(site, { shelterId, name: 'Two' })];
  const path = `/animals/photos?of=${ids.join()}`;
  const { text } = await volunteer.open(path);
  for (const id of ids) expect(text).toMatch(new RegExp(`(action="/animals/${id}/photos|takes no photos)`));
  expect(wordsOf((await other.open(path)).text)).toContain('No animals to show');
  expect(wordsOf((await staff.open('/animals/photos?of=,x,99999999999999999999999,1e3')).text)).toContain('No animals to show');
  const many = Array.from({ length: 40 }, () => ids[0]).join();
  expect((await staff.open(`/animals/photos?of=${many}`)).text.match(/<section class="card"/g)).toHaveLength(1);
});
