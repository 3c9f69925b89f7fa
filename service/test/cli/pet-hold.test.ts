import { expect, test } from 'vitest';
import { addPet, createManager } from '../adoption-steps.ts';
import { openTestStore } from '../test-store.ts';
import { homeward } from './homeward-command.ts';

const store = await openTestStore();
const manager = await createManager(store);
const { id } = await addPet(store, manager);
const run = (...args: string[]) => homeward(['pets', ...args], { env: store.env });

test('pets hold holds an animal, shows the hold with its note, and ends it', async () => {
  const held = `Biscuit (${id}) is pending. It is held (behaviour) until 2030-12-01T09:00:00.000Z; the public reads "not ready yet". Note: Bites.`;
  const asked = ['--reason', 'behaviour', '--until', '2030-12-01T09:00:00Z', '--note', 'Bites.'];
  expect(await run('hold', String(id), ...asked)).toMatchObject({ stdout: `${held}\n` });
  expect(await run('hold', String(id))).toMatchObject({ stdout: `${held}\n` });
  expect((await run('show', String(id))).stdout).toContain('It is held (behaviour)');
  expect(await run('hold', String(id), '--end')).toMatchObject({ stdout: `Biscuit (${id}) is available. It is not held.\n` });
});

test.each([
  [['--until', '2030-12-01T09:00:00Z'], 'Say why the animal is held: --reason.'],
  [['--reason', 'medical', '--end'], '--end ends the hold: leave the other options out.'],
  [['--reason', 'medical', '--until', 'tomorrow'], '--until must be a time such as 2030-12-01T09:00:00Z'],
  [['--reason', 'medical', '--until', '2020-01-01T00:00:00Z'], 'until must be a time in the future'],
])('pets hold with %j exits with 2', async (options, says) => {
  expect(await run('hold', String(id), ...options)).toMatchObject({ status: 2, stderr: expect.stringContaining(says) });
});
