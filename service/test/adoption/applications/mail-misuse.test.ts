// What clients, shelters and mail servers could do to adopters by mail.
import PostalMime from 'postal-mime';
import { beforeEach, expect, test } from 'vitest';
import { startMailServer } from '../../../../testkit/mail-server.ts';
import { openMailSenders } from '../../../src/adoption/shelters/mail-senders.ts';
import { defaultScopes } from '../../../src/domain/scopes.ts';
import { addPet } from '../../adoption-steps.ts';
import { apply, decide, decideAll, submit } from '../../application-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { makeDue, readMail, sendAll } from '../../mail-steps.ts';
import { addShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const server = disposeAfterAll(await startMailServer());
const store = await openTestStore({
  env: { HOMEWARD_SMTP_URL: server.url, HOMEWARD_MAIL_FROM: 'no-reply@store.example', HOMEWARD_PUBLIC_URL: 'https://store.example' },
});
const partner = await store.createKey();
const shelterId = BigInt(await addShelter(store));
const shelter = await store.createKey({ scopes: [...defaultScopes, 'shelter:manage'], shelterId });
const { mail: mailConfig } = store.dependencies.config;
if (!mailConfig) throw new Error('mail is off');
const signal = new AbortController().signal;
const [sender] = await openMailSenders(store.dependencies, mailConfig, { signal, onOutcome: () => {} });
if (!sender) throw new Error('no sender');

async function sendQueued(): Promise<void> {
  await makeDue(store);
  await sendAll(sender as NonNullable<typeof sender>);
}

async function addAnimal(name = 'Biscuit'): Promise<number> {
  const { id } = await addPet(store, partner, { name });
  await store.write('update pets set shelter_id = $2 where id = $1', id, shelterId);
  return id;
}

beforeEach(async () => {
  server.behaviour = {};
  server.accepted.length = 0;
  await store.write('delete from mail');
  await store.write('delete from mail_counts');
  await store.write(`delete from applications where status = 'unconfirmed'`);
});

test('one mailbox gets three confirmations a day, however the domain is spelt', async () => {
  const petId = await addAnimal();
  const other = await store.createKey();
  for (const [i, domain] of ['example.org', 'ｅxample.org', 'eｘample.org', 'exａmple.org', 'examｐle.org', '𝐞xample.org'].entries())
    await submit(store, i % 2 === 0 ? partner : other, petId, { adopter: { name: 'Victim', email: `victim@${domain}` } });
  await sendQueued();
  expect(new Set(server.accepted.flatMap(({ to }) => to))).toEqual(new Set(['victim@example.org']));
  expect(server.accepted).toHaveLength(3);
});

test('a client has at most three applications of an address at once that nobody has confirmed, however it is spelt', async () => {
  const [petId, another] = [await addAnimal(), await addAnimal()];
  const as = (key: typeof partner, email: string, pet = petId) => apply(store, key, pet, { adopter: { name: 'Victim', email } });
  const spellings = ['victim@example.org', 'VICTIM@example.org', 'victim+dogs@example.org'];
  const added = await Promise.all([...spellings, ...spellings].map((email, i) => as(partner, email, i % 2 === 0 ? petId : another)));
  expect(added.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409, 409]);
  const [rejected] = added.filter(({ status }) => status === 409);
  expect(rejected?.json).toMatchObject({ code: 'open_application_limit' });
  // Of others, and for other addresses, there is room.
  expect((await as(partner, 'ada@example.org')).status).toBe(201);
  expect((await as(await store.createKey(), 'victim@example.org')).status).toBe(201);
  const [{ id } = { id: 0 }] = added.filter(({ status }) => status === 201).map(({ json }) => json);
  expect((await store.call('DELETE', `/v1/applications/${id}`, { key: partner.key })).status).toBe(204);
  expect((await as(partner, 'victim@example.org')).status).toBe(201);
});

test('sixty forms of one client with the same mailbox, each time spelt otherwise, leave a confirmation of the day to another client', async () => {
  const petId = await addAnimal();
  const spelt = (n: number) => [...'anothervictim'].map((letter, i) => (i > 0 && (n >> (i - 1)) & 1 ? `.${letter}` : letter)).join('');
  for (let n = 0; n < 60; n += 1) await submit(store, partner, petId, { adopter: { name: 'Victim', email: `${spelt(n)}@gmail.com` } });
  await sendQueued();
  expect(server.accepted).toHaveLength(2);
  const { id } = await submit(store, await store.createKey(), petId, { adopter: { name: 'Victim', email: 'anothervictim@gmail.com' } });
  await sendAll(sender as NonNullable<typeof sender>);
  expect(server.accepted).toHaveLength(3);
  expect((await readMail(store)).find(({ subjectId }) => subjectId === BigInt(id))).toMatchObject({ state: 'sent' });
});

test('what clients withdraw takes no mail from what a shelter decides, nor from other clients', async () => {
  const petId = await addAnimal();
  const other = await store.createKey();
  const confirmed = async (key: typeof partner, name: string) => {
    const { id } = await submit(store, key, petId, { adopter: { name: 'Ada', email: `${name}@example.org` } });
    await store.write(`update applications set status = 'submitted', is_confirmed = true where id = $1`, id);
    return id;
  };
  const withdraw = async (key: typeof partner, name: string) => decideAll(store, key, await confirmed(key, name), 'withdraw');
  const accepts = await confirmed(other, 'ada');
  await store.write('delete from mail');
  await withdraw(partner, 'one');
  await sendQueued();
  // As if it were the last of the day.
  await store.write('update mail_counts set messages = 5000');
  await withdraw(partner, 'two');
  await withdraw(other, 'three');
  await decideAll(store, shelter, accepts, 'accept');
  await sendQueued();
  const told = (await readMail(store))
    .filter(({ kind }) => kind === 'closed' || kind === 'accepted')
    .map(({ kind, state }) => [kind, state]);
  expect(told).toEqual([
    ['closed', 'sent'],
    ['closed', 'failed'],
    ['closed', 'sent'],
    ['accepted', 'sent'],
  ]);
});

test('a confirmation has no word of the client that asks for it, who may have named the animal', async () => {
  const petId = await addAnimal('your parcel is held. Pay at evil。example, call +43 900 1234');
  await submit(store, partner, petId, { adopter: { name: 'Victim', email: 'victim@example.org' } });
  await sendQueued();
  const { subject, text } = await PostalMime.parse(server.accepted[0]?.raw ?? '');
  expect(`${subject} ${text}`).not.toMatch(/parcel|evil|900/);
});

const refund = {
  name: 'Refund of your deposit: call +43 900 1234',
  email: 'refund@evil.example',
  phone: '+43 900 1234',
  website: 'https://evil.example/refund',
  address: 'Log in at https://evil.example and type your card',
};
const rewriteShelter = async () =>
  expect((await store.call('PATCH', `/v1/shelters/${shelterId}`, { key: shelter.key, body: refund })).status).toBe(200);

test.each([
  ['asks for', false],
  ['enters as confirmed', true],
])('a shelter that renames itself and %s an application sends a stranger no word of it', async (_, confirmed) => {
  await rewriteShelter();
  await submit(store, shelter, await addAnimal('Your refund'), { adopter: { name: 'Refund', email: 'stranger@example.org' }, confirmed });
  await sendQueued();
  const mailed = server.accepted.filter(({ to }) => to.join() === 'stranger@example.org');
  expect(mailed).toHaveLength(1);
  const raw = mailed[0]?.raw ?? '';
  const { subject, text, replyTo } = await PostalMime.parse(raw);
  expect(`${raw} ${subject} ${text}`).not.toMatch(/evil|refund|900/i);
  expect(replyTo).toBeUndefined();
  expect(text?.match(/https?:\S+/g)).toEqual([expect.stringMatching(/^https:\/\/store\.example\/a\/[0-9a-v]{40}$/)]);
});

test('who was entered at the desk confirms the address by the mailed link, and is told more from then on', async () => {
  const { id } = await submit(store, shelter, await addAnimal(), { confirmed: true });
  await sendQueued();
  const [path = ''] = (await PostalMime.parse(server.accepted[0]?.raw ?? '')).text?.match(/\/a\/\S+/) ?? [];
  expect((await store.call('GET', path)).text).toContain('Is this your e-mail address?');
  expect((await store.call('POST', `${path}/confirm`)).status).toBe(303);
  expect((await store.call('GET', path)).status).toBe(303);
  await decide(store, shelter, id, 'decline', { body: { message: 'We are full: see https://danube.example/others' } });
  server.accepted.length = 0;
  await sendQueued();
  expect((await PostalMime.parse(server.accepted[0]?.raw ?? '')).text).toContain('> We are full: see https://danube.example/others');
});

test('a shelter writes no text of its own to an address that nobody has confirmed', async () => {
  const petId = await addAnimal();
  const adopter = { name: 'your bank: call +43 900 1234', email: 'stranger@example.org' };
  const { id } = await submit(store, shelter, petId, { adopter, confirmed: true });
  await decide(store, shelter, id, 'decline', { body: { message: 'Log in: https://evil.example/login' } });
  await sendQueued();
  expect(server.accepted).toHaveLength(1);
  expect((await PostalMime.parse(server.accepted[0]?.raw ?? '')).text).not.toMatch(/evil|900/);
});

test('one decision is told once, also if staff have taken others back while the mail server was away', async () => {
  const { id } = await submit(store, shelter, await addAnimal(), { confirmed: true });
  await decideAll(store, shelter, id, 'decline', 'reopen', 'decline');
  await sendQueued();
  expect(server.accepted).toHaveLength(1);
});

test('of a fourth message a day to an adopter who applied at the desk, staff learn that it was not sent', async () => {
  const adopter = { name: 'Grace Hopper', email: 'grace@example.org' };
  const ids: number[] = [];
  for (let i = 0; i < 3; i += 1) ids.push((await submit(store, shelter, await addAnimal(), { adopter, confirmed: true })).id);
  await sendQueued();
  const [id = 0] = ids;
  await decideAll(store, shelter, id, 'accept');
  await sendQueued();
  const { json } = await store.call<{ mailFailures?: unknown[] }>('GET', `/v1/applications/${id}`, { key: shelter.key });
  expect(server.accepted.length === 4 || json.mailFailures?.length === 1).toBe(true);
});

test('while the server relays for nobody, messages wait', async () => {
  server.behaviour = { recipient: () => ({ code: 554, text: '5.7.1 <ada@example.org>: Relay access denied' }) };
  const petId = await addAnimal();
  for (const name of ['ada', 'bob', 'eve']) await submit(store, partner, petId, { adopter: { name, email: `${name}@example.org` } });
  await sendQueued();
  expect(await readMail(store)).toMatchObject([{ state: 'queued' }, { state: 'queued' }, { state: 'queued' }]);
});
