// Where mail is on, a link in the hand is not the person: `statusUrl` reads, and what it asks for goes to the mailbox.
import { describe, expect, test } from 'vitest';
import { addPet, createManager, readPet } from '../adoption-steps.ts';
import { decide, decideAll, submit } from '../application-steps.ts';
import { errorResponse } from '../error-response.ts';
import { openTestStore } from '../test-store.ts';
import { openMailbox } from './mailbox.ts';
import { applyUnconfirmed, linksOf, mailEnv, manyAddresses, pathTo, press, statusOf, targetOf, visit, wordsOf } from './page-steps.ts';

const store = await openTestStore({ env: { ...manyAddresses, ...mailEnv } });
const [partner, manager] = [await store.createKey(), await createManager(store)];
const mailbox = openMailbox(store);
const acts = ['withdraw', 'erase'] as const;

async function addConfirmed(...actions: string[]): Promise<bigint> {
  const id = await applyUnconfirmed(store, partner, (await addPet(store, partner)).id);
  await press(store, `${pathTo(store, id, 'confirm')}/confirm`);
  await decideAll(store, manager, Number(id), ...actions);
  return id;
}

const emailOf = async (id: bigint) =>
  (await store.read<{ email: string | null }>('select adopter_email as email from applications where id = $1', id))[0]?.email;
const ask = (id: bigint, act: (typeof acts)[number]) => press(store, `${pathTo(store, id)}/${act}`);
/** Asks, and opens the mail. */
async function linkTo(id: bigint, act: (typeof acts)[number]): Promise<string> {
  await ask(id, act);
  return mailbox.openLink(id, `${act}_link`);
}
const petOf = async (id: bigint) => {
  const [row] = await store.read<{ petId: bigint }>('select pet_id as "petId" from applications where id = $1', id);
  return Number(row?.petId);
};

describe('Whoever has the status link', () => {
  test('neither withdraws nor erases an application', async () => {
    const id = await addConfirmed();
    for (const act of acts) await ask(id, act);
    expect([await statusOf(store, id), await emailOf(id)]).toEqual(['submitted', expect.stringContaining('@')]);
  });

  test('does not cancel an adoption that was agreed on', async () => {
    const id = await addConfirmed('accept');
    for (const act of acts) await ask(id, act);
    expect([await statusOf(store, id), (await readPet(store, partner, await petOf(id)))?.status]).toEqual(['accepted', 'pending']);
  });

  test('does not delete what is not confirmed, which the mailed link does', async () => {
    const id = await applyUnconfirmed(store, partner, (await addPet(store, partner)).id);
    expect(linksOf((await visit(store, pathTo(store, id))).text, pathTo(store, id))).toEqual([]);
    for (const act of acts) await ask(id, act);
    expect([await statusOf(store, id), await mailbox.kinds(id)]).toEqual(['unconfirmed', ['confirm']]);
    await press(store, `${pathTo(store, id, 'confirm')}/erase`);
    expect(await statusOf(store, id)).toBeUndefined();
  });

  test('does no more with the first mailed link once that has confirmed', async () => {
    const id = await addConfirmed();
    for (const act of acts) await press(store, `${pathTo(store, id, 'confirm')}/${act}`);
    expect([await statusOf(store, id), await emailOf(id)]).toEqual(['submitted', expect.stringContaining('@')]);
  });

  test('sees the page as before, also by a link of the release before', async () => {
    const id = await addConfirmed();
    const { status, text } = await visit(store, pathTo(store, id));
    expect([status, pathTo(store, id)]).toEqual([200, expect.stringMatching(/^\/a\/[0-9a-v]{40}$/)]);
    expect(linksOf(text, pathTo(store, id))).toEqual(acts.map((act) => `${pathTo(store, id)}/${act}`));
  });
});

describe('Asking for a link', () => {
  test('says what happens next, sends it to the confirmed address alone, and says that it did', async () => {
    const id = await addConfirmed('accept');
    const path = `${pathTo(store, id)}/withdraw`;
    const before = wordsOf((await visit(store, path)).text);
    for (const part of ['we send a link to the e-mail address that you have confirmed', 'within 15 minutes', '3 more today, of 3 a day'])
      expect(before).toContain(part);
    expect(before).toContain('The reservation of Biscuit ends too.');
    expect(await mailbox.kinds(id)).not.toContain('withdraw_link');
    const pressed = await press(store, path);
    expect([pressed.status, targetOf(pressed, path)]).toEqual([303, path]);
    expect(wordsOf((await visit(store, path)).text)).toMatch(/Look into your e-mail A link was asked for at .* 2 more today/);
    const mail = await mailbox.open(id, 'withdraw_link');
    expect(mail).toMatchObject({ to: { address: await emailOf(id) }, subject: 'Your link to withdraw your application' });
    expect(mail?.text).toContain('The link works once, for 15 minutes.');
  });

  test('is possible three times a day, for both acts together and however many ask at once', async () => {
    const id = await addConfirmed();
    await Promise.all(Array.from({ length: 8 }, (_, i) => ask(id, acts[i % 2] ?? 'erase')));
    expect(await store.read('select count(*)::int as links from adopter_links where application_id = $1', id)).toEqual([{ links: 3 }]);
    expect((await mailbox.kinds(id)).filter((kind) => kind.endsWith('_link'))).toHaveLength(3);
    const { text } = await visit(store, `${pathTo(store, id)}/erase`);
    expect(wordsOf(text)).toContain(
      'Today no further link can be sent for this application: 3 a day are possible. You can ask again after',
    );
    expect(text).not.toContain('<button');
    // The next day.
    await store.write(`update adopter_links set asked_at = asked_at - interval '1 day' where application_id = $1`, id);
    await ask(id, 'erase');
    expect(await store.read('select act from adopter_links where application_id = $1', id)).toEqual([{ act: 'erase' }]);
  });

  test('counts against the messages of the address, and staff see that it was too many', async () => {
    expect(mailbox.kindOf('withdraw_link')).toEqual({ countsAs: 'message', atBound: 'fail' });
    expect(mailbox.kindOf('erase_link')).toEqual({ countsAs: 'message', atBound: 'fail' });
  });

  test('is not possible where nobody has confirmed the address: the page says to contact the shelter', async () => {
    const { id } = await submit(store, manager, (await addPet(store, partner)).id, { confirmed: true });
    const { text } = await visit(store, pathTo(store, id));
    expect(wordsOf(text)).toContain('To withdraw the application, or to have your data erased, contact');
    expect(linksOf(text, pathTo(store, id))).toEqual([]);
    for (const act of acts) expect((await ask(BigInt(id), act)).status).toBe(303);
    expect(await mailbox.kinds(BigInt(id))).toEqual(['received']);
  });

  test('by a GET, or on another site, sends nothing', async () => {
    const id = await addConfirmed();
    await visit(store, `${pathTo(store, id)}/erase`);
    expect((await press(store, `${pathTo(store, id)}/erase`, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect(await mailbox.kinds(id)).not.toContain('erase_link');
  });
});

describe('The link that is mailed', () => {
  test('withdraws by its button, once, and the adopter is told', async () => {
    const id = await addConfirmed('accept');
    const link = await linkTo(id, 'withdraw');
    for (const method of ['GET', 'HEAD', 'GET']) expect((await visit(store, link, { method })).status).toBe(200);
    expect([await statusOf(store, id), wordsOf((await visit(store, link)).text)]).toEqual([
      'accepted',
      expect.stringContaining('Withdraw your application for Biscuit?'),
    ]);
    const pressed = await press(store, link);
    expect([pressed.status, targetOf(pressed, link)]).toEqual([303, pathTo(store, id)]);
    expect([await statusOf(store, id), (await readPet(store, partner, await petOf(id)))?.status]).toEqual(['withdrawn', 'available']);
    const mail = await mailbox.open(id, 'withdrawn');
    expect(mail).toMatchObject({ to: { address: await emailOf(id) }, subject: 'Your application for Biscuit was withdrawn' });
    expect(mail?.text).toContain('in the next 7 days');
    for (const method of ['GET', 'POST']) expect((await visit(store, link, { method, raw: '' })).status).toBe(410);
  });

  test('erases by its button, and a last message has the words of the store alone; then no address is left', async () => {
    const id = await addConfirmed();
    const email = (await emailOf(id)) ?? '';
    const link = await linkTo(id, 'erase');
    expect(wordsOf((await visit(store, link)).text)).toContain('Erase your data?');
    expect((await press(store, link)).status).toBe(303);
    expect([await statusOf(store, id), await emailOf(id)]).toEqual(['withdrawn', null]);
    expect(await mailbox.waiting(id)).toEqual(['erased']);
    const mail = await mailbox.open(id, 'erased');
    expect(mail).toMatchObject({ to: { address: email }, subject: 'Your data has been erased' });
    expect(JSON.stringify(mail)).not.toMatch(/Lovelace|Biscuit|helter/);
    for (const state of ['sent', 'failed', 'dropped']) {
      await store.write(
        `update mail set state = 'queued', ended_at = null, recipient = $2 where subject_id = $1 and kind = 'erased'`,
        id,
        email,
      );
      await store.write(`update mail set state = $2, ended_at = now() where subject_id = $1 and kind = 'erased'`, id, state);
      expect(await store.read('select id from mail where recipient is not null')).toEqual([]);
    }
    expect((await visit(store, link)).status).toBe(410);
    expect(wordsOf((await visit(store, pathTo(store, id))).text)).toContain('Your data has been erased');
  });

  test.each(acts)('that was pressed four times at once has done that once: %s', async (act) => {
    const id = await addConfirmed('accept');
    const link = await linkTo(id, act);
    const statuses = (await Promise.all(Array.from({ length: 4 }, () => press(store, link)))).map(({ status }) => status);
    // One that gets no connection in time is 503, and has no effect.
    expect(statuses.filter((status) => ![303, 410, 503].includes(status))).toEqual([]);
    expect(await store.read(`select by from application_history where application_id = $1 and to_status = 'withdrawn'`, id)).toEqual([
      { by: 'adopter' },
    ]);
    expect(await mailbox.waiting(id)).toEqual([act === 'erase' ? 'erased' : 'withdrawn']);
  });

  test.each(acts)('has ended after 15 minutes: %s', async (act) => {
    const id = await addConfirmed();
    const link = await linkTo(id, act);
    const [row] = await store.read<{ minutes: number }>(
      'select round(extract(epoch from ends_at - now()) / 60)::int as minutes from adopter_links where application_id = $1',
      id,
    );
    expect(row?.minutes).toBe(15);
    await store.write('update adopter_links set ends_at = now() where application_id = $1', id);
    for (const { status, text } of [await visit(store, link), await press(store, link)])
      expect([status, wordsOf(text)]).toEqual([410, expect.stringContaining('This link has ended')]);
    expect([await statusOf(store, id), await emailOf(id)]).toEqual(['submitted', expect.stringContaining('@')]);
  });

  test('does nothing before it was mailed, under another number, for another act or another application', async () => {
    const [id, other] = [await addConfirmed(), await addConfirmed()];
    await ask(id, 'withdraw');
    const [row] = await store.read<{ number: bigint }>('select number from adopter_links where application_id = $1', id);
    const number = row?.number ?? 0n;
    const early = pathTo(store, id, 'withdraw', number);
    expect((await press(store, early)).status).toBe(410);
    expect(await mailbox.openLink(id, 'withdraw_link')).toBe(early);
    const others = [
      pathTo(store, id, 'withdraw', number + 1n),
      pathTo(store, id, 'withdraw'),
      pathTo(store, id, 'erase', number),
      pathTo(store, other, 'withdraw', number),
    ];
    for (const path of others) expect((await press(store, path)).status).toBe(410);
    for (const path of [`${early}/withdraw`, `${early}/erase`, `${early}/confirm`]) expect((await press(store, path)).status).toBe(404);
    expect([await statusOf(store, id), await statusOf(store, other)]).toEqual(['submitted', 'submitted']);
    expect((await press(store, early)).status).toBe(303);
  });

  test('is still good when the adopter asks for the other one, and ends with the data', async () => {
    const id = await addConfirmed();
    const [withdraw, erase] = [await linkTo(id, 'withdraw'), await linkTo(id, 'erase')];
    expect((await visit(store, withdraw)).status).toBe(200);
    await press(store, erase);
    expect((await press(store, withdraw)).status).toBe(410);
    expect(await store.read('select number from adopter_links where application_id = $1', id)).toEqual([]);
  });

  test('leads to the page where there is nothing left to do', async () => {
    const id = await addConfirmed();
    const link = await linkTo(id, 'withdraw');
    await decideAll(store, manager, Number(id), 'decline');
    expect((await visit(store, link)).status).toBe(303);
    expect([(await press(store, link)).status, await statusOf(store, id)]).toEqual([303, 'declined']);
  });

  test('says no word of the adopter to who merely has it', async () => {
    expect(wordsOf((await visit(store, await linkTo(await addConfirmed(), 'erase'))).text)).not.toMatch(/Lovelace|ada\./);
  });
});

describe('An application that was withdrawn by a link', () => {
  const withdrawn = async (...actions: string[]) => {
    const id = await addConfirmed(...actions);
    await press(store, await linkTo(id, 'withdraw'));
    return id;
  };

  test('can be reopened by staff, and accepted again', async () => {
    const id = await withdrawn('accept');
    await decideAll(store, manager, Number(id), 'reopen', 'accept');
    expect([await statusOf(store, id), (await readPet(store, partner, await petOf(id)))?.status]).toEqual(['accepted', 'pending']);
  });

  test('can be reopened for 7 days', async () => {
    const id = await withdrawn();
    await store.write(`update applications set reopen_until = reopen_until - interval '7 days' where id = $1`, id);
    expect(await decide(store, manager, Number(id), 'reopen')).toMatchObject(
      errorResponse(409, 'application_state_conflict', 'Only what was withdrawn by a link of its adopter can be reopened, for 7 days.'),
    );
  });

  test.each([
    ['the animal was adopted', `update pets set status = 'sold' where id = $1`, 409],
    ['the animal was removed', 'update pets set removed_at = now() where id = $1', 404],
  ])('can not be reopened when %s', async (_, change, status) => {
    const id = await withdrawn();
    await store.asOwner(change, await petOf(id));
    expect((await decide(store, manager, Number(id), 'reopen')).status).toBe(status);
  });

  test('can not be reopened by its client, nor by anybody once it is erased', async () => {
    const id = await withdrawn();
    expect((await decide(store, partner, Number(id), 'reopen')).status).toBe(403);
    await press(store, await linkTo(id, 'erase'));
    expect((await decide(store, manager, Number(id), 'reopen')).status).toBe(409);
  });

  test('is final if a key has withdrawn it, also after it was reopened', async () => {
    for (const key of [partner, manager]) {
      const id = await withdrawn();
      await decideAll(store, manager, Number(id), 'reopen');
      await decideAll(store, key, Number(id), 'withdraw');
      expect(await decide(store, manager, Number(id), 'reopen')).toMatchObject(errorResponse(409, 'application_state_conflict'));
    }
  });

  test('can be withdrawn again by another link, and not by the first', async () => {
    const id = await addConfirmed();
    const first = await linkTo(id, 'withdraw');
    await press(store, first);
    await decideAll(store, manager, Number(id), 'reopen');
    expect([(await press(store, first)).status, await statusOf(store, id)]).toEqual([410, 'reviewing']);
    await press(store, await linkTo(id, 'withdraw'));
    expect(await statusOf(store, id)).toBe('withdrawn');
  });
});
