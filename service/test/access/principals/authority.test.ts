// Rights that end while a request is in progress.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { revokeApiKey, setSuspended } from '../../../src/access/clients/clients.ts';
import { changePerson, removePerson } from '../../../src/access/people/people.ts';
import { endAllSessions } from '../../../src/access/people/sessions.ts';
import { keyCaller } from '../../../src/access/principals/principals.ts';
import { planBounds } from '../../../src/access/rate-limit/plans.ts';
import { addPetToCategory } from '../../../src/animals/pets/pets.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addAnimal, addShelter } from '../../console/console-steps.ts';
import { hiddenOf, openTestConsole, type TestBrowser } from '../../console/test-console.ts';
import { actAs, operator } from '../../people-steps.ts';
import { makeImage } from '../../photo-steps.ts';
import type { TestKey } from '../../test-store.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'homeward-authority-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const site = await openTestConsole({ env: { HOMEWARD_PHOTOS: folder } });
const { db, catalogue } = site.store.dependencies;
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const image = await makeImage('red', { width: 64, height: 48 });
const silent = () => true;

const revoke = ({ id }: TestKey) => db.transaction((tx) => revokeApiKey(tx, id), theService);
const countPhotos = async (petId: bigint) =>
  (await site.store.read<{ count: bigint }>('select count(*) from photos where pet_id = $1', petId))[0]?.count;
const nameOf = async ({ clientId }: TestKey) =>
  (await site.store.read<{ name: string }>('select name from clients where id = $1', clientId))[0]?.name ?? '';

/** Sends half of a photo, lets something happen, and sends the rest. */
async function uploadWhile(
  url: string,
  headers: Record<string, string>,
  happens: () => Promise<unknown>,
): Promise<{ status: number; text: string }> {
  const sending = request(url, { method: 'POST', headers: { ...headers, 'content-type': 'image/jpeg', 'content-length': image.length } });
  const responded = once(sending, 'response');
  await new Promise((sent) => sending.write(image.subarray(0, 100), sent));
  await db.query({ text: 'select pg_sleep(0.3)' });
  await happens();
  sending.end(image.subarray(100));
  const [response] = (await responded) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await text(response) };
}

async function uploadByKey(key: TestKey, happens: () => Promise<unknown>) {
  const petId = await addAnimal(site, { shelterId });
  const url = `${site.store.url}/v1/pets/${petId}/photos`;
  const { status, text: body } = await uploadWhile(url, { authorization: `Bearer ${key.key}` }, happens);
  return { status, code: JSON.parse(body).code, photos: await countPhotos(petId) };
}

async function uploadByPerson(visitor: TestBrowser, happens: () => Promise<unknown>) {
  const petId = await addAnimal(site, { shelterId });
  const page = `/animals/${petId}/photos`;
  const token = hiddenOf((await visitor.open(page)).text, page)['_token'] ?? '';
  const cookie = `session=${visitor.cookies.get('session')}`;
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'x-form-token': token };
  const { status, text: body } = await uploadWhile(`${site.url.replace('localhost', '127.0.0.1')}${page}/file`, headers, happens);
  return { status, message: JSON.parse(body).message, photos: await countPhotos(petId) };
}

const newKey = () => site.store.createKey({ scopes: ['pets:read', 'pets:write', 'store:manage'] });

test('a photo of a key that is revoked while it is sent is 401 and stores nothing', async () => {
  const key = await newKey();
  expect(await uploadByKey(key, () => revoke(key))).toEqual({ status: 401, code: 'api_key_revoked', photos: 0n });
});

test('a photo of a client that is suspended while it is sent is 403 and stores nothing', async () => {
  const key = await newKey();
  const suspend = async () => setSuspended(db, silent, testAuthor, await nameOf(key), true);
  expect(await uploadByKey(key, suspend)).toEqual({ status: 403, code: 'client_suspended', photos: 0n });
});

test('a photo of a volunteer who is removed while it is sent stores nothing', async () => {
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  const remove = () => db.transaction((tx) => removePerson(tx, silent, operator, volunteer.person.id), theService);
  expect(await uploadByPerson(volunteer, remove)).toMatchObject({ status: 401, photos: 0n });
});

test('a photo of somebody who is signed out everywhere, or gets another role, while it is sent stores nothing', async () => {
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  const elsewhere = await actAs(site.store, volunteer.person);
  const signOut = () => db.transaction((tx) => endAllSessions(tx, elsewhere), theService);
  expect(await uploadByPerson(volunteer, signOut)).toMatchObject({ status: 401, photos: 0n });
  const other = await site.arrive({ role: 'staff', shelterId });
  const lower = () => db.transaction((tx) => changePerson(tx, silent, operator, other.person.id, { role: 'volunteer' }), theService);
  expect(await uploadByPerson(other, lower)).toMatchObject({ status: 403, photos: 0n });
});

test('an animal that a revoked key adds by one statement is not added', async () => {
  const key = await newKey();
  await revoke(key);
  const add = () => addPetToCategory(catalogue, { name: 'Nobody', categoryId: 1n }, callerOf(key), { shelterId: null });
  expect(await add()).toBeUndefined();
  expect(await site.store.read("select from pets where name = 'Nobody'")).toHaveLength(0);
});

test('an end is acknowledged once the transactions that began before it have ended, and not when later ones have', async () => {
  const key = await newKey();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [began, beganLater] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const before = db.transaction(async () => {
    began.resolve();
    await first.promise;
  }, callerOf(key));
  await began.promise;
  let isAcknowledged = false;
  const end = revoke(key).then(() => {
    isAcknowledged = true;
  });
  await site.store.read('select pg_sleep(0.2)');
  const after = db.transaction(async () => {
    beganLater.resolve();
    await second.promise;
  }, theService);
  await beganLater.promise;
  expect(isAcknowledged).toBe(false);
  first.resolve();
  await Promise.all([before, end]);
  second.resolve();
  await after;
});

test('a person of a suspended shelter can neither read nor change anything, and one of the store can end it', async () => {
  const suspended = await addShelter(site, 'Elbe Shelter', 'Europe/Berlin');
  const member = await site.arrive({ role: 'staff', shelterId: suspended });
  expect((await member.get('/')).status).toBe(200);
  const [client] = await site.store.read<{ name: string }>(
    'select name from clients join staff_clients on client_id = clients.id where shelter_id = $1',
    suspended,
  );
  await setSuspended(db, silent, testAuthor, client?.name ?? '', true);
  expect(await member.get('/animals')).toMatchObject({ status: 403, text: expect.stringContaining('Your shelter is suspended') });
  await setSuspended(db, silent, testAuthor, client?.name ?? '', false);
  expect((await member.get('/animals')).status).toBe(200);
});

const callerOf = ({ id, clientId }: TestKey) =>
  keyCaller({
    id,
    clientId,
    shelterId: null,
    scopes: ['pets:write'],
    terms: { bounds: planBounds.enterprise, quota: { perMinute: 1_000, perDay: 1_000 } },
  });
