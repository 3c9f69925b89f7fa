import { expect, test } from 'vitest';
import { addPet, createManager } from '../adoption-steps.ts';
import { decideAll, submit } from '../application-steps.ts';
import { openTestStore } from '../test-store.ts';
import { addUnconfirmed, manyAddresses, pathTo, press, visit, wordsOf } from './page-steps.ts';

const store = await openTestStore({ env: { ...manyAddresses, HOMEWARD_SITE_URL: 'https://adopt.example/' } });
const [partner, manager] = [await store.createKey(), await createManager(store)];
const questions = [
  { id: 'home', text: 'Where do you live?', type: 'text', required: false },
  { id: 'garden', text: 'Do you have a garden?', type: 'yes_no', required: false },
];
await store.call('PUT', '/v1/shelters/1/questions', { key: manager.key, body: { questions } });

const email = 'Ada+pets@Example.org';
const hostile = '<script>alert(1)</script>\nby the river';
const applied = async (answers: object = { home: hostile, garden: true }) =>
  (await submit(store, partner, (await addPet(store, partner)).id, { adopter: { name: 'Ada', email }, answers })).id;

const send = (path: string, address: string) =>
  visit(store, path, {
    method: 'POST',
    raw: new URLSearchParams({ email: address }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', origin: 'null' },
  });

test('The answers are shown to who knows the e-mail address, and nothing of them to others who have the link', async () => {
  const id = await applied();
  const path = pathTo(store, id);
  const status = await visit(store, path);
  expect(status.text).toContain('/answers">What I have answered</a>');
  expect(status.text).not.toMatch(/river|Ada|example\.org"/);
  const asked = await visit(store, `${path}/answers`);
  expect([asked.status, wordsOf(asked.text)]).toEqual([200, expect.stringContaining('Your e-mail address')]);
  expect(asked.text).not.toMatch(/river|garden\?/);
  for (const wrong of ['bob@example.org', '', 'ada@example.org@x', '%']) {
    const rejected = await send(`${path}/answers`, wrong);
    expect([rejected.status, wordsOf(rejected.text)]).toEqual([422, expect.stringContaining('was not sent with that address')]);
    expect(rejected.text).not.toContain('river');
  }
  const shown = await send(`${path}/answers`, ' ada@example.ORG ');
  expect(shown.status).toBe(200);
  expect(wordsOf(shown.text)).toContain('Where do you live? <script>alert(1)</script> by the river Do you have a garden? Yes');
  expect(shown.text).not.toContain('<script>');
  expect(shown.headers['cache-control']).toBe('no-store');
});

test('The answers are gone with the data, and none are offered where none were given or nothing is confirmed', async () => {
  const id = await applied();
  const path = pathTo(store, id);
  expect((await press(store, `${path}/erase`)).status).toBe(303);
  expect((await visit(store, path)).text).not.toContain('/answers"');
  expect((await send(`${path}/answers`, email)).status).toBe(303);
  expect((await visit(store, pathTo(store, await applied({})))).text).not.toContain('/answers"');
  const unconfirmed = pathTo(store, await addUnconfirmed(store, partner), 'confirm');
  expect((await visit(store, `${unconfirmed}/answers`)).status).toBe(303);
});

test('The page leads back to the site, and the address of the shelter to a map', async () => {
  await store.asOwner(`update shelters set address = E'Handelskai 1\\n1020 "Vienna"'`);
  const id = await applied();
  await decideAll(store, manager, id, 'decline');
  const { text } = await visit(store, pathTo(store, id));
  expect(text).toContain('<a class="button quiet" href="https://adopt.example/" rel="noreferrer">See other animals</a>');
  expect(text).toContain('href="https://www.openstreetmap.org/search?query=Handelskai+1+1020+%22Vienna%22" rel="noreferrer"');
});
