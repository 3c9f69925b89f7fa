import { describe, expect, test } from 'vitest';
import { ClientsError } from '../../../src/access/clients/clients.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();

describe("a new client's name", () => {
  test.each([
    ['ESC', 'Paws\u001b[2J', 'U+001B'],
    ['a line feed', 'Paws\nClaws', 'U+000A'],
    ['a control of C1', 'Paws\u009b', 'U+009B'],
    ['an override', 'Paws\u202eswalC', 'U+202E'],
    ['an isolate', 'Paws\u2067', 'U+2067'],
    ['a lone surrogate', 'Paws\udc00', 'U+DC00'],
  ])('with %s is rejected', async (_, client, character) => {
    const rejected = new ClientsError(
      `A client's name must not contain control characters or bidirectional overrides. This one contains ${character}.`,
    );
    await expect(store.createKey({ client })).rejects.toThrow(rejected);
  });

  test('in any script, with the marks that it needs, is accepted', async () => {
    expect((await store.createKey({ client: 'מקלט (ת״א)\u200f 犬' })).id).toBeGreaterThan(0n);
  });

  test('is not checked again: an older client whose name would be rejected can get another key', async () => {
    const [name, perMinute, perDay] = ['Old\u202edlO', 5, 50];
    const insert = "insert into clients (name, plan, per_minute, per_day) values ($1, 'enterprise', $2, $3)";
    await store.asOwner(insert, name, perMinute, perDay);
    expect((await store.createKey({ client: name, plan: { perMinute, perDay } })).id).toBeGreaterThan(0n);
  });
});
