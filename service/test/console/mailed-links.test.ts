// Who asks for links to sign in with somebody's address must not keep that person out.
import { expect, test } from 'vitest';
import { startMailServer } from '../../../testkit/mail-server.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const server = disposeAfterAll(await startMailServer());
const site = await openTestConsole({
  env: {
    HOMEWARD_SMTP_URL: server.url,
    HOMEWARD_MAIL_FROM: 'no-reply@store.example',
    HOMEWARD_PUBLIC_URL: 'https://store.example',
  },
});
const { store } = site;
const ask = (browser: TestBrowser, email: string) => browser.post('/sign-in/mail', { email });
const queuedFor = async (personId: bigint) => {
  await expect
    .poll(async () => (await store.read('select from mail where subject_id = $1', personId)).length, { timeout: 10_000 })
    .toBeGreaterThan(0);
  return (await store.read('select from mail where subject_id = $1', personId)).length;
};

test('who has asked three times keeps nobody out: the page says when the next link may go, and a known device gets one at once', async () => {
  const { person } = await site.arrive();
  const own = await site.enter(person);
  await own.get('/me');
  own.cookies.delete('session');
  const stranger = site.browser();
  const pages = [];
  for (let times = 0; times < 3; times += 1) pages.push(await ask(stranger, person.email));
  expect(pages.map(({ status }) => status)).toEqual([200, 429, 429]);
  expect(wordsOf(pages[0]?.text ?? '')).toMatch(/The next link can go in 60 s\./);
  expect(wordsOf(pages[2]?.text ?? '')).toMatch(/The next one to this address can go in (?:[1-5]?\d|60) s ?\./);
  expect(Number(pages[2]?.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  expect(await queuedFor(person.id)).toBe(1);
  expect((await ask(own, person.email)).status).toBe(200);
  await expect
    .poll(async () => (await store.read('select from mail where subject_id = $1', person.id)).length, { timeout: 10_000 })
    .toBe(2);
});

test('an address that nobody has gets the same pages as one of somebody who works here', async () => {
  const { person } = await site.arrive();
  const pagesOf = async (email: string) => {
    const browser = site.browser();
    const found = [await ask(browser, email), await ask(browser, email), await ask(site.browser(), email)];
    return found.map(({ status, text }) => `${status} ${wordsOf(text).replaceAll(/in \d+ s/g, 'in N s')}`);
  };
  expect(await pagesOf('nobody-here@example.org')).toEqual(await pagesOf(person.email));
});

test('the cookie of a device signs nobody in, and counts for no other address', async () => {
  const [ada, bea] = [await site.arrive(), await site.arrive()];
  await ada.get('/me');
  ada.cookies.delete('session');
  expect(ada.cookies.has('device')).toBe(true);
  expect((await ada.get('/me')).location).toMatch(/^\/sign-in/);
  expect((await ask(site.browser(), bea.person.email)).status).toBe(200);
  expect((await ask(ada, bea.person.email)).status).toBe(429);
});

test('the other links to sign in end when one is used, and when all sessions are ended', async () => {
  const { person } = await site.arrive();
  const links = [await site.link('sign_in', person), await site.link('sign_in', person), await site.link('sign_in', person)];
  const browser = site.browser();
  expect((await browser.post(links[1] ?? '')).status).toBe(303);
  for (const link of links) expect((await site.browser().post(link)).status).toBe(403);
  const later = await site.link('sign_in', person);
  await ask(site.browser(), person.email);
  await queuedFor(person.id);
  await browser.submit('/me', '/me/sessions/end');
  expect((await site.browser().post(later)).status).toBe(403);
  expect(await store.read(`select from mail where subject_id = $1 and state = 'queued'`, person.id)).toEqual([]);
});

test('no page whose address has a token tells it to what the page loads, and its form still has an origin', async () => {
  const { person } = await site.arrive();
  const token = 'A'.repeat(43);
  const paths = [
    await site.link('sign_in', person),
    await site.invite({ email: 'new@example.org' }),
    `/link/${token}`,
    `/invitation/${token}`,
    `/link/new-role/${token}`,
  ];
  for (const path of paths) {
    const { headers } = await site.browser().get(path);
    expect([path, headers.get('referrer-policy')]).toEqual([path, 'strict-origin']);
  }
  expect((await site.browser().get('/sign-in')).headers.get('referrer-policy')).toBe('same-origin');
});
