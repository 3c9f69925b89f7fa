// The event of a change comes after the lists show it, also if the process that made the change is late to announce it.
import { describe, expect, test } from 'vitest';
import { startCuttableProxy } from '../../../../testkit/cuttable-proxy.ts';
import { startRedis } from '../../../../testkit/servers.ts';
import { changePhoto } from '../../../src/animals/photos/photos.ts';
import { writeProfile } from '../../../src/animals/profiles/profiles.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { publishAll, readOn } from '../../event-steps.ts';
import { insert, searchListings } from '../../listing-steps.ts';
import { openTestStore } from '../../test-store.ts';

const redis = disposeAfterAll(await startRedis());
const proxy = disposeAfterAll(await startCuttableProxy(Number(new URL(redis.url).port)));
/** The process that publishes, and serves the readers. */
const store = await openTestStore({ env: { REDIS_URL: redis.url } });
/** The process that makes the changes. Its Redis is late. */
const late = await openTestStore({ env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, DATABASE_URL: store.databaseUrl } });

const manager = await createManager(store);
const { id } = await addPet(store, manager);
const petId = BigInt(id);
const writer = { ...theService, clientId: manager.clientId, keyId: manager.id };
const [photo] = await insert(
  store,
  'photos',
  {
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
  },
  'returning id',
);

/** `READERS=5000 npm test -- event-order` asks more of them. */
const readersEach = Number(process.env['READERS'] ?? 10);
const timeoutMs = 30_000 + readersEach * 200;

describe('The readers of an event who find the listing without its change:', () => {
  test.each([
    [
      'pet.profile_changed',
      (text: string) =>
        writeProfile(late.dependencies, petId, writer, {
          how: 'merge',
          changes: { description: text },
          nowMs: Date.now(),
          expect: () => {},
        }),
    ],
    [
      'pet.photos_changed',
      (text: string) => changePhoto(late.dependencies.catalogue, petId, photo?.['id'] as bigint, { alt: text }, writer),
    ],
  ])(
    `0 of ${readersEach} of %s`,
    async (type, change) => {
      let { next } = await readOn(store, manager);
      let stale = 0;
      for (let round = 0; round < readersEach; round += 1) {
        await searchListings(store, manager, '');
        proxy.cut('held');
        const text = `Change ${round} of ${type}.`;
        const changing = change(text);
        // The change is committed, and its announcement is on its way.
        while ((await publishAll(store)) === 0);
        const read = await readOn(store, manager, next);
        next = read.next;
        expect(read.events.map((event) => event.type)).toEqual([type]);
        if (!(await searchListings(store, manager, '')).text.includes(text)) stale += 1;
        proxy.restore();
        await changing;
      }
      expect(stale).toBe(0);
    },
    timeoutMs,
  );
});

test('An event whose change is announced invalidates nothing when it is published', async () => {
  await writeProfile(store.dependencies, petId, writer, { how: 'merge', changes: { sex: 'male' }, nowMs: Date.now(), expect: () => {} });
  const { client } = store.dependencies.redis;
  const { catalogueToken, listingsToken } = store.dependencies.redisKeys;
  const tokens = await client.mget(catalogueToken, listingsToken);
  expect(await publishAll(store)).toBe(1);
  expect(await client.mget(catalogueToken, listingsToken)).toEqual(tokens);
});
