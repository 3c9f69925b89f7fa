import { describe, expect, test } from 'vitest';
import { addPet, createManager } from '../adoption-steps.ts';
import { type ApplicationBody, decideAll, submit } from '../application-steps.ts';
import { openTestStore } from '../test-store.ts';
import { addUnconfirmed, linksOf, manyAddresses, pathTo, visit, wordsOf } from './page-steps.ts';

const store = await openTestStore({ env: manyAddresses });
const [partner, manager] = [await store.createKey(), await createManager(store)];
await store.asOwner(`update shelters set name = 'Danube Shelter', email = 'hello@danube.example', phone = '+43 1 555 01 23',
  address = 'Handelskai 1, Vienna', website = 'https://danube.example/', timezone = 'Europe/Vienna'`);

const read = async (id: number | bigint) => {
  const response = await visit(store, pathTo(store, id));
  return { ...response, words: wordsOf(response.text) };
};

/** Sends an application for another animal and performs actions on it. */
async function applied(...actions: string[]): Promise<ApplicationBody> {
  const application = await submit(store, partner, (await addPet(store, partner)).id);
  await decideAll(store, manager, application.id, ...actions);
  return application;
}

async function closed(reason: string): Promise<ApplicationBody> {
  const application = await applied();
  await store.asOwner(`update applications set status = 'closed', closed_reason = '${reason}' where id = ${application.id}`);
  return application;
}

describe('The page of an application', () => {
  test('that is not confirmed asks to open the e-mail, and has no button to confirm', async () => {
    const { status, text, words } = await read(await addUnconfirmed(store, partner));
    expect([status, words]).toEqual([200, expect.stringContaining('Please confirm your e-mail address')]);
    expect(text).not.toContain('<form');
  });

  test.each([
    ['submitted', [], 'Danube Shelter has your application'],
    ['reviewing', ['review'], 'Danube Shelter is considering your application'],
    ['accepted', ['accept'], 'Danube Shelter would like you to adopt Biscuit'],
    ['declined', ['decline'], 'Danube Shelter has declined your application'],
    ['withdrawn', ['withdraw'], 'This application was withdrawn'],
  ])('that is %s says so', async (_, actions, headline) => {
    const { id } = await applied(...actions);
    const { status, words } = await read(id);
    expect([status, words]).toEqual([200, expect.stringContaining(headline)]);
    expect(words).toContain('What comes next');
  });

  test('that is completed says whom to ask for erasure, and has no button for it', async () => {
    const { id, petId } = await applied('accept');
    const [order] = await store.read<{ id: bigint }>('select id from orders where pet_id = $1', petId);
    expect((await store.call('POST', `/v1/store/orders/${order?.id}/complete`, { key: manager.key })).status).toBe(200);
    const { text, words } = await read(id);
    expect(words).toContain('You have adopted Biscuit');
    expect(words).toContain('If you want them to be erased, contact Danube Shelter');
    expect(linksOf(text, pathTo(store, id))).toEqual([]);
  });

  test.each([
    ['adopted', 'Somebody else has adopted Biscuit'],
    ['unavailable', 'Biscuit is no longer up for adoption'],
    ['cancelled', 'The adoption was called off'],
    ['unanswered', 'Your application was not answered'],
  ])('that was closed as %s has the words of that reason', async (reason, sentence) => {
    expect((await read((await closed(reason)).id)).words).toContain(sentence);
  });

  test('shows what staff wrote when they declined it', async () => {
    const { id } = await applied();
    const body = { message: 'Biscuit needs a home\nwithout <cats>.' };
    await store.call('POST', `/v1/applications/${id}/decline`, { key: manager.key, body });
    const { text, words } = await read(id);
    expect(words).toContain('Danube Shelter writes Biscuit needs a home without <cats>.');
    expect(text).not.toContain('<cats>');
  });

  test('shows how to reach the shelter', async () => {
    const { text } = await read((await applied()).id);
    for (const part of [
      '<a href="mailto:hello@danube.example">',
      '<a href="tel:+431555' + '0123">',
      'Handelskai 1, Vienna',
      '<a href="https://danube.example/" rel="noreferrer">',
    ])
      expect(text).toContain(part);
  });

  test("has times in the shelter's zone, and names it; without one in UTC", async () => {
    const { id } = await applied();
    await store.asOwner(
      `update applications set created_at = '2026-07-01T22:30:00Z', updated_at = '2026-12-01T23:30:00Z' where id = ${id}`,
    );
    const { text, words } = await read(id);
    expect(words).toMatch(/2 July 2026 at 00:30 CEST .* 2 December 2026 at 00:30 CET/);
    expect(text).toContain('<time datetime="2026-07-01T22:30:00.000Z">');
    for (const zone of ['null', "'Mars/Olympus'"]) {
      await store.asOwner(`update shelters set timezone = ${zone}`);
      expect((await read(id)).words).toContain('1 July 2026 at 22:30 UTC');
    }
    await store.asOwner(`update shelters set timezone = 'Europe/Vienna'`);
  });

  test('has nothing of the adopter, of other applications and of notes', async () => {
    const { id } = await applied();
    await store.call('PATCH', `/v1/applications/${id}`, { key: manager.key, body: { note: 'A secret garden.' } });
    const { words } = await read(id);
    expect(words).not.toMatch(/Lovelace|ada\.|garden/);
  });

  test('has a language and a direction, and isolates names', async () => {
    const { text } = await read((await applied()).id);
    expect(text).toContain('<html lang="en" dir="ltr">');
    expect(text).toContain('<h1>Your application for <bdi>Biscuit</bdi></h1>');
  });

  test('has only links that lead to pages', async () => {
    const { id } = await applied();
    const path = pathTo(store, id);
    const links = linksOf((await read(id)).text, path);
    expect(links).toEqual([`${path}/withdraw`, `${path}/erase`]);
    for (const link of links) {
      const page = await visit(store, link);
      expect(page.status).toBe(200);
      expect(linksOf(page.text, link)).toEqual([path]);
    }
  });
});

describe('A page', () => {
  const pages = async () => {
    const [{ id }, unconfirmed] = [await applied(), await addUnconfirmed(store, partner)];
    return [
      pathTo(store, id),
      `${pathTo(store, id)}/withdraw`,
      `${pathTo(store, id)}/erase`,
      pathTo(store, unconfirmed, 'confirm'),
      '/a/x',
    ];
  };

  test('is not stored, not indexed, not framed, and sends no Referer', async () => {
    for (const path of await pages())
      expect((await visit(store, path)).headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex, nofollow',
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
        ),
      });
  });

  test('loads nothing and runs nothing', async () => {
    for (const path of await pages()) expect((await visit(store, path)).text).not.toMatch(/<script|<link|<iframe|\son\w+=|@import|url\(/i);
  });

  test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'POST'])('is 405 for %s, as a page', async (method) => {
    const { status, headers } = await visit(store, pathTo(store, (await applied()).id), { method });
    expect([status, headers['allow'], headers['content-type']]).toEqual([405, 'GET, HEAD', 'text/html; charset=utf-8']);
  });

  test('is the same 404 for an unknown id, an invalid token and an unknown path', async () => {
    const texts = new Set<string>();
    const path = pathTo(store, (await applied()).id);
    for (const wrong of [
      pathTo(store, 4_711_000n),
      `${path}0`,
      `${path}/`,
      `${path}/approve`,
      '/a',
      '/a/',
      '/a/x/y',
      `/a/%30${path.slice(4)}`,
    ]) {
      const { status, text } = await visit(store, wrong);
      expect([wrong, status]).toEqual([wrong, 404]);
      texts.add(text);
    }
    expect(texts.size).toBe(1);
  });

  test('of HEAD has the headers of GET', async () => {
    const path = pathTo(store, (await applied()).id);
    const [get, head] = [await visit(store, path), await visit(store, path, { method: 'HEAD' })];
    const compared = ['content-type', 'content-length', 'cache-control', 'content-security-policy'];
    expect(compared.map((name) => head.headers[name])).toEqual(compared.map((name) => get.headers[name]));
    expect(head.text).toBe('');
  });
});
