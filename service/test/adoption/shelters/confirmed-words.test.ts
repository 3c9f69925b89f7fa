// How what a shelter says of itself gets into mail: by store staff, and its e-mail address by the link that is mailed there.
import PostalMime from 'postal-mime';
import { beforeEach, describe, expect, test } from 'vitest';
import { startMailServer } from '../../../../testkit/mail-server.ts';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { openMailSenders } from '../../../src/adoption/shelters/mail-senders.ts';
import { confirmShelter, getWaiting, listWaitingShelters } from '../../../src/adoption/shelters/shelters.ts';
import { shelterBounds } from '../../../src/changes/mail/mail-queue.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { submit } from '../../application-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { makeDue, readMail, sendAll } from '../../mail-steps.ts';
import { addShelter, createShelterKey, moveToShelter } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const server = disposeAfterAll(await startMailServer());
const store = await openTestStore({
  env: { HOMEWARD_SMTP_URL: server.url, HOMEWARD_MAIL_FROM: 'no-reply@store.example', HOMEWARD_PUBLIC_URL: 'https://store.example' },
});
const { db, catalogue, config } = store.dependencies;
const manager = await createManager(store);
if (!config.mail) throw new Error('mail is off');
const [sender] = await openMailSenders(store.dependencies, config.mail, { signal: new AbortController().signal, onOutcome: () => {} });
if (!sender) throw new Error('no sender');

let id = 0;
let shelter: TestKey;

beforeEach(async () => {
  server.accepted.length = 0;
  await store.write('delete from mail');
  await store.write('delete from mail_counts');
  id = await addShelter(store);
  shelter = await createShelterKey(store, id);
});

const patch = async (body: object, { key }: TestKey = shelter) =>
  expect((await store.call('PATCH', `/v1/shelters/${id}`, { key, body })).status).toBe(200);
const sendQueued = async () => {
  await makeDue(store);
  expect(await sendAll(sender)).toEqual([]);
};
const waiting = async () => (await getWaiting(db, BigInt(id), { mails: true })).waiting;
const look = () => confirmShelter(catalogue, BigInt(id), { key: theService, by: testAuthor, mails: true, expect: () => {} });
/** The path of the link in the last message. */
const mailedLink = async () =>
  (await PostalMime.parse(server.accepted.at(-1)?.raw ?? '')).text?.match(/https:\/\/store\.example(\S+)/)?.[1] ?? '';

describe('What a shelter says of itself', () => {
  test('waits until store staff have looked at it, and what is removed waits for nobody', async () => {
    await patch({ name: 'Refund', phone: '+43 1', town: 'cuddly' });
    expect(await waiting()).toEqual(['name', 'phone', 'town']);
    expect((await listWaitingShelters(db, { afterId: 0n, limit: 10, mails: true })).map(({ shelter: { id: of } }) => of)).toContain(
      BigInt(id),
    );
    expect(await look()).toMatchObject({ confirmed: ['name', 'phone', 'town'], asksByMail: false });
    expect(await waiting()).toEqual([]);
    await patch({ phone: null });
    expect(await waiting()).toEqual([]);
    expect(await look()).toMatchObject({ confirmed: [] });
  });

  test('is not confirmed if the shelter has changed it since somebody looked', async () => {
    await patch({ phone: '+43 1' });
    const expectChanged = () => {
      throw new Error('changed');
    };
    await expect(
      confirmShelter(catalogue, BigInt(id), { key: theService, by: testAuthor, mails: true, expect: expectChanged }),
    ).rejects.toThrow('changed');
    expect(await waiting()).toEqual(['phone']);
  });

  test('is confirmed where store staff write it, and only that', async () => {
    await patch({ phone: '+43 1', website: 'https://danube.example/' });
    await patch({ phone: '+43 1' }, manager);
    expect(await waiting()).toEqual(['website']);
  });
});

describe("A shelter's e-mail address", () => {
  test('counts once the link that was mailed there is followed, whatever store staff press', async () => {
    await patch({ email: 'hello@danube.example' });
    await look();
    expect(await waiting()).toEqual(['email']);
    await sendQueued();
    expect(server.accepted.map(({ to }) => to)).toEqual([['hello@danube.example']]);
    const link = await mailedLink();
    expect((await store.call('GET', link)).text).toContain('Yes, confirm it');
    expect(await waiting()).toEqual(['email']);
    expect((await store.call('POST', link)).status).toBe(200);
    expect(await waiting()).toEqual([]);
    expect((await store.call('GET', link)).text).toContain('The address is confirmed');
  });

  test('is not confirmed by the link that was mailed to another address of it, nor by an altered one', async () => {
    await patch({ email: 'own@evil.example' });
    await sendQueued();
    const link = await mailedLink();
    await patch({ email: 'stranger@example.org' });
    const other = link.replace(/\/\d+-/, `/${id + 1}-`);
    for (const path of [link, `${link}x`, link.slice(0, -1), other]) expect((await store.call('POST', path)).status).toBe(404);
    expect(await waiting()).toEqual(['email']);
  });

  test('gets nothing else before that, and what comes to the one from before goes on', async () => {
    await patch({ email: 'old@danube.example' }, manager);
    await patch({ email: 'stranger@example.org' });
    const { id: petId } = await addPet(store, manager, { name: 'Refund' });
    await moveToShelter(store, petId, id);
    await submit(store, shelter, petId, { confirmed: true });
    await sendQueued();
    const told = server.accepted.filter(({ to }) => !to.join().startsWith('ada'));
    expect(told.map(({ to }) => to.join()).toSorted()).toEqual(['old@danube.example', 'stranger@example.org']);
    const { raw = '' } = told.find(({ to }) => to.join() === 'stranger@example.org') ?? {};
    const { subject, text } = await PostalMime.parse(raw);
    expect(`${raw} ${subject} ${text}`).not.toMatch(/refund|danube/i);
  });

  test(`may be changed all day: ${shelterBounds.own.confirmations} strangers are asked`, async () => {
    for (let i = 0; i < shelterBounds.own.confirmations + 3; i += 1) {
      await patch({ email: `stranger${i}@example.org` });
      await sendQueued();
      // As if an hour had gone by.
      await store.write(`update mail set created_at = created_at - interval '2 hours', claimed_at = claimed_at - interval '2 hours'`);
    }
    expect(server.accepted).toHaveLength(shelterBounds.own.confirmations);
    expect((await readMail(store)).filter(({ failure }) => failure === '4.7.1 daily limit').length).toBeGreaterThan(0);
  });
});

test('of a shelter and a client the mail of a day is bounded, and another client there has its own', async () => {
  const { id: petId } = await addPet(store, manager);
  await moveToShelter(store, petId, id);
  const [one, another] = [await store.createKey(), await store.createKey()];
  const ask = (key: TestKey, n: number) => submit(store, key, petId, { adopter: { name: 'Ada', email: `victim${n}@example.org` } });
  await ask(one, 1);
  await sendQueued();
  await store.write(`update mail_counts set confirmations = ${shelterBounds.submissions.confirmations} where confirmations = 1`);
  await ask(one, 2);
  await ask(another, 3);
  await sendQueued();
  expect(server.accepted.flatMap(({ to }) => to)).toEqual(['victim1@example.org', 'victim3@example.org']);
});
