// Runs each command whose output docs/operations shows. The words must match; numbers may differ.
import { expect, test } from 'vitest';
import { actAll, addPet, adopter, createManager } from '../adoption-steps.ts';
import { decideAll, submit } from '../application-steps.ts';
import { homeward } from '../cli/homeward-command.ts';
import { openTestStore } from '../test-store.ts';
import { fencedBlocks } from './fenced-blocks.ts';
import { operations } from './operations-pages.ts';

/** A block may show several commands, each with its output. */
const shown = fencedBlocks(operations)
  .flatMap(({ text }) => text.split(/^(?=\$ )/m))
  .flatMap((text) => {
    const [, args, output = ''] = /^\$ homeward ([^\n]+)\n(.+)$/s.exec(text) ?? [];
    return args === undefined ? [] : [{ args: wordsOf(args), output }];
  });
function wordsOf(args: string): string[] {
  return [...args.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word);
}

const withoutNumbers = (text: string) => text.replaceAll(/\d+/g, 'N').trim();

const store = await openTestStore();
const { env } = store;
const manager = await createManager(store, { client: 'Front desk' });
const { id: petId } = await addPet(store, manager);
const place = async (headers = {}) =>
  (await store.call<{ id: number }>('POST', '/v1/store/orders', { key: manager.key, body: { petId, adopter }, headers })).json.id;
await actAll(store, manager, await place({ 'idempotency-key': 'one' }), 'cancel');
await actAll(store, manager, await place(), 'approve', 'complete', 'return');
await place();
// Of the adopter, one that has ended and one that is open.
const application = await submit(store, manager, petId, { adopter });
await decideAll(store, manager, application.id, 'withdraw');
await submit(store, manager, petId, { adopter });
await store.write('insert into categories (id) select generate_series(101, 112)');

test('docs/operations shows the output of ten commands or more', () => {
  expect(shown.length).toBeGreaterThanOrEqual(10);
});

test.each(shown)('homeward $args prints what is shown', async ({ args, output }) => {
  const { stdout } = await homeward(args, { env });
  expect(withoutNumbers(stdout)).toBe(withoutNumbers(output));
});

test('homeward verify --json prints the object that is shown', async () => {
  const [, object = '{}'] = /With `--json` it prints one object: `(\{.+?\})`/.exec(operations) ?? [];
  const { stdout } = await homeward(['verify', '--json'], { env });
  expect(Object.keys(JSON.parse(stdout))).toEqual(Object.keys(JSON.parse(object)));
});
