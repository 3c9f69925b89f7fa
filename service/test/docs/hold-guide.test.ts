// The guide to holds and outcomes names every reason and type, and says of undoing what the program does.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { holdReasons } from '../../src/domain/holds.ts';
import { outcomeTypes, outcomeUndoing } from '../../src/domain/outcomes.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { createTestStore } from '../test-store.ts';

const guide = readFileSync(new URL('../../../docs/guides/holds.md', import.meta.url), 'utf8');

test('docs/guides/holds.md has a row for every reason of a hold, and every type of an outcome that means something', () => {
  const [, table = ''] = /\n## Which one\n(.*?)\n## /s.exec(guide) ?? [];
  const named = [...table.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  const meant = (all: readonly string[]) => all.filter((one) => one !== 'other');
  expect(named).toEqual([...meant(holdReasons), ...meant(outcomeTypes)]);
});

test('an outcome that is undone leaves the animal pending, without the hold that it had, as the guide says', async () => {
  expect(guide).toContain(`For ${outcomeUndoing.days} days an outcome can be undone: the animal comes back as ${outcomeUndoing.to},`);
  expect(guide).toContain('A hold that it had does not come back');
  await using store = await createTestStore();
  const manager = await createManager(store);
  const { id } = await addPet(store, manager);
  const call = (method: string, path: string, body?: object) =>
    store.call<{ status: string }>(method, `/v1/pets/${id}${path}`, { key: manager.key, ...(body && { body }) });
  expect((await call('PUT', '/hold', { reason: 'medical' })).status).toBe(200);
  expect((await call('POST', '/outcome', { type: 'escaped' })).status).toBe(201);
  expect((await call('DELETE', '/outcome')).json.status).toBe('pending');
  expect((await call('GET', '/hold')).status).toBe(404);
});
