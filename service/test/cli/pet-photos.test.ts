import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

import { addPet, createManager } from '../adoption-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { insert } from '../listing-steps.ts';
import { createPhotoStore, filesIn, makeImage, type PhotoBody, processAll, readPhotos, sendPhoto } from '../photo-steps.ts';
import { homeward, homewardJson } from './homeward-command.ts';

const photos = disposeAfterAll(await createPhotoStore());
const { store, folder } = photos;
const env = { ...store.env, HOMEWARD_PHOTOS: folder };
const manager = await createManager(store, { client: 'Front desk' });

const fileOf = (name: string, content: Buffer | string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
};
const add = (id: number, file: string, ...options: string[]) =>
  homeward(['pets', 'photo', 'add', String(id), file, '--client', 'Front desk', ...options], { env });

describe('pets photo add', () => {
  test('stores the photo that the API would, with its text, and ends when its pictures are made', async () => {
    const { id } = await addPet(store, manager);
    const file = fileOf('biscuit.jpg', await makeImage('tan'));
    const adding = add(id, file, '--alt', 'Biscuit in the grass');
    // The command waits; the worker of this store is this test.
    await expect.poll(() => processAll(photos), { timeout: 30_000 }).toBeGreaterThan(0);
    const { status, stdout, stderr } = await adding;
    const [photo] = await readPhotos(store, manager, id);
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `Photo ${photo?.id} of Biscuit (${id}) is ready.\n`,
      stderr: '',
    });
    expect(photo).toMatchObject({ status: 'ready', alt: 'Biscuit in the grass', width: 320, height: 240 });
    const [row] = await store.read<{ client_id: bigint; is_unlimited: boolean }>(
      'select client_id, is_unlimited from photos where pet_id = $1',
      id,
    );
    expect(row).toEqual({ client_id: manager.clientId, is_unlimited: true });
    // The same bytes are the same photo, as over the API, and their second copy is deleted.
    const again = await homewardJson<PhotoBody>(['pets', 'photo', 'add', String(id), file, '--client', 'Front desk'], env);
    expect(again).toEqual(photo);
    expect(await filesIn(folder, 'originals')).toEqual([]);
  });

  test('with --no-wait ends at once; the photo is being processed', async () => {
    const { id } = await addPet(store, manager);
    const { status, stdout } = await add(id, fileOf('red.png', await makeImage('red', { type: 'png' })), '--no-wait');
    const [photo] = await readPhotos(store, manager, id);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `Stored photo ${photo?.id} of Biscuit (${id}). It is shown once its pictures are made. See it: homeward pets photo list ${id}\n`,
    });
    expect(photo).toMatchObject({ status: 'processing', alt: '' });
    await processAll(photos);
  });

  test('says why a photo could not be processed, and exits with 1', async () => {
    const { id } = await addPet(store, manager);
    const whole = await makeImage('blue');
    const adding = add(id, fileOf('cut.jpg', whole.subarray(0, 200)));
    await expect.poll(() => processAll(photos), { timeout: 30_000 }).toBeGreaterThan(0);
    const { status, stdout } = await adding;
    expect({ status, stdout }).toEqual({
      status: 1,
      stdout: expect.stringMatching(/^Photo \d+ of Biscuit \(\d+\) can't be shown: The file is damaged/),
    });
  });

  test('a file that is no photo is rejected with 2 and what is wrong with it, and nothing is stored', async () => {
    const { id } = await addPet(store, manager);
    mkdirSync(path.join(folder, 'album'));
    const large = fileOf('large.jpg', await makeImage('green'));
    truncateSync(large, 25_300_000);
    const heic = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic'), Buffer.alloc(20)]);
    const cases: ReadonlyArray<readonly [file: string, message: string]> = [
      [path.join(folder, 'absent.jpg'), `There is no file ${folder}/absent.jpg.`],
      [path.join(folder, 'album'), `${folder}/album is a folder. Give the file of one photo.`],
      [fileOf('empty.jpg', ''), `${folder}/empty.jpg is empty.`],
      [fileOf('notes.txt', 'Likes long walks.'), `${folder}/notes.txt is not a JPEG, PNG or WebP image.`],
      [fileOf('phone.heic', heic), `${folder}/phone.heic is a HEIC or AVIF photo, which can't be read. Save it as a JPEG, and add that.`],
      [large, `${folder}/large.jpg has 25.3 MB; 20 MB are allowed. Save it with fewer pixels, and add that.`],
    ];
    for (const [file, message] of cases) expect(await add(id, file)).toEqual({ status: 2, stdout: '', stderr: `homeward: ${message}\n` });
    expect(await readPhotos(store, manager, id)).toEqual([]);
    expect(await filesIn(folder, 'originals')).toEqual([]);
  });

  test('an animal with 12 photos, an unknown client, and a store without photos are rejected with 2', async () => {
    const { id } = await addPet(store, manager);
    const file = fileOf('thirteenth.jpg', await makeImage('#0d0d0d'));
    for (let position = 0; position < 12; position += 1) {
      const original = { original_hash: `${position}`.padStart(64, '0'), original_name: `originals/${id}-${position}` };
      await insert(store, 'photos', {
        pet_id: id,
        client_id: manager.clientId,
        position,
        ...original,
        status: 'failed',
        failure: 'unreadable',
      });
    }
    const full = await add(id, file);
    expect(full).toMatchObject({ status: 2, stderr: `homeward: Animal ${id} has 12 photos; 12 are allowed. Remove one first.\n` });
    expect(await filesIn(folder, 'originals')).toEqual([]);
    const unknown = await homeward(['pets', 'photo', 'add', String(id), file, '--client', 'Nobody'], { env });
    expect(unknown).toMatchObject({ status: 2, stderr: `homeward: There is no client "Nobody". 'homeward clients list' lists all.\n` });
    const off = await homeward(['pets', 'photo', 'add', String(id), file, '--client', 'Front desk'], { env: store.env });
    expect(off).toMatchObject({ status: 2, stderr: 'homeward: HOMEWARD_PHOTOS is not set here. Set it as for the worker.\n' });
  });
});

test('pets photo list and remove show the photos of an animal, and remove one', async () => {
  const { id } = await addPet(store, manager);
  const list = () => homeward(['pets', 'photo', 'list', String(id)], { env });
  expect((await list()).stdout).toBe(`Biscuit (${id}) has no photos.\n`);
  const photo = (await sendPhoto(store, manager, id, await makeImage('orange'))).json;
  await processAll(photos);
  expect((await list()).stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['id', 'status', 'pixels', 'text'],
    [String(photo.id), 'ready', '320 × 240', '-'],
    [''],
  ]);
  expect(await homewardJson(['pets', 'photo', 'list', String(id)], env)).toEqual(await readPhotos(store, manager, id));
  const remove = (photoId: number) => homeward(['pets', 'photo', 'remove', String(id), String(photoId)], { env });
  expect(await remove(photo.id)).toEqual({ status: 0, stdout: `Removed photo ${photo.id} of Biscuit (${id}).\n`, stderr: '' });
  expect(await remove(photo.id)).toMatchObject({ status: 2, stderr: `homeward: Animal ${id} has no photo with id ${photo.id}.\n` });
  expect(await readPhotos(store, manager, id)).toEqual([]);
});
