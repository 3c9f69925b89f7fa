import { expect, test } from 'vitest';
import { Staff } from './adoption-site.ts';
import { addShelter } from './console-steps.ts';
import { openTestConsole, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const { store } = site;

async function openShelter(name: string) {
  const shelterId = await addShelter(site, name, 'Europe/Vienna');
  const browser = await site.arrive({ role: 'staff', shelterId, name: 'Carl Carlsson' });
  return { shelterId, browser, staff: new Staff(site, browser.person) };
}

const sectionsOf = (page: string) => [...page.matchAll(/<h2>([^<]*?) <span/g)].map(([, title = '']) => title);

test('without anything to do, it says so', async () => {
  const { browser } = await openShelter('Quiet Shelter');
  const { text } = await browser.get('/');
  expect(wordsOf(text)).toContain('Nothing needs you.');
  expect(wordsOf(text)).toContain('Carl');
});

test('what needs somebody is there, each with a link to where it is done, and for nobody of another shelter', async () => {
  const { browser, staff, shelterId } = await openShelter('Busy Shelter');
  const { browser: stranger } = await openShelter('Other Shelter');
  const waiting = await staff.apply((await staff.addPet('New')).id);
  const reviewed = await staff.apply((await staff.addPet('Reviewed')).id);
  await staff.decide(reviewed.id, 'review');
  const order = await staff.placeOrder((await staff.addPet('Ordered')).id);
  const promised = await staff.decide((await staff.apply((await staff.addPet('Promised')).id)).id, 'accept');
  const untold = await staff.apply((await staff.addPet('Untold')).id, { isMailed: true });
  await staff.decide(untold.id, 'decline');
  const held = await staff.addPet('Held');
  const pictured = await staff.addPet('Pictured');
  await store.write(`update applications set acted_at = now() - interval '8 days' where id = $1`, reviewed.id);
  await store.write(`update orders set updated_at = now() - interval '15 days' where id = $1`, promised.orderId);
  await store.write(
    `update mail set state = 'failed', ended_at = now(), failure = '550 5.1.1' where subject_id = $1 and kind = 'declined'`,
    untold.id,
  );
  await store.write(
    `update pets set status = 'pending', hold = 'medical', hold_reason = 'medical', hold_until = now() - interval '1 minute', hold_releases = true where id = $1`,
    held.id,
  );
  await store.write(
    `insert into photos (pet_id, client_id, position, original_hash, original_name, status, failure)
      select $1, id, 0, repeat('0', 64), 'x', 'failed', 'unreadable' from clients limit 1`,
    pictured.id,
  );
  const expected = [
    [`/orders/${order.id}`, 'Orders that wait for you'],
    [`/applications/${waiting.id}`, 'New applications'],
    [`/applications/${reviewed.id}`, 'In review for more than 7 days'],
    [`/applications/${untold.id}`, 'Adopters whom no mail reaches'],
    [`/orders/${promised.orderId}`, 'Promised for more than 14 days'],
    [`/animals/${held.id}`, 'Holds that end today'],
    [`/animals/${pictured.id}/photos`, 'Photos that failed'],
  ] as const;
  const manager = await site.arrive({ role: 'staff', shelterId: null });
  for (const reader of [browser, manager]) {
    const { text } = await reader.get('/');
    expect(sectionsOf(text)).toEqual(expected.map(([, title]) => title));
    for (const [href] of expected) expect(text).toContain(`href="${href}" data-row`);
  }
  expect(sectionsOf((await stranger.get('/')).text)).toEqual([]);
  // Volunteers send photos, and decide on nothing.
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  expect(sectionsOf((await volunteer.get('/')).text)).toEqual(['Photos that failed']);
});

test('what is done is no longer there', async () => {
  const { browser, staff } = await openShelter('Tidy Shelter');
  const { id } = await staff.apply((await staff.addPet()).id, { isMailed: true });
  expect(sectionsOf((await browser.get('/')).text)).toEqual(['New applications']);
  await staff.decide(id, 'accept');
  const told = `update mail set state = $2, ended_at = now(), failure = case $2 when 'failed' then '550' end where subject_id = $1 and kind = 'accepted'`;
  await store.write(told, id, 'failed');
  expect(sectionsOf((await browser.get('/')).text)).toEqual(['Adopters whom no mail reaches']);
  await store.write(told, id, 'sent');
  expect(sectionsOf((await browser.get('/')).text)).toEqual([]);
});

test('of each kind the five oldest are shown, and how many more there are, up to a hundred', async () => {
  const { browser, staff } = await openShelter('Crowded Shelter');
  const made: bigint[] = [];
  for (let i = 0; i < 8; i += 1) made.push((await staff.apply((await staff.addPet()).id)).id);
  const { text } = await browser.get('/');
  const shown = [...text.matchAll(/href="\/applications\/(\d+)" data-row/g)].map(([, id]) => id);
  expect(shown).toEqual(made.slice(0, 5).map(String));
  expect(wordsOf(text)).toContain('New applications 8');
  expect(wordsOf(text)).toContain('3 more');
  await store.write(
    `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, answers)
      select client_id, pet_id, shelter_id, status, false, 'Bob', 'bob', 'bob' || i, '[]' from applications, generate_series(1, 120) i where id = $1`,
    made[0],
  );
  const many = wordsOf((await browser.get('/')).text);
  expect(many).toContain('New applications 100+');
  expect(many).toMatch(/Biscuit ?: \d+\+ applications/);
});

test.each([
  // As if a later release of Node.js had stored it.
  ['Mars/Olympus', 'UTC'],
  // Node.js knows it, and PostgreSQL does not.
  ['AET', ''],
])('a shelter in the time zone %s has all its pages, with times that say what they are in', async (timezone, shown) => {
  const { browser, staff, shelterId } = await openShelter(`Shelter in ${timezone}`);
  await store.write('update shelters set timezone = $1 where id = $2', timezone, shelterId);
  const order = await staff.placeOrder((await staff.addPet('Ordered')).id);
  const { id } = await staff.addPet('Held');
  await store.write(
    `update pets set status = 'pending', hold = 'medical', hold_reason = 'medical', hold_until = now() - interval '1 minute', hold_releases = true where id = $1`,
    id,
  );
  const paths = ['/animals', `/animals/${id}`, `/animals/${id}/hold`, `/animals/${id}/history`, '/orders', `/orders/${order.id}`];
  for (const path of paths) expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
  const words = wordsOf((await browser.get('/')).text);
  expect(words).toContain('Orders that wait for you');
  expect(words).toMatch(new RegExp(`Held [^:]*until \\d+ \\w+ \\d{4}, \\d\\d:\\d\\d ${shown}`));
});

test('applications for one animal are one line, which leads to their comparison', async () => {
  const { browser, staff } = await openShelter('Moose Shelter');
  const { id } = await staff.addPet('Moose');
  for (let i = 0; i < 6; i += 1) await staff.apply(id);
  const { text } = await browser.get('/');
  expect(wordsOf(text)).toContain('New applications 6');
  expect(wordsOf(text)).toMatch(/Moose ?: 6 applications/);
  expect(text.match(new RegExp(`href="/applications/pets/${id}" data-row`, 'g'))).toHaveLength(1);
});
