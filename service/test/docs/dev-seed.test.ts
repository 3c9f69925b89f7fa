// The animals that `npm run dev` adds.

import { expect, test } from 'vitest';
import { createStore } from '../../../sdk/src/index.ts';
import { devAnimals } from '../../../tools/dev-animals.ts';
import { addApplications } from '../../../tools/dev-applications.ts';
import { devProfile } from '../../../tools/dev-profiles.ts';
import { devAsking } from '../../../tools/dev-questions.ts';
import { addAnimals, addPictures, describeAnimals } from '../../../tools/dev-seed.ts';
import { devShelters, devStore } from '../../../tools/dev-shelters.ts';
import { addToday } from '../../../tools/dev-today.ts';
import { createManager } from '../adoption-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { createPhotoStore, processAll } from '../photo-steps.ts';
import { createTestStore } from '../test-store.ts';

const photos = disposeAfterAll(await createPhotoStore());
const client = createStore({ url: photos.store.url, key: (await createManager(photos.store)).key });

async function listings() {
  const found = await client.listings.search({ sort: 'newest' }).page();
  return found.items.map(({ pet, shelter, profile, photos: own }) => ({
    id: pet.id,
    name: pet.name,
    town: shelter.address?.split(', ').at(-1),
    story: profile.description,
    photos: own.map(({ alt }) => alt),
  }));
}

test('have a shelter, a profile and pictures, the newest first, and a second start adds nothing', async () => {
  const animals = devAnimals().slice(0, 16);
  await addAnimals(client, animals);
  await describeAnimals(client);
  await addPictures(client, { animalsMax: 2 });
  await processAll(photos);
  const first = await listings();
  expect(first.map(({ name }) => name)).toEqual(animals.map(({ name }) => name).reverse());
  expect(first.filter(({ story, town }) => !story || !town)).toEqual([]);
  expect(new Set(first.map(({ town }) => town)).size).toBeGreaterThan(5);
  expect(first.map((one) => one.photos.length > 0)).toEqual([true, true, ...Array(14).fill(false)]);
  expect(first[0]?.photos[0]).toContain(`${first[0]?.name}, `);
  await addAnimals(client, animals);
  await describeAnimals(client);
  expect(await processAll(photos)).toBe(0);
  expect(await listings()).toEqual(first);
});

test('are completed after an interrupted start, without doubles', async () => {
  await addAnimals(client, devAnimals().slice(0, 18), AbortSignal.timeout(60_000));
  // Aborted: nothing more is written.
  await expect(describeAnimals(client, AbortSignal.abort())).rejects.toThrow('aborted');
  await describeAnimals(client);
  const all = await listings();
  expect([all.length, all.filter(({ story }) => !story)]).toEqual([18, []]);
  const { items } = await client.shelters.list().page();
  expect(items.map(({ name }) => name)).toEqual([devStore, ...devShelters].map(({ name }) => name));
  // The store itself has none of them: what a partner adds appears there, and under nobody else's telephone number.
  expect((await client.listings.search({ shelterId: items[0]?.id ?? 0n }).page()).items).toEqual([]);
});

test('of two shelters have sixty applications in every state, and a second start adds nothing', async () => {
  await using own = await createTestStore();
  const dev = createStore({ url: own.url, key: (await createManager(own)).key });
  await addAnimals(dev, devAnimals().slice(0, 220));
  await describeAnimals(dev);
  await addApplications(dev);
  const rows = () =>
    own.read<{ status: string; count: number }>('select status, count(*)::int from applications group by status order by status::text');
  const first = await rows();
  expect(first.reduce((sum, { count }) => sum + count, 0)).toBe(60);
  expect(first.map(({ status }) => status)).toEqual(['accepted', 'closed', 'completed', 'declined', 'reviewing', 'submitted', 'withdrawn']);
  const { items } = await dev.shelters.list().page();
  expect(items.filter(({ adoption }) => adoption === 'application').map(({ name }) => name)).toEqual(
    devAsking.map(({ shelter }) => shelter),
  );
  await addApplications(dev);
  expect(await rows()).toEqual(first);
});

test('are 300, each with another story, whose dates are in order', () => {
  const animals = devAnimals();
  const profiles = animals.map((animal, i) => devProfile({ ...animal, id: i + 1 }, i / animals.length, new Date('2026-06-01')));
  expect(animals).toHaveLength(300);
  expect(new Set(profiles.map(({ description }) => description)).size).toBeGreaterThan(290);
  expect(profiles.filter(({ description }) => /[{}]|undefined/.test(description ?? ''))).toEqual([]);
  expect(profiles.filter(({ birthDate, arrivedOn }) => (arrivedOn ?? '') < (birthDate ?? '') || (arrivedOn ?? '') > '2026-06-01')).toEqual(
    [],
  );
});

test('give Today something of each kind: orders that wait, a hold that ends, and a photo that failed', async () => {
  await addAnimals(client, devAnimals().slice(0, 60));
  await describeAnimals(client);
  await addToday(client);
  await processAll(photos);
  const rows = () =>
    photos.store.read<{ orders: number; holds: number; failed: number }>(
      `select (select count(*)::int from orders where status = 'placed') as orders,
              (select count(*)::int from pets where hold_until is not null) as holds,
              (select count(*)::int from photos where status = 'failed') as failed`,
    );
  expect(await rows()).toEqual([{ orders: 2, holds: 1, failed: 1 }]);
  await addToday(client);
  expect(await rows()).toEqual([{ orders: 2, holds: 1, failed: 1 }]);
});
