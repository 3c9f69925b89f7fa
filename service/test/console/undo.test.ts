import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startMailServer } from '../../../testkit/mail-server.ts';
import { actOnApplication } from '../../src/adoption/applications/applications.ts';
import { settleApplications } from '../../src/adoption/applications/settling.ts';
import { findOpenOrder, findOrderedPets } from '../../src/adoption/orders/orders.ts';
import { verifyHistory } from '../../src/adoption/verify/verify.ts';
import { changePet } from '../../src/animals/pets/pets.ts';
import { theService } from '../../src/domain/actor.ts';
import { undoableKinds } from '../../src/domain/undo.ts';
import { readOn } from '../event-steps.ts';
import { Letters, makeDue, openMailSender, sendAll } from '../mail-steps.ts';
import { addShelter } from './console-steps.ts';
import { openTestConsole, wordsOf } from './test-console.ts';
import { deeds, lastAct, makeFinal, prepareDesk, stateOf, undo } from './undo-site.ts';

const site = await openTestConsole({
  env: {
    HOMEWARD_SMTP_URL: 'smtp://127.0.0.1:1',
    HOMEWARD_MAIL_FROM: 'Danube <adoption@example.org>',
    HOMEWARD_PUBLIC_URL: 'https://store.example',
  },
});
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const reader = await site.store.createKey({ scopes: ['pets:read', 'orders:read', 'store:manage'] });
const { db, catalogue } = site.store.dependencies;

const mailOf = (actId: bigint) =>
  site.store.read<{ isHeld: boolean }>(
    `select due_at = final_at as "isHeld" from mail join undoable_acts on undoable_acts.id = act_id where act_id = $1 order by mail.id`,
    actId,
  );
const violation = async () => (await verifyHistory(db, () => {})).violation;

test.each(undoableKinds)('%s is undone: all is as before, no mail is left, and the events name what they undo', async (kind) => {
  const desk = await prepareDesk(site, shelterId);
  const { petId, browser } = desk;
  const carryOut = await deeds[kind].prepare(desk);
  await site.store.write('update undoable_acts set final_at = now() where pet_id = $1', petId);
  await site.store.write('delete from mail');
  const before = await stateOf(site, petId);
  const { next } = await readOn(site.store, reader);
  const done = await carryOut();
  expect(done.status).toBe(303);
  const act = await lastAct(site, petId);
  if (act?.kind !== kind) throw new Error(`${kind} is no act`);
  expect(await stateOf(site, petId)).not.toEqual(before);
  expect(await mailOf(act.id)).toEqual(Array.from({ length: deeds[kind].mails }, () => ({ isHeld: true })));
  const page = wordsOf((await browser.open(done.location ?? '')).text);
  expect(page).toMatch(/You can undo it until \d\d:\d\d:\d\d ?\. Undo/);
  const told = await readOn(site.store, reader, next);
  expect(told.events.length).toBeGreaterThan(0);
  for (const event of told.events) expect(event).toMatchObject({ finalAt: act.finalAt.toISOString() });

  const undone = await undo(desk, act.id);
  expect(undone.status).toBe(303);
  expect(wordsOf((await browser.open(undone.location ?? '')).text)).toContain('Undone: Moose is as before');
  expect(await stateOf(site, petId)).toEqual(before);
  expect(await mailOf(act.id)).toEqual([]);
  const { events } = await readOn(site.store, reader, told.next);
  expect(events.length).toBeGreaterThan(0);
  for (const event of events) {
    expect(event).toMatchObject({ undoes: told.events.map(({ id }) => id) });
    expect(event).not.toHaveProperty('finalAt');
  }
  expect(await violation()).toBeUndefined();
  expect((await site.store.read('select 1 from applications where pet_id = $1 and status = $2', petId, 'accepted')).length).toBe(
    kind === 'handed_over' ? 1 : 0,
  );
});

test.each(undoableKinds)('%s is not undone after another change: nothing is changed, and the page says what was', async (kind) => {
  const desk = await prepareDesk(site, shelterId);
  const carryOut = await deeds[kind].prepare(desk);
  await carryOut();
  const act = await lastAct(site, desk.petId);
  if (!act) throw new Error('there is no act');
  await site.store.write(
    `insert into history (pet_id, from_status, to_status, why, kind)
      select id, status::text, status::text, 'edited by staff', 'pet_edited' from pets where id = $1 and removed_at is null
      union all select id, 'removed', 'removed', 'edited by staff', 'pet_edited' from pets where id = $1 and removed_at is not null`,
    desk.petId,
  );
  const before = await stateOf(site, desk.petId);
  const mails = await mailOf(act.id);
  const refused = await desk.browser.post(`/acts/${act.id}/undo`, await tokenOf(desk));
  expect(refused.status).toBe(422);
  expect(wordsOf(refused.text)).toContain(
    'Nothing is undone, since Moose was changed meanwhile: The store changed the name or the category of Moose',
  );
  expect(wordsOf((await desk.browser.open(`/acts/${act.id}`)).text)).toContain('The store changed the name or the category of Moose');
  expect(await stateOf(site, desk.petId)).toEqual(before);
  expect(await mailOf(act.id)).toEqual(mails);
  await site.store.asOwner(`delete from history where why = 'edited by staff'`);
});

/** Of any form. */
const tokenOf = async ({ browser }: Pick<Awaited<ReturnType<typeof prepareDesk>>, 'browser'>) => {
  const [, token = ''] = /name="_token" value="([^"]*)"/.exec((await browser.open('/me')).text) ?? [];
  return { _token: token, _form: crypto.randomUUID() };
};

test('an act is final after two minutes: it is not undone, its page says why, and its mail is due', async () => {
  const desk = await prepareDesk(site, shelterId);
  await (await deeds.adopted.prepare(desk))();
  const act = await lastAct(site, desk.petId);
  if (!act) throw new Error('there is no act');
  await makeFinal(site, act.id);
  const refused = await desk.browser.post(`/acts/${act.id}/undo`, await tokenOf(desk));
  expect([refused.status, wordsOf(refused.text)]).toEqual([422, expect.stringContaining('It is too late')]);
  expect(wordsOf((await desk.browser.open(`/acts/${act.id}`)).text)).toContain('It is too late');
  expect(await desk.staff.statusOf('pets', desk.petId)).toBe('sold');
  expect(await site.store.read(`select 1 from mail where act_id = $1 and due_at <= now()`, act.id)).toHaveLength(3);
});

test('a message that a worker has claimed makes the act final', async () => {
  const desk = await prepareDesk(site, shelterId);
  await (await deeds.declined.prepare(desk))();
  const act = await lastAct(site, desk.petId);
  if (!act) throw new Error('there is no act');
  await site.store.write(`update mail set claim = nextval('mail_claims'), attempts = 1 where act_id = $1`, act.id);
  const refused = await desk.browser.post(`/acts/${act.id}/undo`, await tokenOf(desk));
  expect([refused.status, wordsOf(refused.text)]).toEqual([422, expect.stringContaining('It is too late')]);
  expect(await desk.staff.statusOf('applications', desk.applicationIds[1] ?? 0n)).toBe('declined');
});

test('two undo one act at once: it is undone once, and the other reads that it was', async () => {
  const desk = await prepareDesk(site, shelterId);
  await (await deeds.adopted.prepare(desk))();
  const act = await lastAct(site, desk.petId);
  const path = `/acts/${act?.id}/undo`;
  const forms = [await tokenOf(desk), await tokenOf(desk)];
  const answers = await Promise.all(forms.map((form) => desk.browser.post(path, form)));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 422]);
  expect(answers.map(({ text }) => wordsOf(text)).join()).toContain('It was undone at');
  expect(await desk.staff.statusOf('pets', desk.petId)).toBe('available');
  expect(await violation()).toBeUndefined();
});

test('of two acts the last is undone first, and then the one before', async () => {
  const desk = await prepareDesk(site, shelterId);
  const [one, other] = desk.applicationIds;
  const before = await stateOf(site, desk.petId);
  for (const id of [one, other]) await desk.browser.submit(`/applications/${id}/decline`, `/applications/${id}/decline`);
  const [last, first] = await site.store.read<{ id: bigint }>(
    'select id from undoable_acts where pet_id = $1 order by id desc',
    desk.petId,
  );
  const refused = await undoDirectly(desk, first?.id);
  expect([refused.status, wordsOf(refused.text)]).toEqual([422, expect.stringContaining(`Application ${other} : You have declined it`)]);
  expect((await undoDirectly(desk, last?.id)).status).toBe(303);
  expect((await undoDirectly(desk, first?.id)).status).toBe(303);
  expect(await stateOf(site, desk.petId)).toEqual(before);
  expect(await violation()).toBeUndefined();
});

const undoDirectly = async (desk: Awaited<ReturnType<typeof prepareDesk>>, id: bigint | undefined) =>
  desk.browser.post(`/acts/${id}/undo`, await tokenOf(desk));

test('a new application is no change, unless it is of an adopter who would have two', async () => {
  const desk = await prepareDesk(site, shelterId);
  await (await deeds.declined.prepare(desk))();
  await desk.staff.apply(desk.petId, { name: 'Dora' });
  const act = await lastAct(site, desk.petId);
  expect((await undoDirectly(desk, act?.id)).status).toBe(303);
  await (await deeds.declined.prepare(desk))();
  const again = await lastAct(site, desk.petId);
  const { id } = await desk.staff.apply(desk.petId, { name: 'Ben Okri' });
  await site.store.write(
    'update applications set adopter_address = (select adopter_address from applications where id = $2) where id = $1',
    id,
    desk.applicationIds[1],
  );
  expect((await undoDirectly(desk, again?.id)).status).toBe(422);
});

test('an act whose adopter was erased meanwhile is not undone', async () => {
  const desk = await prepareDesk(site, shelterId);
  await (await deeds.declined.prepare(desk))();
  await site.store.write(
    'update applications set adopter_name = null, adopter_email = null, adopter_address = null, answers = null where id = $1',
    desk.applicationIds[1],
  );
  const refused = await undoDirectly(desk, (await lastAct(site, desk.petId))?.id);
  expect([refused.status, wordsOf(refused.text)]).toEqual([422, expect.stringContaining('was erased meanwhile')]);
});

test('a colleague can not undo an act, an admin of the shelter or of the store can, and one of another shelter does not find it', async () => {
  const elsewhere = await addShelter(site, 'Inn Shelter', 'Europe/Vienna');
  const people = {
    colleague: await site.arrive({ role: 'staff', shelterId }),
    volunteer: await site.arrive({ role: 'volunteer', shelterId }),
    'staff of the store': await site.arrive({ role: 'staff', shelterId: null }),
    'admin elsewhere': await site.arrive({ role: 'admin', shelterId: elsewhere }),
    admin: await site.arrive({ role: 'admin', shelterId }),
    'admin of the store': await site.arrive({ role: 'admin', shelterId: null }),
  };
  const expected = {
    colleague: 403,
    volunteer: 403,
    'staff of the store': 403,
    'admin elsewhere': 404,
    admin: 303,
    'admin of the store': 303,
  };
  const found: Record<string, number> = {};
  for (const [who, browser] of Object.entries(people)) {
    const desk = await prepareDesk(site, shelterId);
    await (await deeds.adopted.prepare(desk))();
    const act = await lastAct(site, desk.petId);
    found[who] = (await browser.post(`/acts/${act?.id}/undo`, await tokenOf({ browser }))).status;
    expect(await desk.staff.statusOf('pets', desk.petId)).toBe(found[who] === 303 ? 'available' : 'sold');
  }
  expect(found).toEqual(expected);
});

test('Today shows an admin what others have just done, with the way to undo it', async () => {
  const desk = await prepareDesk(site, shelterId);
  await (await deeds.adopted.prepare(desk))();
  const admin = await site.arrive({ role: 'admin', shelterId });
  const act = await lastAct(site, desk.petId);
  const { text } = await admin.open('/');
  expect(wordsOf(text)).toContain('Just done by others, and can be undone');
  expect(text).toContain(`href="/acts/${act?.id}"`);
  expect(wordsOf((await admin.open(`/animals/${desk.petId}`)).text)).toMatch(/marked Moose as adopted.*You can undo it until/);
  expect((await desk.browser.open('/')).text).not.toContain('Just done by others');
});

test('a person whose role no longer permits the act can not undo it', async () => {
  const desk = await prepareDesk(site, shelterId);
  await (await deeds.adopted.prepare(desk))();
  const act = await lastAct(site, desk.petId);
  await site.store.write(`update people set role = 'volunteer' where id = $1`, desk.staff.person.id);
  expect((await undoDirectly(desk, act?.id)).status).toBe(403);
});

test('docs/guides/events.md shows an act and its undoing as the feed does', async () => {
  const guide = readFileSync(new URL('../../../docs/guides/events.md', import.meta.url), 'utf8');
  const [, shown = ''] = /^```json\n(\[\n {2}\{"id":"evt_7".*?)^```/ms.exec(guide) ?? [];
  const desk = await prepareDesk(site, shelterId);
  await desk.browser.submit(`/applications/${desk.applicationIds[1]}`, `/applications/${desk.applicationIds[1]}/review`);
  const { next } = await readOn(site.store, reader);
  await (await deeds.declined.prepare(desk))();
  await undoDirectly(desk, (await lastAct(site, desk.petId))?.id);
  const { texts } = await readOn(site.store, reader, next);
  const plain = (text: string) =>
    text
      .replaceAll(/\s/g, '')
      .replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, '(time)')
      .replaceAll(/\d+/g, '1');
  expect(plain(texts.join(''))).toBe(plain(shown));
});

test('what a key or a command does is final at once: no act, no finalAt, and mail that is due', async () => {
  const desk = await prepareDesk(site, shelterId);
  const { next } = await readOn(site.store, reader);
  await catalogue.transaction(
    (tx) => actOnApplication(tx, desk.applicationIds[0] ?? 0n, 'decline', theService, { orderExpirySeconds: 60 }),
    theService,
  );
  const options = {
    findOpenOrder,
    findOrderedPets,
    settleApplications,
    expect: () => {},
    categories: 'open',
    registrant: undefined,
  } as const;
  await changePet(catalogue, desk.petId, { status: 'sold' }, theService, options);
  expect(await lastAct(site, desk.petId)).toBeUndefined();
  expect(await site.store.read(`select 1 from mail where act_id is null and due_at <= now() and state = 'queued'`)).toHaveLength(3);
  for (const event of (await readOn(site.store, reader, next)).events) expect(event).not.toHaveProperty('finalAt');
});

test('an act that changes nothing can not be undone', async () => {
  const desk = await prepareDesk(site, shelterId);
  await (await deeds.held.prepare(desk))();
  const act = await lastAct(site, desk.petId);
  await (await deeds.held.prepare(desk))();
  expect((await lastAct(site, desk.petId))?.id).toBe(act?.id);
});

test.each([
  ['/animals/:petId/adopted', 'Moose has found a home with somebody else'],
  ['/animals/:petId/leaving', 'Moose is no longer up for adoption'],
])('%s asks first, and names who gets mail and who does not', async (path, why) => {
  const desk = await prepareDesk(site, shelterId);
  await site.store.write('update applications set is_mailed = false where id = $1', desk.applicationIds[2]);
  const text = wordsOf((await desk.browser.open(path.replace(':petId', String(desk.petId)))).text).replaceAll(/ ([,.:])/g, '$1');
  expect(text).toContain(`3 open applications are closed. Ada Lovelace and Ben Okri get mail that ${why}: in two minutes`);
  expect(text).toContain('No mail goes to Cleo Laine: tell them yourself.');
});

test('the page that hands over names the others, and not who gets the animal', async () => {
  const desk = await prepareDesk(site, shelterId);
  const { orderId } = await desk.staff.decide(desk.applicationIds[0] ?? 0n, 'accept');
  const text = wordsOf((await desk.browser.open(`/orders/${orderId}/hand-over`)).text).replaceAll(/ ([,.:])/g, '$1');
  expect(text).toContain('2 open applications are closed. Ben Okri and Cleo Laine get mail that');
});

test('while its mail becomes due and workers send, an act is undone without mail, or final with all of it', async () => {
  await using server = await startMailServer();
  const outcomes = new Set<number>();
  for (let round = 0; round < 12; round += 1) {
    const desk = await prepareDesk(site, shelterId);
    const before = await stateOf(site, desk.petId);
    await (await deeds.adopted.prepare(desk))();
    const after = await stateOf(site, desk.petId);
    const act = await lastAct(site, desk.petId);
    if (!act) throw new Error('there is no act');
    const letters = new Letters();
    for (const id of desk.applicationIds) letters.write(id);
    const parts = { kinds: { closed: { countsAs: 'nothing' } } } as const;
    const senders = [1, 2].map(() => openMailSender(site.store, server, letters, parts).sender);
    const form = await tokenOf(desk);
    const sentBefore = server.received.length;
    await makeFinal(site, act.id, round % 3 === 0 ? 0.5 : 0.015);
    const [undone] = await Promise.all([desk.browser.post(`/acts/${act.id}/undo`, form), ...senders.map((sender) => sendAll(sender))]);
    outcomes.add(undone.status);
    await makeDue(site.store);
    for (const sender of senders) {
      await sendAll(sender);
      sender.close();
    }
    expect(await stateOf(site, desk.petId)).toEqual(undone.status === 303 ? before : after);
    expect(server.received.length - sentBefore).toBe(undone.status === 303 ? 0 : 3);
  }
  expect(outcomes).toContain(303);
  expect(await site.store.read('select 1 from mail join undoable_acts on undoable_acts.id = act_id where claimed_at < final_at')).toEqual(
    [],
  );
  expect(await violation()).toBeUndefined();
});
