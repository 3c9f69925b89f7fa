import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { notAllowed } from '../../src/console/screens/page-error.ts';
import { mayUse } from '../../src/console/screens/screens.ts';
import { type Role, rightsOf, roles } from '../../src/domain/roles.ts';
import { addShelter } from './console-steps.ts';
import { samplePath } from './screen-samples.ts';
import { hiddenOf, openTestConsole, wordsOf } from './test-console.ts';

const site = await openTestConsole();
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');

const places = [null, shelterId] as const;
const people = roles.flatMap((role) => places.filter((place) => rightsOf(role, place)).map((place) => ({ role, place })));

test.each(people)('$role at $place gets every page that the role permits, and no other', async ({ role, place }) => {
  const visitor = await site.arrive({ role, shelterId: place });
  const rights = rightsOf(role as Role, place);
  for (const page of site.app.screens.pages) {
    const { status, text } = await visitor.get(await samplePath(site, page.path, visitor.person));
    const isPermitted = rights !== undefined && mayUse(rights, page.needs);
    expect({ path: page.path, status }).toEqual({ path: page.path, status: isPermitted ? 200 : 403 });
    expect(text).toContain('<h1');
    expect(text).not.toMatch(/ style=|<script>|<style| on[a-z]+="/);
    expect({ path: page.path, isSmall: Buffer.byteLength(text) < 60_000 }).toEqual({ path: page.path, isSmall: true });
  }
});

test.each(people)('$role at $place sends no form that the role does not permit', async ({ role, place }) => {
  const visitor = await site.arrive({ role, shelterId: place });
  const rights = rightsOf(role as Role, place);
  const routes = [...site.app.screens.forms.map((form) => ({ method: 'POST', ...form })), ...site.app.screens.others];
  const forbidden = routes.filter(({ needs }) => !rights || !mayUse(rights, needs));
  // With the token of the session: without it nobody sends a form.
  const hidden = hiddenOf((await visitor.get('/me')).text, '/me/sign-out');
  const headers = { 'sec-fetch-site': 'same-origin', 'x-form-token': hidden['_token'] ?? '' };
  for (const { method, path } of forbidden) {
    const body = method === 'POST' ? { body: new URLSearchParams(hidden) } : {};
    const { status, text } = await visitor.send(path.replaceAll(/:\w+/g, '1'), { method, headers, ...body });
    expect({ path, status, isKeptOut: text.includes(notAllowed().message) }).toEqual({ path, status: 403, isKeptOut: true });
  }
  // The least that a role may not do: an admin of the store may do everything.
  expect(forbidden.length > 0).toBe(role !== 'admin' || place !== null);
});

test('nobody who is not signed in gets a page, and each leads to signing in and back', async () => {
  const stranger = site.browser();
  for (const { path } of site.app.screens.pages) {
    const { status, location } = await stranger.get(path.replaceAll(/:\w+/g, '1'));
    expect({ path, status }).toEqual({ path, status: 303 });
    expect(location).toMatch(/^\/sign-in/);
  }
  // Each from another address: one may ask 60 times a minute.
  for (const { path } of site.app.screens.forms) expect((await site.browser().post(path.replaceAll(/:\w+/g, '1'))).status).toBe(401);
});

test('every page has headers that let it load only its own files, and that nothing stores it', async () => {
  const visitor = await site.arrive({ role: 'admin' });
  for (const path of ['/', '/sign-in', '/nowhere', '/me']) {
    const { headers } = await visitor.get(path);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('the files of a page are small, and are stored by browsers for good', async () => {
  const { text } = await site.browser().get('/sign-in');
  const files = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  const sizes = new Map<string, number>();
  for (const path of new Set(files)) {
    const file = await site.browser().get(path);
    expect(file.headers.get('cache-control')).toContain('immutable');
    sizes.set(path.split('.').at(-1) ?? '', Buffer.byteLength(file.text));
    expect(path.endsWith('.woff2') || path.includes(hash('sha256', file.text, 'hex').slice(0, 12))).toBe(true);
  }
  expect([...sizes.keys()].sort()).toEqual(['css', 'js', 'svg', 'woff2']);
  expect(sizes.get('js')).toBeLessThan(20_000);
});

test('the script of a page is sent without the lines that are only comments, and can be read', async () => {
  const [, path = ''] = /src="(\/assets\/[^"]+\.js)"/.exec((await site.browser().get('/sign-in')).text) ?? [];
  const { text } = await site.browser().get(path);
  const source = ['console', 'keys', 'photos'].map((name) => readSource(`../../src/console/frame/${name}.js`)).join('');
  const isComment = (line: string) => /^\s*(\/\/|\/\*)/.test(line);
  expect(text.split('\n')).toEqual(source.split('\n').filter((line) => !isComment(line)));
  expect(() => new Script(text)).not.toThrow();
});

const int64Ends = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 63n];
const altered = [
  'q=a%00b',
  'q=%00@x',
  'cursor=%00&state=%00',
  ...int64Ends.flatMap((end) => [
    `cursor=${end}`,
    `cursor=${end}_1`,
    `cursor=1_${end}`,
    `q=${end}`,
    `pet=${end}&added=${end}`,
    `category=${end}&shelter=${end}`,
  ]),
  ...['0_NaN_1', '1_Infinity_1', '0_1e999_9223372036854775807'].map((cursor) => `q=dog&cursor=${cursor}`),
];

test('an altered query finds nothing or what it can, and is no error', async () => {
  const visitor = await site.arrive({ role: 'admin' });
  for (const page of site.app.screens.pages) {
    const path = await samplePath(site, page.path, visitor.person);
    for (const query of altered) {
      const { status } = await visitor.get(`${path}?${query}`);
      expect({ path, query, status }).toEqual({ path, query, status: expect.not.toSatisfy((one: number) => one >= 500) });
    }
  }
});

test('a page that is not there, and an error, are said in words', async () => {
  const visitor = await site.arrive();
  const page = await visitor.get('/animals-of-yesterday');
  expect(page.status).toBe(404);
  expect(wordsOf(page.text)).toContain('There is nothing here');
  expect(page.text).toContain('aria-label="Places"');
});

const readSource = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
