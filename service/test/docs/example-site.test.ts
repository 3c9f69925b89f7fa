// The example site, started against a store and used like a visitor does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { startSite } from '../../../examples/adoption-site/start-site.ts';
import { addPet, type OrderBody, placeOrder, readPet } from '../adoption-steps.ts';
import { publishAll } from '../event-steps.ts';
import { ManualClock } from '../manual-clock.ts';
import { createTestStore, openTestStore } from '../test-store.ts';

const siteFile = fileURLToPath(new URL('../../../examples/adoption-site/site.ts', import.meta.url));
const adopter = { name: 'Ada <Lovelace>', email: 'ada@example.org' };

/** Everything that was sent to visitors. */
const sent: string[] = [];

/** Adds an animal and returns the feed position of its page. It is a placeholder until the site has received an event. */
async function addEarlyOne(): Promise<string> {
  const { id } = await addPet(store, key, { name: 'Early', categoryId: 10 });
  return asOfIn((await visit(`/animals/${id}`)).text);
}

interface Visit {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function visit(path: string, init: RequestInit = {}, at = site): Promise<Visit> {
  const response = await fetch(at.url + path, { redirect: 'manual', ...init });
  const text = await response.text();
  sent.push(JSON.stringify([...response.headers]) + text);
  return { status: response.status, headers: response.headers, text };
}

/** Sends the form of an animal's page, as a browser does. */
function sendForm(animalId: number, attempt: string, typed: Record<string, string> = adopter, from = site.url, at = site): Promise<Visit> {
  return visit(`/animals/${animalId}`, { method: 'POST', headers: { origin: from }, body: new URLSearchParams({ attempt, ...typed }) }, at);
}

async function attemptIn(animalId: number, at = site): Promise<string> {
  const { text } = await visit(`/animals/${animalId}`, {}, at);
  return /name="attempt" value="([^"]+)"/.exec(text)?.[1] ?? '';
}

const ordersOf = async (animalId: number): Promise<OrderBody[]> =>
  (await store.call<OrderBody[]>('GET', `/v1/store/orders?petId=${animalId}`, { key: key.key })).json;

const asOfIn = (text: string): string => /data-as-of="([^"]+)"/.exec(text)?.[1] ?? '';

const store = await openTestStore();
const [key, otherPartner] = [await store.createKey(), await store.createKey()];
const site = await startSite({ url: store.url, key: key.key, port: 0 });
afterAll(() => site.close());
// Adds animals until the site has connected to the feed and received an event.
const atStart = await addEarlyOne();
await vi.waitUntil(async () => (await publishAll(store).then(addEarlyOne)) !== atStart, { timeout: 20_000, interval: 50 });

/** Of the animals that are found, without those that are shown in addition. */
const namesIn = (text: string): string[] =>
  [...(/ id="animals".*?<\/ul>/s.exec(text)?.[0] ?? '').matchAll(/<h2>([^<]+)<\/h2>/g)].map(([, name = '']) => name);

describe('The list', () => {
  test('shows available animals, and filters by status and category', async () => {
    await addPet(store, key, { name: 'Bilbo & <Sam>', categoryId: 3 });
    await addPet(store, key, { name: 'Peregrin', categoryId: 3, status: 'pending' });
    await addPet(store, key, { name: 'Meriadoc', categoryId: 4, status: 'pending' });
    const waiting = await visit('/?category=3');
    expect([waiting.status, namesIn(waiting.text)]).toEqual([200, ['Bilbo &#38; &#60;Sam&#62;']]);
    expect(namesIn((await visit('/?status=pending')).text)).toEqual(['Meriadoc', 'Peregrin']);
    expect(namesIn((await visit('/?category=4&status=pending')).text)).toEqual(['Meriadoc']);
  });

  test('links to the next page and back to the first', async () => {
    for (let i = 1; i <= 25; i += 1) await addPet(store, key, { name: `Hen ${i}`, categoryId: 9 });
    const first = await visit('/?category=9');
    const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    const second = await visit(next);
    expect([namesIn(first.text).length, namesIn(second.text)]).toEqual([24, ['Hen 1']]);
    expect([/rel="next"/.test(second.text), second.text.includes('Back to the first')]).toEqual([false, true]);
  });

  test('offers every category with a name, also beyond the first page, and none without', async () => {
    await using large = await createTestStore();
    const { key: own } = await large.createKey();
    await large.write(`insert into categories (id, name) select n, 'Kind ' || n from generate_series(101, 250) n`);
    await large.write('insert into categories (id) select generate_series(-300, -1)');
    const other = await startSite({ url: large.url, key: own, port: 0 });
    try {
      const { text } = await visit('/', {}, other);
      const offered = [...text.matchAll(/category=(-?\d+)[^>]*>([^<]+)</g)].map(([, id, name]) => `${id} ${name}`);
      expect(offered).toHaveLength(160);
      expect(offered).toEqual(expect.arrayContaining(['1 Dogs', '10 Other', '101 Kind 101', '250 Kind 250']));
    } finally {
      await other.close();
    }
  });

  test('that is empty says so', async () => {
    expect((await visit('/?category=8')).text).toContain('Nobody among “Horses” needs a home right now.');
  });

  test('with an unknown filter is 404, and with an invalid cursor is the first page', async () => {
    for (const path of ['/?category=777', '/?category=dogs', '/?status=gone'])
      expect([path, (await visit(path)).status]).toEqual([path, 404]);
    const { status, headers } = await visit('/?cursor=abc');
    expect([status, headers.get('location')]).toEqual([303, '/']);
  });
});

describe("An animal's page", () => {
  test('has the form while the animal is available, and a text once it is pending or sold', async () => {
    const [waiting, pending, sold] = [
      await addPet(store, key),
      await addPet(store, key, { status: 'pending' }),
      await addPet(store, key, { status: 'sold' }),
    ];
    expect((await visit(`/animals/${waiting.id}`)).text).toContain('Ask to adopt Biscuit');
    expect((await visit(`/animals/${pending.id}`)).text).toContain('Biscuit is promised to someone.');
    const { text } = await visit(`/animals/${sold.id}`);
    expect([text.includes('Biscuit has found a home.'), text.includes('<form')]).toEqual([true, false]);
  });

  test('is 404 with a search if the animal does not exist, as is any other page', async () => {
    for (const path of ['/animals/987654', '/animals/0', '/animals/x', '/adoptions/1', '/public/../site.ts', '/nowhere']) {
      const { status, text } = await visit(path);
      const heading = /<h1>(.*?)<\/h1>/.exec(text)?.[1];
      expect([path, status, heading]).toEqual([
        path,
        404,
        path === '/animals/987654' ? 'No longer listed here' : 'There is no such page here',
      ]);
      expect([path, text.includes('role="search"')]).toEqual([path, true]);
    }
  });

  test('accepts only GET and POST', async () => {
    const { status, headers } = await visit('/animals/1', { method: 'DELETE' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });
});

describe('An adoption', () => {
  test('whose form is sent twice at once and once more is one order, with a page at an unguessable address', async () => {
    const { id } = await addPet(store, key);
    const attempt = await attemptIn(id);
    const responses = await Promise.all([sendForm(id, attempt), sendForm(id, attempt)]);
    responses.push(await sendForm(id, attempt));
    // The first request counts, whatever is typed into the same form later.
    expect((await sendForm(id, attempt, { ...adopter, name: 'Someone Else' })).status).toBe(409);
    const [order, ...others] = await ordersOf(id);
    expect([order?.adopter, others]).toEqual([adopter, []]);
    const addresses = new Set(responses.map(({ headers }) => headers.get('location') ?? ''));
    expect([responses.map(({ status }) => status), addresses.size]).toEqual([[303, 303, 303], 1]);
    const [address = ''] = addresses;
    const page = await visit(address);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page.text).toContain('Your request is with the shelter.');
    expect(page.text).toContain('Ada &#60;Lovelace&#62;');
    const forged = [`/adoptions/${order?.id}`, `${address.slice(0, -1)}_`, address.replace(/\d+-/, `${(order?.id ?? 0) + 1}-`)];
    for (const path of forged) expect([path, (await visit(path)).status]).toEqual([path, 404]);
  });

  test('of an animal that someone else has just ordered says so, and shows others of its kind', async () => {
    const { id } = await addPet(store, key, { name: 'Frodo', categoryId: 3 });
    const attempt = await attemptIn(id);
    await placeOrder(store, otherPartner, id);
    const { status, text } = await sendForm(id, attempt);
    expect(status).toBe(409);
    for (const words of ['Someone was faster', 'Frodo is promised to someone.', 'Bilbo']) expect(text).toContain(words);
    expect(await ordersOf(id)).toEqual([]);
  });

  test('with an invalid e-mail address is 400, with an error at the field and the typed values', async () => {
    const { id } = await addPet(store, key);
    const { status, text } = await sendForm(id, await attemptIn(id), { name: 'Ada "Countess"', email: 'ada' });
    expect(status).toBe(400);
    expect(text).toMatch(/id="email"[^>]* value="ada" aria-invalid="true" aria-describedby="email-help"/);
    expect(text).toContain('value="Ada &#34;Countess&#34;"');
    expect((await readPet(store, key, id))?.status).toBe('available');
  });

  test('sent from another site, or with a body that is not a small form, is rejected and places nothing', async () => {
    const { id } = await addPet(store, key);
    const attempt = await attemptIn(id);
    const crossSite = { origin: site.url, 'sec-fetch-site': 'cross-site' };
    const body = new URLSearchParams({ attempt, ...adopter });
    const rejected = [
      await sendForm(id, attempt, adopter, 'https://elsewhere.example'),
      await visit(`/animals/${id}`, { method: 'POST', headers: crossSite, body }),
      await visit(`/animals/${id}`, { method: 'POST', body }),
      await visit(`/animals/${id}`, { method: 'POST', headers: { origin: site.url }, body: JSON.stringify(adopter) }),
      await sendForm(id, attempt, { ...adopter, more: 'x'.repeat(10_000) }),
    ];
    expect(rejected.map(({ status }) => status)).toEqual([403, 403, 403, 400, 400]);
    expect((await readPet(store, key, id))?.status).toBe('available');
  });
});

describe('An open page', () => {
  /** Reads a stream until it contains a text, then closes it. */
  async function readUntil(path: string, what: RegExp, headers: Record<string, string> = {}): Promise<string> {
    const ending = new AbortController();
    const response = await fetch(site.url + path, { headers, signal: ending.signal });
    let received = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      received += decoder.decode(chunk, { stream: true });
      if (what.test(received)) break;
    }
    ending.abort();
    sent.push(received);
    return received;
  }

  test('gets an event when an animal is reserved, and so does the list', async () => {
    await addPet(store, key, { name: 'Pippin', categoryId: 6 });
    const { id } = await addPet(store, key, { name: 'Gimli', categoryId: 6 });
    const received = readUntil('/live', new RegExp(`"animal":${id},.*pending`));
    await placeOrder(store, otherPartner, id);
    await publishAll(store);
    expect(await received).toMatch(/"name":"Gimli","categoryId":6,"status":"pending","words":"Promised"/);
    await expect.poll(async () => namesIn((await visit('/?category=6')).text)).toEqual(['Pippin']);
  });

  test('gets changes since it was rendered, and after a long absence is told to reload', async () => {
    const { id } = await addPet(store, key, { name: 'Legolas', categoryId: 7 });
    const asOf = asOfIn((await visit('/?category=7')).text);
    await publishAll(store);
    const legolas = new RegExp(`"animal":${id},`);
    await readUntil(`/live?after=${asOf}`, legolas);
    expect(await readUntil(`/live?after=${asOf}`, legolas)).toMatch(/"name":"Legolas"/);
    expect(await readUntil('/live', /event: missed/, { 'last-event-id': 'long-ago' })).toContain('event: missed');
  });
});

describe('A site whose store is unreachable, or has a small limit', () => {
  test('serves a hundred visitors from its cache, and reserves its last requests for adoptions', async () => {
    // A clock that stands still, so that no window ends meanwhile.
    await using still = await createTestStore({ clock: new ManualClock(new Date(Date.now() + 3_600_000).toISOString()) });
    const owner = await still.createKey();
    for (let i = 0; i < 10; i += 1) await addPet(still, owner);
    const { key: smallKey } = await still.createKey({ plan: { perMinute: 12, perDay: 100 } });
    const small = await startSite({ url: still.url, key: smallKey, port: 0 });
    try {
      const crowd = await Promise.all(Array.from({ length: 100 }, () => visit('/', {}, small)));
      expect(crowd.filter(({ status }) => status !== 200)).toEqual([]);
      const statuses: number[] = [];
      for (let id = 1; id <= 10; id += 1) statuses.push((await visit(`/animals/${id}`, {}, small)).status);
      expect([statuses[0], statuses.at(-1)]).toEqual([200, 503]);
      expect([(await visit('/', {}, small)).status, (await visit('/animals/1', {}, small)).status]).toEqual([200, 200]);
      const { status, headers } = await sendForm(10, crypto.randomUUID(), adopter, small.url, small);
      expect([status, headers.get('location')]).toEqual([303, expect.stringMatching('^/adoptions/1-')]);
    } finally {
      await small.close();
    }
  });

  test('continues with its cache, is 503 with a text elsewhere, and offers the same form again', async () => {
    await using resources = new AsyncDisposableStack();
    const lost = resources.use(await createTestStore());
    const lostKey = await lost.createKey();
    const { id } = await addPet(lost, lostKey);
    const alone = resources.adopt(await startSite({ url: lost.url, key: lostKey.key, port: 0 }), (one) => one.close());
    const [before, attempt] = [await visit('/', {}, alone), await attemptIn(id, alone)];
    await lost[Symbol.asyncDispose]();
    const [list, animal, other, response] = await Promise.all([
      visit('/', {}, alone),
      visit(`/animals/${id}`, {}, alone),
      visit('/?status=sold', {}, alone),
      sendForm(id, attempt, adopter, alone.url, alone),
    ]);
    expect([list.text === before.text, animal.status]).toEqual([true, 200]);
    expect([other.status, other.headers.get('retry-after'), namesIn(other.text)]).toEqual([503, '10', []]);
    expect(other.text).toContain('One moment, please');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    for (const words of ['it counts only once', `value="${attempt}"`, 'value="ada@example.org"']) expect(response.text).toContain(words);
  });
});

test('site.ts starts with settings from the environment, and SIGTERM stops it and closes its streams', async () => {
  const env = { ...process.env, HOMEWARD_URL: store.url, HOMEWARD_KEY: key.key, PORT: '0' };
  const child = spawn(process.execPath, [siteFile], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = await once(child.stdout, 'data');
  const stream = await fetch(`${/http:\S+/.exec(String(line))?.[0]}/live`);
  child.kill('SIGTERM');
  expect(await stream.text()).toContain('retry: 3000');
  expect(await ended).toEqual([0, null]);
});

test('nothing that was sent to a visitor contains the key', () => {
  expect(sent.length).toBeGreaterThan(40);
  expect(sent.filter((text) => text.includes(key.key) || text.includes('hw_'))).toEqual([]);
});
