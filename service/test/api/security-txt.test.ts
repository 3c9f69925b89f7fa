import { describe, expect, test } from 'vitest';
import { ManualClock } from '../manual-clock.ts';
import { createTestStore, openTestStore } from '../test-store.ts';

const path = '/.well-known/security.txt';
const clock = new ManualClock('2026-11-15T10:00:00Z');

const store = await openTestStore({ clock, env: { HOMEWARD_SECURITY_CONTACT: 'mailto:security@example.org' } });
describe('GET /.well-known/security.txt of a store with a contact', () => {
  test('has the contact and an expiry date, without a key and without a limit', async () => {
    const { status, headers, text } = await store.call('GET', path);
    expect({ status, text }).toEqual({
      status: 200,
      text: 'Contact: mailto:security@example.org\nExpires: 2027-05-14T00:00:00Z\nPreferred-Languages: en\n',
    });
    expect(headers).toMatchObject({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=3600' });
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });

  test('is the same all day, and expires later the next day', async () => {
    const expiry = async () => /^Expires: (.+)$/m.exec((await store.call('GET', path)).text)?.[1];
    const seen: unknown[] = [];
    for (const at of ['2026-11-15T00:00:00.000Z', '2026-11-15T23:59:59.999Z', '2026-11-16T00:00:00.000Z']) {
      clock.set(at);
      seen.push(await expiry());
    }
    expect(seen).toEqual(['2027-05-14T00:00:00Z', '2027-05-14T00:00:00Z', '2027-05-15T00:00:00Z']);
  });
});

test('GET /.well-known/security.txt of a store without a contact is 404 and names the variable to set', async () => {
  await using store = await createTestStore();
  const { status, headers, text } = await store.call('GET', path);
  expect({ status, text }).toEqual({
    status: 404,
    text: 'This store has no security contact. Its operator can set HOMEWARD_SECURITY_CONTACT.\n',
  });
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
});
