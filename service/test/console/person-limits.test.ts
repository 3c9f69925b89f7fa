import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startRedis } from '../../../testkit/servers.ts';
import { charge } from '../../src/access/rate-limit/limiter.ts';
import { openLimiter } from '../../src/dependencies.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { ManualClock } from '../manual-clock.ts';
import { Staff } from './adoption-site.ts';
import { addAnimal, addShelter } from './console-steps.ts';
import { type Answer, hiddenOf, openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const clock = new ManualClock('2026-12-01T12:00:20Z');
const redis = disposeAfterAll(await startRedis());
const site = await openTestConsole({ clock, env: { REDIS_URL: redis.url } });
const another = await openTestConsole({ clock, env: { REDIS_URL: redis.url, DATABASE_URL: site.store.databaseUrl } });
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
beforeEach(() => clock.set(new Date(Math.ceil(clock.now() / 60_000) * 60_000 + 20_000).toISOString()));

let isKilled = false;
const bothAre = (up: boolean) => () => [site, another].every(({ store }) => store.dependencies.redis.up === up);
afterEach(async () => {
  if (isKilled) await redis.start();
  isKilled = false;
  await vi.waitUntil(bothAre(true));
});

const countAnimals = async (name: string): Promise<number> => {
  const [row] = await site.store.read<{ count: bigint }>('select count(*) from pets where name = $1', name);
  return Number(row?.count);
};

/** Each is a form of its own, as a script sends it that has read the page once. */
async function formsOf(browser: TestBrowser, name: string): Promise<() => Promise<Answer>> {
  const hidden = hiddenOf((await browser.open('/animals')).text, '/animals/add');
  return () => browser.post('/animals/add', { ...hidden, _form: randomBytes(16).toString('base64url'), name, categoryId: '1' });
}

const many = async (count: number, one: () => Promise<Answer>, atOnceMax = 6): Promise<Answer[]> => {
  const answers: Answer[] = [];
  for (let sent = 0; sent < count; sent += atOnceMax)
    answers.push(...(await Promise.all(Array.from({ length: Math.min(atOnceMax, count - sent) }, () => one()))));
  return answers;
};
const countOf = (answers: readonly Answer[], status: number) => answers.filter((answer) => answer.status === status).length;

test('of 600 animals that a volunteer sends at once, 60 are added in this minute, and 60 in the next', async () => {
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  const add = await formsOf(volunteer, 'Biscuit of 600');
  const answers = await many(600, add);
  expect([countOf(answers, 303), countOf(answers, 429)]).toEqual([60, 540]);
  expect(await countAnimals('Biscuit of 600')).toBe(60);
  expect(new Set(answers.filter(({ status }) => status === 429).map(({ headers }) => headers.get('retry-after')))).toEqual(new Set(['40']));
  clock.advance(40_000);
  expect(countOf(await many(100, add), 303)).toBe(60);
  expect(await countAnimals('Biscuit of 600')).toBe(120);
});

test('two consoles and several sessions of a person share the 60', async () => {
  const here = await site.arrive({ role: 'volunteer', shelterId });
  const browsers = [here, await another.enter(here.person), await another.enter(here.person), await site.enter(here.person)];
  const forms = await Promise.all(browsers.map((browser) => formsOf(browser, 'Biscuit of two')));
  const answers = (await Promise.all(forms.map((add) => many(50, add, 2)))).flat();
  expect(countOf(answers, 303)).toBe(60);
  expect(await countAnimals('Biscuit of two')).toBe(60);
  const colleague = await another.arrive({ role: 'volunteer', shelterId });
  expect((await (await formsOf(colleague, 'Biscuit of a colleague'))()).status).toBe(303);
});

test('a person opens 240 pages a minute, of all kinds, and what is beyond costs no query', async () => {
  const person = await site.arrive({ role: 'volunteer', shelterId });
  const elsewhere = await another.enter(person.person);
  const paths = ['/me', '/animals', '/nowhere', '/people'];
  const answers: Answer[] = [];
  for (let i = 0; i < 240; i += 1) answers.push(await (i % 2 ? person : elsewhere).get(paths[i % 4] ?? '/'));
  expect(countOf(answers, 429)).toBe(0);
  expect((await person.get('/me')).status).toBe(429);
  const statements: string[] = [];
  let isWatching = true;
  site.store.dependencies.db.watchStatements(({ name, text }) => {
    if (isWatching) statements.push(name ?? text);
    return undefined;
  });
  onTestFinished(() => {
    isWatching = false;
  });
  const { status, headers, text } = await person.get('/me');
  expect([status, headers.get('retry-after')]).toEqual([429, '40']);
  expect(wordsOf(text)).toContain('You have opened 240 pages within this minute, as many as a person can. Go on in 40 seconds.');
  expect(statements).not.toContain('session');
  clock.advance(40_000);
  expect((await person.get('/me')).status).toBe(200);
});

test('beyond 60 forms, the page shows what was typed, and says when to go on', async () => {
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  await many(60, await formsOf(volunteer, 'Biscuit before'));
  const name = 'Ludmilla <the "Great">';
  const hidden = hiddenOf((await volunteer.open('/animals')).text, '/animals/add');
  const rejected = await volunteer.post('/animals/add', { ...hidden, name, categoryId: '2' });
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '40']);
  expect(wordsOf(rejected.text)).toContain(
    'You have sent 60 forms and photos within this minute, as many as a person can. Go on in 40 seconds. Nothing was changed, and what you typed is still here.',
  );
  expect(rejected.text).toContain('value="Ludmilla &#60;the &#34;Great&#34;&#62;"');
  expect(await countAnimals(name)).toBe(0);
  clock.advance(40_000);
  const again = hiddenOf(rejected.text, '/animals/add');
  expect((await volunteer.post('/animals/add', { ...again, name, categoryId: '2' })).status).toBe(303);
  expect(await countAnimals(name)).toBe(1);
});

test('a form of who has no requests left is kept in a page that sends it again, 60 times', async () => {
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  const hidden = hiddenOf((await volunteer.open('/animals')).text, '/animals/add');
  await many(240, () => volunteer.get('/me'));
  const values = { ...hidden, name: 'Ludmilla "II"', categoryId: '2' };
  const rejected = await volunteer.post('/animals/add', values);
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '40']);
  expect(wordsOf(rejected.text)).toContain('What you have typed is kept in this page.');
  const kept = hiddenOf(rejected.text, '/animals/add');
  expect(kept).toEqual(values);
  const answers = await many(70, () => volunteer.post('/animals/add', values));
  expect(answers.filter(({ text }) => text.includes('name="categoryId"'))).toHaveLength(59);
  expect(countOf(answers, 429)).toBe(70);
  // Of another site, nothing is repeated.
  const foreign = await volunteer.post('/animals/add', values, { headers: { 'sec-fetch-site': 'cross-site' } });
  expect(foreign.text).not.toContain('Ludmilla');
  clock.advance(40_000);
  expect((await volunteer.post('/animals/add', kept)).status).toBe(303);
  expect(await countAnimals('Ludmilla "II"')).toBe(1);
});

test('scripts get the same as JSON', async () => {
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  const petId = await addAnimal(site, { shelterId });
  const upload = () =>
    volunteer.send(`/animals/${petId}/photos/file`, {
      method: 'POST',
      body: new Blob(['no photo'], { type: 'image/jpeg' }),
      headers: { 'sec-fetch-site': 'same-origin', accept: 'application/json', 'x-form-token': 'none' },
    });
  expect(countOf(await many(60, upload), 429)).toBe(0);
  const rejected = await upload();
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '40']);
  expect(JSON.parse(rejected.text)).toEqual({
    message: 'You have sent 60 forms and photos within this minute, as many as a person can. Go on in 40 seconds.',
  });
  await many(180, () => volunteer.get('/me'));
  expect(JSON.parse((await upload()).text).message).toContain('You have opened 240 pages');
});

test('a person sends 5,000 forms a day', async () => {
  clock.set('2026-12-02T00:00:20Z');
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  const limiter = openLimiter(site.store.dependencies);
  for (let acts = 0; acts < 5_000; acts += 1) {
    if (acts > 0 && acts % 60 === 0) clock.advance(60_000);
    expect((await charge(limiter, { personId: volunteer.person.id, purpose: 'acts' })).outcome).toBe('admitted');
  }
  clock.advance(60_000);
  const rejected = await (await formsOf(volunteer, 'Biscuit of a day'))();
  expect(rejected.status).toBe(429);
  expect(wordsOf(rejected.text)).toContain('You have sent 5,000 forms and photos today, as many as a person can. Go on in 23 hours.');
  clock.set('2026-12-03T00:00:20Z');
  expect((await (await formsOf(volunteer, 'Biscuit of a day'))()).status).toBe(303);
});

test('who has used up everything can still end sessions, also from the page that says so', async () => {
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  const stolen = await site.enter(volunteer.person);
  const add = await formsOf(stolen, 'Biscuit of a thief');
  await many(300, add);
  const page = await volunteer.get('/me');
  expect(page.status).toBe(429);
  const ended = await volunteer.post('/me/sessions/end', hiddenOf(page.text, '/me/sessions/end'));
  expect([ended.status, ended.location]).toEqual([303, '/sign-in']);
  clock.advance(60_000);
  expect((await stolen.get('/me')).location).toContain('/sign-in');
});

test('who has used up everything reads no page by a form that ends something, and still removes people', async () => {
  const admin = await site.arrive({ role: 'admin', shelterId });
  const colleague = await site.arrive({ role: 'staff', shelterId, name: 'Berta' });
  const staff = new Staff(site, admin.person);
  const { id } = await staff.apply((await staff.addPet()).id, { name: 'Ada Lovelace' });
  const removal = `/people/${colleague.person.id}/remove`;
  const hidden = hiddenOf((await admin.open(`/people/${colleague.person.id}`)).text, removal);
  await many(240, () => admin.get('/me'));
  for (const path of [removal, '/me/sign-out', '/me/passkeys/1/remove']) {
    const { status, text } = await admin.post(path, { ...hidden, _token: 'wrong' });
    expect(status).toBe(403);
    expect(wordsOf(text)).toContain('Nothing was changed You have signed in again since this page was opened.');
    expect(text).not.toMatch(/Berta|person-\d+@|Passkeys/);
  }
  // It may mail the adopter, and is an act like others.
  for (const _token of ['wrong', hidden['_token'] ?? '']) {
    const { status, text } = await admin.post(`/applications/${id}/end-link`, { ...hidden, _token, mails: 'true' });
    expect(status).toBe(429);
    expect(text).not.toContain('Ada Lovelace');
  }
  expect((await admin.post(removal, hidden)).status).toBe(303);
  expect((await colleague.get('/me')).location).toContain('/sign-in');
});

test('who is not signed in takes nothing from those who sign out at the same address', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.78' };
  const volunteer = await site.arrive({ role: 'volunteer', shelterId });
  const hidden = hiddenOf((await volunteer.get('/me')).text, '/me/sign-out');
  const stranger = site.browser();
  const answers = await many(70, () => stranger.post('/me/sign-out', {}, { headers }));
  expect([countOf(answers, 401), countOf(answers, 429)]).toEqual([60, 10]);
  expect((await volunteer.post('/me/sign-out', hidden, { headers })).status).toBe(303);
});

test('without Redis each console counts by itself, from what it has seen', async () => {
  const here = await site.arrive({ role: 'volunteer', shelterId });
  const there = await another.enter(here.person);
  const [addHere, addThere] = [await formsOf(here, 'Biscuit alone'), await formsOf(there, 'Biscuit alone')];
  await many(20, addHere);
  isKilled = true;
  await redis.signal('SIGKILL');
  await vi.waitUntil(bothAre(false));
  expect(countOf(await many(60, addHere), 303)).toBe(40);
  expect(countOf(await many(70, addThere), 303)).toBe(60);
});

test('wrong keys of an address take nothing from signing in, and nothing from the pages of adopters', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.77' };
  const wrongKey = () => site.store.call('GET', '/v1/pets', { key: 'wrong', headers });
  const statuses = [];
  for (let i = 0; i < 70; i += 1) statuses.push((await wrongKey()).status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  const stranger = site.browser();
  expect((await stranger.get('/sign-in', { headers })).status).toBe(200);
  expect((await site.store.call('GET', '/a/nothing', { headers })).status).toBe(404);
  expect(countOf(await many(70, () => stranger.get('/sign-in', { headers })), 429)).toBe(11);
  expect((await site.store.call('GET', '/a/nothing', { headers })).status).toBe(404);
});
