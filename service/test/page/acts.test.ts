import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { type PageActs, pageActs } from '../../src/adoption/adopter-page/page-acts.ts';
import { applicationPages } from '../../src/adoption/adopter-page/page-routes.ts';
import { eraseApplicant } from '../../src/adoption/applications/applicants.ts';
import { retryLater } from '../../src/platform/errors.ts';
import { observeRequests } from '../../src/platform/http/finished-requests.ts';
import { addPet, adopterOf, createManager, readPet } from '../adoption-steps.ts';
import { decideAll, submit } from '../application-steps.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { openTestStore } from '../test-store.ts';
import {
  addUnconfirmed,
  applyUnconfirmed,
  linksOf,
  manyAddresses,
  pathTo,
  press,
  statusOf,
  targetOf,
  visit,
  wordsOf,
} from './page-steps.ts';

const store = await openTestStore({ env: manyAddresses });
const [partner, manager] = [await store.createKey(), await createManager(store)];
const addApplication = async () => submit(store, partner, (await addPet(store, partner)).id);

const historyOf = (id: number | bigint) =>
  store.read<{ to: string; by: string }>('select to_status as to, by from application_history where application_id = $1 order by id', id);

describe('A link that confirms', () => {
  test('asks first, confirms by its button, and leads to the other link from then on', async () => {
    const id = await addUnconfirmed(store, partner);
    const [confirm, see] = [pathTo(store, id, 'confirm'), pathTo(store, id)];
    const asked = await visit(store, confirm);
    expect([asked.status, await statusOf(store, id)]).toEqual([200, 'unconfirmed']);
    expect(wordsOf(asked.text)).toContain('Send your application for Biscuit? Confirm that this is your e-mail address.');
    expect(linksOf(asked.text, confirm)).toEqual([`${confirm}/confirm`, `${confirm}/erase`]);

    const pressed = await press(store, `${confirm}/confirm`);
    expect([pressed.status, targetOf(pressed, `${confirm}/confirm`)]).toEqual([303, see]);
    expect([await statusOf(store, id), await historyOf(id)]).toEqual(['submitted', [{ to: 'submitted', by: 'adopter' }]]);
    const again = await visit(store, confirm);
    expect([again.status, targetOf(again, confirm)]).toEqual([303, see]);
    expect((await visit(store, see)).status).toBe(200);
  });

  test('pressed twice confirms once', async () => {
    const id = await addUnconfirmed(store, partner);
    const path = `${pathTo(store, id, 'confirm')}/confirm`;
    const statuses = (await Promise.all([press(store, path), press(store, path), press(store, path)])).map(({ status }) => status);
    expect([statuses, (await historyOf(id)).length]).toEqual([[303, 303, 303], 1]);
  });

  test('is needed to confirm: the link that shows the page does not', async () => {
    const id = await addUnconfirmed(store, partner);
    expect((await press(store, `${pathTo(store, id)}/confirm`)).status).toBe(303);
    expect(await statusOf(store, id)).toBe('unconfirmed');
  });

  test.each([
    ['the animal was adopted', `update pets set status = 'sold' where id = $1`],
    ['the animal was removed', 'update pets set removed_at = now() where id = $1'],
  ])('says, before and after its button, that %s', async (_, change) => {
    const { id: petId } = await addPet(store, partner);
    const id = await applyUnconfirmed(store, partner, petId);
    await store.asOwner(change, petId);
    const shown = await visit(store, pathTo(store, id, 'confirm'));
    const pressed = await press(store, `${pathTo(store, id, 'confirm')}/confirm`);
    expect([shown.status, pressed.status]).toEqual([200, 409]);
    for (const { text } of [shown, pressed]) {
      expect(wordsOf(text)).toContain('Biscuit is no longer available');
      expect(text).not.toContain('<form');
    }
    expect(await statusOf(store, id)).toBe('unconfirmed');
  });

  test('says that this address has applied for the animal already', async () => {
    const { id: petId } = await addPet(store, partner);
    const ids = [await applyUnconfirmed(store, partner, petId), await applyUnconfirmed(store, partner, petId)];
    const pressed = [];
    for (const id of ids) pressed.push(await press(store, `${pathTo(store, id, 'confirm')}/confirm`));
    expect(pressed.map(({ status }) => status)).toEqual([303, 409]);
    expect(wordsOf(pressed[1]?.text ?? '')).toContain('You have already applied for Biscuit');
  });

  test('says that this address has too many open applications', async () => {
    const adopter = { name: 'Ada', email: 'busy@example.org' };
    for (let i = 0; i < 5; i += 1) await submit(store, partner, (await addPet(store, partner)).id, { adopter });
    const id = await applyUnconfirmed(store, partner, (await addPet(store, partner)).id, adopter);
    const { status, text } = await press(store, `${pathTo(store, id, 'confirm')}/confirm`);
    expect([status, wordsOf(text)]).toEqual([409, expect.stringContaining('Too many applications are open')]);
  });

  test('says that the list of the animal is full', async () => {
    const { id: petId } = await addPet(store, partner);
    const id = await applyUnconfirmed(store, partner, petId);
    const others = [await store.createKey(), await store.createKey()] as const;
    for (let i = 0; i < 100; i += 1) await submit(store, others[i % 2] ?? partner, petId, { adopter: adopterOf(1_000_000 + i) });
    const { status, text } = await press(store, `${pathTo(store, id, 'confirm')}/confirm`);
    expect([status, wordsOf(text)]).toEqual([409, expect.stringContaining('has many applications for Biscuit')]);
  });
});

describe('Withdrawing', () => {
  test('is asked about again, and then done once', async () => {
    const { id } = await addApplication();
    const path = pathTo(store, id);
    const asked = await visit(store, `${path}/withdraw`);
    expect([asked.status, await statusOf(store, id)]).toEqual([200, 'submitted']);
    expect(wordsOf(asked.text)).toContain('Withdraw your application for Biscuit?');
    expect((await press(store, `${path}/withdraw`)).status).toBe(303);
    expect([await statusOf(store, id), (await historyOf(id)).at(-1)]).toEqual(['withdrawn', { to: 'withdrawn', by: 'adopter' }]);
    expect((await press(store, `${path}/withdraw`)).status).toBe(303);
    expect(await historyOf(id)).toHaveLength(2);
  });

  test('of an accepted one says that the reservation ends, and releases the animal', async () => {
    const { id, petId } = await addApplication();
    await decideAll(store, manager, id, 'accept');
    expect(wordsOf((await visit(store, `${pathTo(store, id)}/withdraw`)).text)).toContain('The reservation of Biscuit ends too.');
    expect((await press(store, `${pathTo(store, id)}/withdraw`)).status).toBe(303);
    expect([await statusOf(store, id), (await readPet(store, partner, petId))?.status]).toEqual(['withdrawn', 'available']);
  });

  test.each(['decline', 'withdraw'])('is not offered after %s, and changes nothing then', async (action) => {
    const { id } = await addApplication();
    await decideAll(store, manager, id, action);
    const before = await statusOf(store, id);
    for (const { status } of [await visit(store, `${pathTo(store, id)}/withdraw`), await press(store, `${pathTo(store, id)}/withdraw`)])
      expect(status).toBe(303);
    expect(await statusOf(store, id)).toBe(before);
    expect((await visit(store, pathTo(store, id))).text).not.toContain('/withdraw"');
  });
});

/** The pages alone, with other acts. */
async function openPages(acts: Partial<PageActs>): Promise<FastifyInstance> {
  const { db, catalogue, pageTokens, config } = store.dependencies;
  const app = disposeAfterAll(Fastify());
  observeRequests(app, () => {});
  const all = { ...pageActs(db, catalogue, () => true), ...acts };
  await applicationPages(app, { acts: all, tokens: pageTokens, admit: async () => 0, config });
  return app;
}

describe('Erasing', () => {
  const erased: bigint[] = [];
  const openErasing = async () => {
    const erase = (id: bigint) => {
      erased.push(id);
      return eraseApplicant(store.dependencies, () => true, id, 'adopter');
    };
    return openPages({ erase });
  };
  const button = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } } as const;

  test('is asked about again, and afterwards the page says that it is done', async () => {
    const app = await openErasing();
    const { id } = await addApplication();
    const path = pathTo(store, id);
    const asked = wordsOf((await app.inject(`${path}/erase`)).body);
    expect(asked).toContain('Erase your data?');
    expect(asked).toContain('The application is withdrawn first');
    expect(erased).not.toContain(BigInt(id));
    expect((await app.inject({ ...button, url: `${path}/erase` })).statusCode).toBe(303);
    expect(erased).toContain(BigInt(id));
    const { body } = await app.inject(path);
    expect(wordsOf(body)).toContain('Your data has been erased');
    expect(linksOf(body, path)).toEqual([]);
  });

  test('of an application that is not confirmed deletes it, and says so', async () => {
    const app = await openErasing();
    const path = pathTo(store, await addUnconfirmed(store, partner), 'confirm');
    expect(wordsOf((await app.inject(`${path}/erase`)).body)).toContain('The application is deleted');
    const { statusCode, body } = await app.inject({ ...button, url: `${path}/erase` });
    expect([statusCode, wordsOf(body)]).toEqual([200, expect.stringContaining('The application was deleted')]);
    expect((await app.inject(path)).statusCode).toBe(404);
  });

  test('of a completed one is left to the shelter', async () => {
    const app = await openErasing();
    const { id, petId } = await addApplication();
    await decideAll(store, manager, id, 'accept');
    const [order] = await store.read<{ id: bigint }>('select id from orders where pet_id = $1', petId);
    await store.call('POST', `/v1/store/orders/${order?.id}/complete`, { key: manager.key });
    for (const request of [`${pathTo(store, id)}/erase`, { ...button, url: `${pathTo(store, id)}/erase` }])
      expect((await app.inject(request)).statusCode).toBe(303);
    expect(erased).not.toContain(BigInt(id));
  });
});

describe('A button', () => {
  test.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': '', origin: 'https://evil.example' }],
    [{ origin: 'https://evil.example' }],
  ])('pressed on another site (%o) does nothing', async (headers) => {
    const { id } = await addApplication();
    const pressed = await visit(store, `${pathTo(store, id)}/withdraw`, { method: 'POST', headers });
    expect([pressed.status, wordsOf(pressed.text)]).toEqual([403, expect.stringContaining('This request came from another website')]);
    expect(await statusOf(store, id)).toBe('submitted');
  });

  test.each([[{}], [{ origin: 'null' }], [{ 'sec-fetch-site': 'none' }]])('of a browser that says %o works', async (headers) => {
    const { id } = await addApplication();
    const pressed = await visit(store, `${pathTo(store, id)}/withdraw`, { method: 'POST', headers: { host: 'store.example', ...headers } });
    expect([pressed.status, await statusOf(store, id)]).toEqual([303, 'withdrawn']);
  });

  test('with more than a form has is 413, and does nothing', async () => {
    const { id } = await addApplication();
    const pressed = await visit(store, `${pathTo(store, id)}/withdraw`, { method: 'POST', raw: 'x'.repeat(1_025) });
    expect([pressed.status, pressed.headers['content-type']]).toEqual([413, 'text/html; charset=utf-8']);
    expect(await statusOf(store, id)).toBe('submitted');
  });
});

test.each([
  [retryLater('PostgreSQL is lost'), 503, 'This page can’t be shown at the moment'],
  [new Error('a defect'), 500, 'Something went wrong'],
])('A page that fails for %s is a page', async (error, status, words) => {
  const app = await openPages({ find: () => Promise.reject(error) });
  const { statusCode, headers, body } = await app.inject(pathTo(store, 1));
  expect([statusCode, wordsOf(body)]).toEqual([status, expect.stringContaining(words)]);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  expect(body).not.toContain('defect');
});
