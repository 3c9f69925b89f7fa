import { expect, test } from 'vitest';
import { addShelter } from './console-steps.ts';
import { hiddenOf, openTestConsole, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const { store } = site;
const path = '/shelters/confirm';

test('store staff see what a shelter has changed, before and after, and let it into mail with one button', async () => {
  const id = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
  await store.write(`update shelters set phone = '+43 900', town = 'cuddly' where id = $1`, id);
  const staff = await site.arrive({ role: 'staff', shelterId: null });
  expect((await staff.get('/')).text).toContain(`href="${path}" data-row`);
  const shown = wordsOf((await staff.get(path)).text);
  for (const words of ['Danube Shelter', 'Telephone', 'nothing', '+43 900', 'Town', 'cuddly']) expect(shown).toContain(words);
  expect((await staff.post(path, hiddenOf((await staff.get(path)).text, path))).status).toBe(303);
  expect(wordsOf((await staff.get(path)).text)).toContain('Nothing waits');
  const [confirmed] = await store.read('select phone, town from confirmed_shelters where shelter_id = $1', id);
  expect(confirmed).toEqual({ phone: '+43 900', town: 'cuddly' });
});

test('what the shelter changes while somebody looks is not confirmed', async () => {
  const id = await addShelter(site, 'Alps Shelter', 'Europe/Vienna');
  await store.write(`update shelters set phone = '1' where id = $1`, id);
  const staff = await site.arrive({ role: 'staff', shelterId: null });
  const page = await staff.get(path);
  await store.write(`update shelters set phone = 'Refund' where id = $1`, id);
  const sent = await staff.post(path, hiddenOf(page.text, path));
  expect(wordsOf(sent.text)).toContain('has changed something meanwhile');
  expect(await store.read('select phone from confirmed_shelters where shelter_id = $1', id)).toEqual([{ phone: null }]);
});

test('nobody of a shelter confirms anything, its admin neither', async () => {
  const shelterId = await addShelter(site, 'Own Shelter', 'Europe/Vienna');
  const admin = await site.arrive({ role: 'admin', shelterId });
  expect((await admin.get(path)).status).toBe(403);
});
