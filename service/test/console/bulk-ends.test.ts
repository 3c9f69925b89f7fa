import { expect, test } from 'vitest';
import { workOnBulkEnds } from '../../src/adoption/applications/bulk-ends.ts';
import { Staff } from './adoption-site.ts';
import { addShelter } from './console-steps.ts';
import { openTestConsole, wordsOf } from './test-console.ts';

const site = await openTestConsole({
  env: {
    HOMEWARD_SMTP_URL: 'smtp://127.0.0.1:1',
    HOMEWARD_MAIL_FROM: 'Danube <adoption@example.org>',
    HOMEWARD_PUBLIC_URL: 'https://store.example',
  },
});
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const otherId = await addShelter(site, 'Inn Shelter', 'Europe/Vienna');
const { db, catalogue } = site.store.dependencies;

async function arrive(place: bigint | null, name = 'Carl') {
  const browser = await site.arrive({ role: 'staff', shelterId: place, name });
  return { browser, staff: new Staff(site, browser.person) };
}
async function work(): Promise<void> {
  while ((await workOnBulkEnds(db, catalogue)) > 0);
}

test('staff end all that a client has sent for an animal: the page says how many before, how far it is, and takes it back', async () => {
  const { browser, staff } = await arrive(shelterId);
  const pet = await staff.addPet('Biscuit');
  const first = await staff.apply(pet.id, { isMailed: true });
  await staff.apply(pet.id, { isMailed: true });
  await staff.decide((await staff.apply(pet.id, { isMailed: true })).id, 'review');
  await staff.apply((await staff.addPet('Waffle')).id);
  const seen = await browser.open(`/applications/${first.id}`);
  const ask = `/applications/clients/${first.clientId}/end`;
  expect(seen.text).toContain(`href="${ask}?pet=${pet.id}"`);

  const words = wordsOf((await browser.open(`${ask}?pet=${pet.id}`)).text);
  expect(words).toMatch(/3 applications to your shelter wait for a decision ?: 2 new, 1 in review\./);
  expect(words).toContain('Their adopters are told by e-mail, 10 minutes after the last one was closed.');
  expect(wordsOf((await browser.open(ask)).text)).toContain('4 applications to your shelter wait');

  const { location = '' } = await browser.submit(`${ask}?pet=${pet.id}`, ask);
  expect(wordsOf((await browser.open(location)).text)).toContain('0 of 3 are ended');
  const again = await browser.submit(ask, ask);
  expect(wordsOf(again.text)).toContain('Applications of this client are being ended or reopened at this moment.');
  await work();
  const held = wordsOf((await browser.open(location)).text);
  expect(held).toContain('3 were ended, and no adopter was told yet');
  expect(held).toMatch(/Their adopters are told at .*, unless you take it back before\./);
  expect(wordsOf((await browser.open(`/applications/${first.id}`)).text)).toContain('You have ended it with all that its sender had sent');

  await browser.submit(location, `${location}/take-back`);
  await work();
  expect(wordsOf((await browser.open(location)).text)).toContain('Taken back: 3 of 3 are open again');
  expect(await staff.statusOf('applications', first.id)).toBe('reviewing');
  expect(wordsOf((await browser.open('/applications/ends')).text)).toContain('Biscuit');
});

test('staff of another shelter find neither the applications nor the job', async () => {
  const { staff } = await arrive(shelterId);
  const { clientId } = await staff.apply((await staff.addPet()).id);
  const jobId = await staff.endAll(clientId);
  const stranger = (await arrive(otherId, 'Dora')).browser;
  expect((await stranger.get(`/applications/clients/${clientId}/end`)).status).toBe(404);
  expect((await stranger.get(`/applications/ends/${jobId}`)).status).toBe(404);
  expect(wordsOf((await stranger.open('/applications/ends')).text)).not.toContain('Danube');
  expect((await (await arrive(null, 'Eve')).browser.get(`/applications/ends/${jobId}`)).status).toBe(200);
});
