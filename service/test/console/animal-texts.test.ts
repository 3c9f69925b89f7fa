import { expect, test } from 'vitest';
import { deleteTextsOfLeftAnimals } from '../../src/animals/history/texts.ts';
import { Staff } from './adoption-site.ts';
import { addShelter } from './console-steps.ts';
import { openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const { store } = site;

async function open() {
  const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
  const browser = await site.arrive({ role: 'staff', shelterId, name: 'Berta' });
  const volunteer = await site.arrive({ role: 'volunteer', shelterId, name: 'Vera' });
  const staff = new Staff(site, browser.person);
  const pet = await staff.addPet();
  return { shelterId, browser, volunteer, staff, pet, page: `/animals/${pet.id}` };
}

const hold = (browser: TestBrowser, page: string, note: string) =>
  browser.submit(`${page}/hold`, `${page}/hold/save`, { reason: 'medical', until: '', note });
const words = async (browser: TestBrowser, path: string) => wordsOf((await browser.get(path)).text);
const textsOf = (petId: bigint) =>
  store.read('select field, before, after from animal_texts where pet_id = $1 order by history_id, field', petId);

test('the note of a hold is on the page of the animal and in its history for staff and volunteers, with who and when, and not on the card', async () => {
  const { browser, volunteer, page } = await open();
  await hold(browser, page, 'Eye drops 3 × a day');
  expect(await words(browser, page)).toMatch(/Eye drops 3 × a day Berta, \d/);
  for (const path of [page, `${page}/history`]) expect(await words(volunteer, path)).toContain('Eye drops 3 × a day');
  expect(await words(volunteer, page)).toMatch(/Eye drops 3 × a day Berta, \d/);
  for (const reader of [browser, volunteer]) expect(await words(reader, `${page}/card`)).not.toContain('Eye drops');
  await browser.submit(`${page}/hold`, `${page}/hold/end`);
  expect(await words(volunteer, page)).toContain('“Eye drops 3 × a day”');
});

test('a note of before is for staff alone, and the people of another shelter read none of this one', async () => {
  const { browser, volunteer, pet, page } = await open();
  await hold(browser, page, '');
  await store.write(`update pets set hold_note = 'Earlier words' where id = $1`, pet.id);
  expect(await words(volunteer, page)).not.toContain('Earlier words');
  expect(await words(browser, page)).toContain('Earlier words Only staff read this note.');
  await hold(browser, page, 'Own words');
  const other = await open();
  await store.write('update pets set shelter_id = $1 where id = $2', other.shelterId, pet.id);
  for (const path of [page, `${page}/history`]) expect(await words(other.volunteer, path)).not.toContain('words');
});

test('the history shows what a text said before and after, and one act is one line', async () => {
  const { browser, staff, pet, page } = await open();
  const describe = (description: string) => browser.submit(`${page}/profile`, `${page}/profile/save`, { description });
  await describe('Shy at first.');
  await describe('Likes everybody.');
  expect(await words(browser, `${page}/history`)).toMatch(/Description: before and after Before Shy at first\. After Likes everybody\./);
  await browser.submit(`${page}/name`, `${page}/name/save`, { name: 'Kümmel', categoryId: '1' });
  expect(await textsOf(pet.id)).toContainEqual({ field: 'name', before: 'Biscuit', after: 'Kümmel' });
  const { id } = await staff.apply(pet.id);
  await staff.decide(id, 'accept');
  const { text } = await browser.get(`${page}/history`);
  const lines = /<ol class="deeds">.*?<\/ol>/s.exec(text)?.[0].match(/<li>/g) ?? [];
  expect(lines.length).toBeLessThan((await store.read('select from history where pet_id = $1', pet.id)).length);
  expect(wordsOf(text)).toContain('approved');
});

test('texts go 30 days after the animal has left, and stay if it comes back; notes of holds go with an adopter', async () => {
  const { browser, staff, pet, page } = await open();
  for (let n = 1; n <= 22; n += 1) await hold(browser, page, `Note ${n}`);
  expect(await textsOf(pet.id)).toHaveLength(20);
  const { id } = await staff.apply(pet.id);
  await staff.decide(id, 'decline');
  await store.write(
    'update applications set adopter_name = null, adopter_email = null, adopter_address = null, answers = null where id = $1',
    id,
  );
  expect(await textsOf(pet.id)).toEqual([]);
  await browser.submit(`${page}/profile`, `${page}/profile/save`, { description: 'Shy at first.' });
  const ends = () =>
    store.read<{ days: number | null }>(
      `select extract(day from ends_at - now())::int as days from animal_texts where pet_id = $1`,
      pet.id,
    );
  expect(await ends()).toEqual([{ days: null }]);
  await store.write('update pets set removed_at = now() where id = $1', pet.id);
  expect((await ends())[0]?.days).toBeGreaterThanOrEqual(29);
  await store.write('update pets set removed_at = null where id = $1', pet.id);
  expect(await ends()).toEqual([{ days: null }]);
  await store.write('update pets set removed_at = now() where id = $1', pet.id);
  await store.write(`update animal_texts set ends_at = now() where pet_id = $1`, pet.id);
  expect(await deleteTextsOfLeftAnimals(store.dependencies.db, 10)).toBe(1);
  expect(await textsOf(pet.id)).toEqual([]);
});
