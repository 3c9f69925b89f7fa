import { describe, expect, test } from 'vitest';
import { addPet, createManager } from '../../../adoption-steps.ts';
import { disposeAfterAll } from '../../../dispose-after-all.ts';
import { errorResponse } from '../../../error-response.ts';
import { publishAll, readOn, typesOf } from '../../../event-steps.ts';
import { createPhotoStore, makeImage, type PhotoBody, processAll, readPhotos, sendPhoto } from '../../../photo-steps.ts';

const photos = disposeAfterAll(await createPhotoStore());
const { store } = photos;
const manager = await createManager(store);

/** An animal with a ready photo of each colour. */
async function petWith(...colors: string[]): Promise<{ petId: number; ids: number[] }> {
  const { id: petId } = await addPet(store, manager);
  const ids = [];
  for (const color of colors) ids.push((await sendPhoto(store, manager, petId, await makeImage(color))).json.id);
  await processAll(photos);
  return { petId, ids };
}

const idsOf = async (petId: number) => (await readPhotos(store, manager, petId)).map(({ id }) => id);
const change = (petId: number, id: number | string, body: unknown) =>
  store.call<PhotoBody>('PATCH', `/v1/pets/${petId}/photos/${id}`, { key: manager.key, body });
const remove = (petId: number, id: number) => store.call('DELETE', `/v1/pets/${petId}/photos/${id}`, { key: manager.key });
const lastEvent = async (from: string) => readOn(store, manager, from);

describe('PATCH /v1/pets/{petId}/photos/{photoId}', () => {
  test('sets the alternative text, and an empty one removes it', async () => {
    const { petId, ids } = await petWith('red');
    expect((await change(petId, ids[0] ?? 0, { alt: 'Biscuit in the grass' })).json).toMatchObject({
      id: ids[0],
      alt: 'Biscuit in the grass',
    });
    expect((await readPhotos(store, manager, petId))[0]?.alt).toBe('Biscuit in the grass');
    expect((await change(petId, ids[0] ?? 0, { alt: '' })).json.alt).toBe('');
  });

  test.each([
    [2, 0, [2, 0, 1]],
    [0, 1, [1, 0, 2]],
    [0, 2, [1, 2, 0]],
    [0, 11, [1, 2, 0]],
    [1, 1, [0, 1, 2]],
  ])('moves photo %i of three to position %i', async (from, position, order) => {
    const { petId, ids } = await petWith('red', 'green', 'blue');
    expect((await change(petId, ids[from] ?? 0, { position })).status).toBe(200);
    expect(await idsOf(petId)).toEqual(order.map((index) => ids[index]));
  });

  test.each([
    [{}, 'The body must be an object with alt or position'],
    [{ alt: 'x'.repeat(501) }, 'alt must be a string of at most 500 characters'],
    [{ alt: 'a\u0000b' }, 'alt must be a string of at most 500 characters'],
    [{ position: 12 }, 'position'],
    [{ position: -1 }, 'position'],
  ])('with %j is 400 and changes nothing', async (body, words) => {
    const { petId, ids } = await petWith('red');
    expect(await change(petId, ids[0] ?? 0, body)).toMatchObject(errorResponse(400, 'invalid_body', words));
  });

  test('of a photo of another animal, or with an id that is none, is 404', async () => {
    const { ids } = await petWith('red');
    const { petId } = await petWith();
    for (const id of [ids[0] ?? 0, 'first'])
      expect(await change(petId, id, { alt: 'x' })).toMatchObject(
        errorResponse(404, 'photo_not_found', `Animal ${petId} has no photo with id ${id}.`),
      );
  });
});

describe('DELETE /v1/pets/{petId}/photos/{photoId}', () => {
  test('removes the photo once, and the others keep their order', async () => {
    const { petId, ids } = await petWith('red', 'green', 'blue');
    expect((await remove(petId, ids[1] ?? 0)).status).toBe(204);
    expect(await idsOf(petId)).toEqual([ids[0], ids[2]]);
    expect(await remove(petId, ids[1] ?? 0)).toMatchObject(errorResponse(404, 'photo_not_found'));
  });
});

describe('The event pet.photos_changed', () => {
  test('is recorded when a photo becomes ready, is described, moved or removed, and only then', async () => {
    const start = await readOn(store, manager);
    const { id: petId } = await addPet(store, manager);
    const [a, b] = [
      await sendPhoto(store, manager, petId, await makeImage('red')),
      await sendPhoto(store, manager, petId, await makeImage('blue')),
    ];
    const added = await lastEvent(start.next);
    expect(typesOf(added.events)).toEqual(['pet.created']);
    await processAll(photos);
    const ready = await lastEvent(added.next);
    expect(typesOf(ready.events)).toEqual(['pet.photos_changed', 'pet.photos_changed']);
    expect(ready.events[0]?.data).toEqual({ pet: { id: petId, name: 'Biscuit', categoryId: 1, status: 'available' } });
    await change(petId, a.json.id, { alt: 'Red' });
    await change(petId, a.json.id, { alt: 'Red', position: 0 });
    await change(petId, b.json.id, { position: 0 });
    await remove(petId, b.json.id);
    expect(typesOf((await lastEvent(ready.next)).events)).toEqual(Array(3).fill('pet.photos_changed'));
  });

  test('invalidates no cached page of animals, unlike other events', async () => {
    const { petId, ids } = await petWith('red');
    await publishAll(store);
    const { redis, redisKeys } = store.dependencies;
    const token = () => redis.client.get(redisKeys.catalogueToken);
    const before = await token();
    await change(petId, ids[0] ?? 0, { alt: 'Not in a list' });
    expect(await publishAll(store)).toBe(1);
    expect(await token()).toBe(before);
    await store.call('PATCH', `/v1/pets/${petId}`, { key: manager.key, body: { name: 'In every list' } });
    expect(await token()).not.toBe(before);
  });
});
