import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listActs } from '../../src/access/audit/audit.ts';
import { verifyHistory } from '../../src/adoption/verify/verify.ts';
import { DirectoryStore } from '../../src/images/directory-store.ts';
import { createShelterKey, filesIn, makeImage, processAll, readPhotos as readPhotosOfApi } from '../photo-steps.ts';
import { addAnimal, addShelter } from './console-steps.ts';
import { hiddenOf, openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'homeward-photos-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const site = await openTestConsole({ env: { HOMEWARD_PHOTOS: folder } });
const files = new DirectoryStore(folder);
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const other = await addShelter(site, 'Otters', 'Europe/Vienna');
const key = await createShelterKey(site.store, 'Readers', { scopes: ['pets:read'] });

const colours = ['red', 'green', 'blue', 'gold', 'navy', 'pink', 'teal', 'tan', 'lime', 'plum', 'gray', 'peru', 'coral', 'azure'];
const images = await Promise.all(colours.map((colour) => makeImage(colour, { width: 64, height: 48 })));
const imageOf = (n: number): Buffer => images[n] ?? Buffer.of();
const readPhotos = (petId: bigint) => readPhotosOfApi(site.store, key, Number(petId));

interface File {
  readonly name: string;
  readonly bytes: Buffer | string;
  readonly type?: string;
}

const fileOf = (n: number, name = `photo-${n}.jpg`): File => ({ name, bytes: imageOf(n) });

const hiddenFields = async (visitor: TestBrowser, petId: bigint) =>
  hiddenOf((await visitor.open(photosPath(petId))).text, photosPath(petId));

const tokenOf = async (visitor: TestBrowser, petId: bigint): Promise<string> => (await hiddenFields(visitor, petId))['_token'] ?? '';

/** The form of the page without JavaScript: its hidden fields come first. */
async function formOf(visitor: TestBrowser, petId: bigint, sent: readonly File[]): Promise<FormData> {
  const hidden = await hiddenFields(visitor, petId);
  const form = new FormData();
  for (const [name, value] of Object.entries(hidden)) form.append(name, value);
  for (const { name, bytes, type = 'image/jpeg' } of sent) form.append('photo', new Blob([bytes as Buffer<ArrayBuffer>], { type }), name);
  return form;
}

const sendForm = (visitor: TestBrowser, petId: bigint, form: FormData | Blob, headers: Record<string, string> = {}) =>
  visitor.send(`/animals/${petId}/photos`, { method: 'POST', body: form, headers: { 'sec-fetch-site': 'same-origin', ...headers } });

const send = async (visitor: TestBrowser, petId: bigint, ...sent: readonly File[]) =>
  sendForm(visitor, petId, await formOf(visitor, petId, sent));

/** As the script of the page sends one. */
async function sendFile(visitor: TestBrowser, petId: bigint, { bytes, type = 'image/jpeg' }: File, token?: string) {
  const headers = {
    'sec-fetch-site': 'same-origin',
    'x-form-token': token ?? (await tokenOf(visitor, petId)),
    'content-type': type,
  };
  const body = new Blob([bytes as Buffer<ArrayBuffer>], { type });
  const answer = await visitor.send(`/animals/${petId}/photos/file`, { method: 'POST', body, headers });
  return { status: answer.status, message: JSON.parse(answer.text).message as string };
}

const originals = () => filesIn(folder, 'originals');
const photosPath = (petId: bigint) => `/animals/${petId}/photos`;

async function arrive() {
  const petId = await addAnimal(site, { shelterId });
  return { petId, visitor: await site.arrive({ role: 'volunteer', shelterId }) };
}

test('two photos of a form without JavaScript are added, processed and shown', async () => {
  const { petId, visitor } = await arrive();
  const answer = await send(visitor, petId, fileOf(0), fileOf(1), { name: '', bytes: '', type: 'application/octet-stream' });
  expect([answer.status, answer.location]).toEqual([303, photosPath(petId)]);
  const waiting = wordsOf((await visitor.open(photosPath(petId))).text);
  expect(waiting).toContain('2 photos are added.');
  expect(waiting).toContain('It is being processed');
  expect((await readPhotos(petId)).map(({ status }) => status)).toEqual(['processing', 'processing']);
  await processAll({ store: site.store, files });
  const { text } = await visitor.open(photosPath(petId));
  expect(text.match(/<img src="\/photos\/[0-9a-f]{64}\.webp"/g)).toHaveLength(2);
  const [, url = ''] = /<img src="(\/photos\/[^"]+)"/.exec(text) ?? [];
  expect((await visitor.get(url)).headers.get('content-type')).toBe('image/webp');
});

test('a photo that can not be processed says why, and sent again it is processed again', async () => {
  const { petId, visitor } = await arrive();
  const damaged = { name: 'damaged.jpg', bytes: imageOf(3).subarray(0, 200) };
  await send(visitor, petId, damaged);
  await processAll({ store: site.store, files });
  expect(wordsOf((await visitor.open(photosPath(petId))).text)).toContain('It can’t be shown. The file is damaged');
  await send(visitor, petId, damaged);
  expect((await readPhotos(petId)).map(({ status }) => status)).toEqual(['processing']);
});

test('a photo that a script sends is added, and the same bytes again are said to be there already', async () => {
  const { petId, visitor } = await arrive();
  expect(await sendFile(visitor, petId, fileOf(0))).toEqual({ status: 200, message: 'Added' });
  expect(await sendFile(visitor, petId, fileOf(0))).toEqual({ status: 200, message: 'This photo was here already. It is shown once.' });
  const again = await send(visitor, petId, fileOf(0));
  expect(wordsOf((await visitor.open(again.location ?? '')).text)).toContain('1 photo was here already, and is shown once.');
  expect(await readPhotos(petId)).toHaveLength(1);
  expect(await sendFile(visitor, petId, fileOf(1), 'no token')).toMatchObject({ status: 403 });
});

test('two clicks at once add a photo once', async () => {
  const { petId, visitor } = await arrive();
  const forms = await Promise.all([formOf(visitor, petId, [fileOf(2)]), formOf(visitor, petId, [fileOf(2)])]);
  const answers = await Promise.all(forms.map((form) => sendForm(visitor, petId, form)));
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  expect(await readPhotos(petId)).toHaveLength(1);
});

test('what is no photo, HEIC, empty or too large is said beside its name, and the others are added', async () => {
  const { petId, visitor } = await arrive();
  const before = await originals();
  const answer = await send(
    visitor,
    petId,
    fileOf(0),
    { name: 'notes <b>.txt', bytes: 'These are only words', type: 'text/plain' },
    { name: 'IMG_1.HEIC', bytes: `\0\0\0\x20ftypheic${'\0'.repeat(40)}`, type: 'image/heic' },
    { name: 'empty.jpg', bytes: '' },
    { name: 'huge.jpg', bytes: Buffer.concat([imageOf(1), Buffer.alloc(20_000_001)]) },
    fileOf(1),
  );
  expect(answer.status).toBe(415);
  const words = wordsOf(answer.text);
  expect(words).toContain('2 photos are added. 4 photos were not accepted: see below.');
  expect(words).toMatch(/notes <b>\.txt This is no JPEG/);
  expect(words).toMatch(/IMG_1\.HEIC This is no JPEG/);
  expect(words).toMatch(/huge\.jpg It has more than 20 MB/);
  expect(answer.text).not.toContain('notes <b>');
  expect(await readPhotos(petId)).toHaveLength(2);
  expect(await originals()).toHaveLength(before.length + 2);
});

test('a script is told in words why a photo is not accepted', async () => {
  const { petId, visitor } = await arrive();
  expect(await sendFile(visitor, petId, { name: 'a.jpg', bytes: 'only words' })).toMatchObject({ status: 415, message: /no JPEG/ });
  expect(await sendFile(visitor, petId, { name: 'a.heic', bytes: 'x', type: 'image/heic' })).toMatchObject({ status: 415 });
  expect(await sendFile(visitor, petId, { name: 'a.jpg', bytes: Buffer.alloc(20_000_001) })).toMatchObject({ status: 413 });
  expect(await readPhotos(petId)).toHaveLength(0);
});

test('a script is told in words also what happens before its photo is looked at', async () => {
  const { petId } = await arrive();
  const send = (headers: Record<string, string>) =>
    site
      .browser()
      .send(`/animals/${petId}/photos/file`, { method: 'POST', body: 'x', headers: { 'content-type': 'image/jpeg', ...headers } });
  const asScript = await send({ accept: 'application/json' });
  expect([asScript.status, asScript.headers.get('content-type')]).toEqual([401, 'application/json; charset=utf-8']);
  expect(JSON.parse(asScript.text).message).toContain('Sign in in another tab');
  const asPage = await send({ accept: 'text/html, application/json;q=0.9' });
  expect([asPage.status, asPage.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
});

test('a form without a photo, and one with too many, are said so', async () => {
  const { petId, visitor } = await arrive();
  const none = await send(visitor, petId, { name: '', bytes: '', type: 'application/octet-stream' });
  expect([none.status, wordsOf(none.text).includes('Choose a photo first.')]).toEqual([422, true]);
  const many = Array.from({ length: 13 }, (_, n) => fileOf(n));
  const answer = await send(visitor, petId, ...many);
  expect(answer.status).toBe(409);
  expect(wordsOf(answer.text)).toContain('photo-12.jpg The animal has 12 photos, as many as there can be.');
  expect(await readPhotos(petId)).toHaveLength(12);
  expect(answer.text).not.toContain('name="photo"');
});

test('a form without its token, with another one, or with a file before it stores nothing', async () => {
  const { petId, visitor } = await arrive();
  const before = await originals();
  const without = await formOf(visitor, petId, [fileOf(0)]);
  without.delete('_token');
  const another = await formOf(visitor, petId, [fileOf(0)]);
  another.set('_token', 'x'.repeat(43));
  const late = new FormData();
  late.append('photo', new Blob([imageOf(0) as Buffer<ArrayBuffer>]), 'first.jpg');
  for (const [name, value] of await formOf(visitor, petId, [])) late.append(name, value);
  for (const form of [without, another, late]) expect((await sendForm(visitor, petId, form)).status).toBe(403);
  const own = await formOf(visitor, petId, [fileOf(0)]);
  expect((await sendForm(visitor, petId, own, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect(await readPhotos(petId)).toHaveLength(0);
  expect(await originals()).toEqual(before);
});

test('100 files, 100 fields, a part without an end, no boundary and another type are said in words, and store nothing more', async () => {
  const { petId, visitor } = await arrive();
  const before = await originals();
  const words = Array.from({ length: 100 }, (_, n) => ({ name: `${n}.txt`, bytes: `words ${n}`, type: 'text/plain' }));
  expect((await send(visitor, petId, ...words)).status).toBe(400);
  const fields = await formOf(visitor, petId, []);
  for (let n = 0; n < 100; n += 1) fields.append(`f${n}`, 'x');
  expect((await sendForm(visitor, petId, fields)).status).toBe(400);
  const token = await tokenOf(visitor, petId);
  const head = `--b\r\nContent-Disposition: form-data; name="_token"\r\n\r\n${token}\r\n--b\r\nContent-Disposition: form-data; name="photo"; filename="a.jpg"\r\n`;
  const endless = Buffer.concat([Buffer.from(`${head}\r\n`), imageOf(0)]);
  const type = 'multipart/form-data; boundary=b';
  const post = (bytes: Buffer, contentType = type) =>
    sendForm(visitor, petId, new Blob([bytes as Buffer<ArrayBuffer>]), { 'content-type': contentType });
  expect((await post(endless)).status).toBe(400);
  expect((await post(Buffer.from(`--b\r\nNo colon\r\n\r\nx\r\n${head}\r\n`))).status).toBe(400);
  expect((await post(Buffer.from('nothing'))).status).toBe(400);
  // Each costs as much as one with a name: millions of them would take minutes.
  const [field] = head.split('--b\r\nContent-Disposition: form-data; name="photo"', 1);
  for (const part of ['--b\r\nx: y\r\n\r\n\r\n', '--b\r\n\r\n\r\n']) {
    const many = await post(Buffer.from(`${field}${part.repeat(100)}--b--\r\n`));
    expect([many.status, wordsOf(many.text)]).toEqual([400, expect.stringContaining('It did not arrive whole.')]);
  }
  expect((await post(endless, 'multipart/form-data')).status).toBe(400);
  expect((await post(Buffer.from('a=b'), 'application/x-www-form-urlencoded')).status).toBe(400);
  expect(await readPhotos(petId)).toHaveLength(0);
  expect(await originals()).toEqual(before);
});

test('a name with strange characters is shown as plain text', async () => {
  const { petId, visitor } = await arrive();
  const name = `"><script>alert(1)</script>\u202egpj.exe ${'long'.repeat(60)}`;
  const { text } = await send(visitor, petId, { name, bytes: 'words' }, { name: 'Ä 🐶 犬.jpg', bytes: 'words' });
  expect(text).not.toContain('<script>alert');
  expect(text).not.toContain('\u202e');
  expect(wordsOf(text)).toContain('Ä 🐶 犬.jpg');
  expect(wordsOf(text)).not.toContain('long'.repeat(30));
});

test('people of another shelter find nothing, and change nothing', async () => {
  const { petId, visitor } = await arrive();
  await send(visitor, petId, fileOf(0));
  const [photo] = await readPhotos(petId);
  const stranger = await site.arrive({ role: 'admin', shelterId: other });
  const own = await addAnimal(site, { shelterId: other });
  const form = await formOf(stranger, own, [fileOf(1)]);
  const token = await tokenOf(stranger, own);
  const act = (name: string, values: Record<string, string>, petOf = petId) =>
    stranger.post(`/animals/${petOf}/photos/${photo?.id}/${name}`, { _token: token, _form: name, ...values });
  expect((await stranger.get(photosPath(petId))).status).toBe(404);
  expect((await sendForm(stranger, petId, form)).status).toBe(404);
  expect((await act('describe', { alt: 'Mine' })).status).toBe(404);
  expect((await act('move', { position: '0' })).status).toBe(404);
  expect((await act('remove', {})).status).toBe(404);
  // By an animal of their own they reach no photo of another.
  expect((await act('remove', {}, own)).status).toBe(404);
  expect(await readPhotos(petId)).toEqual([photo]);
  expect((await visitor.get('/animals/999999999/photos')).status).toBe(404);
});

test('photos are described, moved and removed by forms', async () => {
  const { petId, visitor } = await arrive();
  await send(visitor, petId, fileOf(0), fileOf(1), fileOf(2));
  const order = async () => (await readPhotos(petId)).map(({ id }) => id);
  const [first = 0, second = 0, third = 0] = await order();
  const act = (id: number, name: string, values: Record<string, string> = {}) =>
    visitor.submit(photosPath(petId), `${photosPath(petId)}/${id}/${name}`, values);
  expect((await act(third, 'move', { position: '0' })).location).toBe(`${photosPath(petId)}#photo-${third}`);
  expect(await order()).toEqual([third, first, second]);
  await act(third, 'move', { position: '1' });
  expect(await order()).toEqual([first, third, second]);
  await act(first, 'describe', { alt: ' Biscuit in the grass ' });
  expect((await readPhotos(petId))[0]?.alt).toBe('Biscuit in the grass');
  await act(first, 'describe', { alt: '' });
  expect((await readPhotos(petId))[0]?.alt).toBe('');
  const long = await act(first, 'describe', { alt: 'x'.repeat(501) });
  expect([long.status, wordsOf(long.text).includes('At most 500 characters')]).toEqual([422, true]);
  await act(first, 'remove');
  expect(await order()).toEqual([third, second]);
  expect((await visitor.open(photosPath(petId))).text).toContain('The photo is removed.');
});

test('what nobody has described says its place, also after it was moved', async () => {
  const { petId, visitor } = await arrive();
  await send(visitor, petId, fileOf(0), fileOf(1), fileOf(2));
  await processAll({ store: site.store, files });
  const [first] = await readPhotos(petId);
  const alts = async () =>
    [...(await visitor.open(photosPath(petId))).text.matchAll(/<img src="\/photos[^>]* alt="([^"]*)"/g)].map(([, alt]) => alt);
  expect(await alts()).toEqual(['Photo 1 of 3', 'Photo 2 of 3', 'Photo 3 of 3']);
  await visitor.submit(photosPath(petId), `${photosPath(petId)}/${first?.id}/describe`, { alt: 'On a sofa' });
  await visitor.submit(photosPath(petId), `${photosPath(petId)}/${first?.id}/move`, { position: '1' });
  expect(await alts()).toEqual(['Photo 1 of 3', 'On a sofa', 'Photo 3 of 3']);
});

test('photos that are sent from a page of several animals lead back to it, and to no other page', async () => {
  const { petId, visitor } = await arrive();
  const form = async () => {
    const data = new FormData();
    data.append('_token', await tokenOf(visitor, petId));
    data.append('photo', new Blob([fileOf(0).bytes as Buffer<ArrayBuffer>], { type: 'image/jpeg' }), 'one.jpg');
    return data;
  };
  const sendTo = async (query: string) =>
    (
      await visitor.send(`${photosPath(petId)}?${query}`, {
        method: 'POST',
        body: await form(),
        headers: { 'sec-fetch-site': 'same-origin' },
      })
    ).location;
  expect(await sendTo(`of=${petId},7`)).toBe(`/animals/photos?of=${petId},7#animal-${petId}`);
  expect(await sendTo('of=https://elsewhere.example')).toBe(photosPath(petId));
});

test('the history of the animal and the audit say who added, described, moved and removed photos, and who wrote the profile', async () => {
  const { petId, visitor } = await arrive();
  await send(visitor, petId, fileOf(0), fileOf(1));
  const [first, second] = await readPhotos(petId);
  const act = (id: number | undefined, name: string, values: Record<string, string> = {}) =>
    visitor.submit(photosPath(petId), `${photosPath(petId)}/${id}/${name}`, values);
  await act(first?.id, 'describe', { alt: 'In the grass' });
  await act(second?.id, 'move', { position: '0' });
  await act(first?.id, 'remove');
  await visitor.submit(`/animals/${petId}/profile`, `/animals/${petId}/profile/save`, { sex: 'female', externalId: 'A-17' });
  const { person } = visitor;
  const acts = await listActs(site.store.dependencies.db, { personId: person.id, target: { kind: 'animal', id: petId }, limit: 20 });
  expect(acts.map(({ act, after }) => [act, after]).reverse()).toEqual([
    ['pet_photo_added', { status: 'available' }],
    ['pet_photo_added', { status: 'available' }],
    ['pet_photo_changed', { status: 'available', changed: ['alt'] }],
    ['pet_photo_changed', { status: 'available', changed: ['position'] }],
    ['pet_photo_removed', { status: 'available' }],
    ['pet_described', { status: 'available', changed: expect.arrayContaining(['sex', 'externalId']) }],
  ]);
  const history = wordsOf((await visitor.open(`/animals/${petId}/history`)).text);
  expect(history).toMatch(new RegExp(`${person.name} removed a photo of Biscuit`, 'i'));
  expect(history).toContain('sex, external id');
  expect((await verifyHistory(site.store.dependencies.db, () => {})).violation).toBeUndefined();
});

/** Sends the beginning of a form, and leaves the rest to the test. */
async function begin(visitor: TestBrowser, petId: bigint, contentLength: number) {
  const token = await tokenOf(visitor, petId);
  const outgoing = request(`${site.url.replace('localhost', '127.0.0.1')}${photosPath(petId)}`, {
    method: 'POST',
    headers: {
      cookie: `session=${visitor.cookies.get('session')}`,
      'sec-fetch-site': 'same-origin',
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': contentLength,
    },
  });
  outgoing.on('error', () => {});
  outgoing.write(`--b\r\nContent-Disposition: form-data; name="_token"\r\n\r\n${token}\r\n`);
  outgoing.write('--b\r\nContent-Disposition: form-data; name="photo"; filename="a.jpg"\r\n\r\n');
  outgoing.write(imageOf(5));
  const status = new Promise<number | undefined>((resolve) => {
    outgoing.on('response', (response) => resolve(response.resume().statusCode));
    outgoing.on('close', () => resolve(undefined));
  });
  return { outgoing, status };
}

test('a third photo of a person at once waits for its turn, and not one of a colleague; one that is cut off leaves nothing, and gives its turn back', async () => {
  const { petId, visitor } = await arrive();
  const colleague = await site.arrive({ role: 'volunteer', shelterId });
  const before = await originals();
  const started = await Promise.all([begin(visitor, petId, 1_000_000), begin(visitor, petId, 1_000_000)]);
  await expect.poll(async () => (await originals()).length, { timeout: 5_000 }).toBe(before.length + 2);
  const third = await send(visitor, petId, fileOf(0));
  expect(third.status).toBe(409);
  expect(wordsOf(third.text)).toContain('Too many photos are being sent at this moment, by you or by others of your shelter.');
  expect((await send(colleague, await addAnimal(site, { shelterId }), fileOf(1))).status).toBe(303);
  for (const { outgoing } of started) outgoing.destroy();
  await expect.poll(async () => (await originals()).length, { timeout: 5_000 }).toBe(before.length + 1);
  expect((await send(visitor, petId, fileOf(0))).status).toBe(303);
  expect(await readPhotos(petId)).toHaveLength(1);
});

test('a photo that arrives too slowly is cut, and leaves nothing', { timeout: 30_000 }, async () => {
  const { petId, visitor } = await arrive();
  const before = await originals();
  const { outgoing, status } = await begin(visitor, petId, 1_000_000);
  const drip = setInterval(() => outgoing.write('x'), 500);
  expect(await status).toBe(408);
  clearInterval(drip);
  outgoing.destroy();
  await expect.poll(async () => originals()).toEqual(before);
  expect(await readPhotos(petId)).toHaveLength(0);
});
