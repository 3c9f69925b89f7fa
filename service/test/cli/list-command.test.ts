import { expect, test } from 'vitest';
import { addPet, createManager } from '../adoption-steps.ts';
import { openTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';

const store = await openTestStore();
const { env } = store;
const manager = await createManager(store);
for (const client of ['First', 'Second one']) await homeward(['keys', 'create', '--client', client, '--plan', 'free'], { env });
for (const name of ['Biscuit', 'Clover']) await addPet(store, manager, { name });

test.each(['clients', 'keys', 'pets'])('%s list --limit shows so many, and says how to go on', async (group) => {
  const all = await homewardJson<Array<{ id: number }>>([group, 'list'], env);
  expect(all.length).toBeGreaterThan(1);
  const { stdout } = await homeward([group, 'list', '--limit', '1'], { env });
  const [head, ...lines] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^id /);
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^${all[0]?.id} `)),
    '',
    `More follow: homeward ${group} list --after ${all[0]?.id}`,
  ]);
  expect(await homewardJson([group, 'list', '--after', String(all[0]?.id)], env)).toEqual(all.slice(1));
});

test('a list repeats its filters where it says how to go on, as words of a shell', async () => {
  await homeward(['keys', 'create', '--client', 'Second one'], { env });
  const { stdout } = await homeward(['keys', 'list', '--client', 'Second one', '--limit', '1'], { env });
  expect(stdout).toMatch(/\nMore follow: homeward keys list --client 'Second one' --after \d+\n$/);
});

test.each([
  [['webhooks', 'list'], 'There are no endpoints.\n'],
  [['webhooks', 'list', '--client', '1'], 'No endpoints match.\n'],
  [['clients', 'list', '--after', '4711'], 'No clients match.\n'],
  [['orders', 'list'], 'There are no orders.\n'],
])('%j without rows says so, and whether there are any others', async (args, stdout) => {
  expect(await homeward(args, { env })).toMatchObject({ status: 0, stdout });
});
