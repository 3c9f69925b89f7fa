// A leaked key must not be able to prevent its own revocation by filling the journal's disk.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { canMount, SmallDisk } from '../../../testkit/small-disk.ts';
import { makeSpareFile } from '../../src/platform/journal-place.ts';
import { createTestStore, type TestStore } from '../test-store.ts';
import { type Finished, homeward } from './homeward-command.ts';

const mayMount = await canMount();
if (!mayMount) console.warn('This user may not mount a disk: a full disk is not tested here. It takes root.');

const statusOf = async (store: TestStore, key: string) => (await store.call('GET', '/v1/pets', { key })).status;

test.skipIf(!mayMount)("with the journal's disk full, a key is revoked and a client suspended, and the journal has both", async () => {
  await using disk = await SmallDisk.mount(16);
  await using store = await createTestStore();
  const file = path.join(disk.folder, 'journal.log');
  const [leaked, other] = [await store.createKey({ client: 'Paws' }), await store.createKey({ client: 'Claws' })];
  makeSpareFile(file);
  disk.fill();
  const env = { ...store.env, HOMEWARD_JOURNAL: file };
  const finished = [
    await homeward(['keys', 'revoke', String(leaked.id)], { env }),
    await homeward(['clients', 'suspend', 'Claws'], { env }),
  ];
  expect(finished.map(({ status }) => status)).toEqual([0, 0]);
  expect([await statusOf(store, leaked.key), await statusOf(store, other.key)]).toEqual([401, 403]);
  const acts = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).act);
  expect(acts).toEqual(['key_revoked', 'client_suspended']);
});

test.skipIf(!mayMount)(
  'without a spare file both take effect all the same, with exit status 1 and the line on standard error',
  async () => {
    await using disk = await SmallDisk.mount(1);
    await using store = await createTestStore();
    const file = path.join(disk.folder, 'journal.log');
    const [leaked, other] = [await store.createKey({ client: 'Paws' }), await store.createKey({ client: 'Claws' })];
    disk.fill();
    const env = { ...store.env, HOMEWARD_JOURNAL: file };
    const revoked = await homeward(['keys', 'revoke', String(leaked.id), '--json'], { env });
    const suspended = await homeward(['clients', 'suspend', 'Claws'], { env });
    expect([await statusOf(store, leaked.key), await statusOf(store, other.key)]).toEqual([401, 403]);
    const shown = ({ status, stderr }: Finished) => {
      const [line = '', problem] = stderr.trim().split('\n');
      return { status, act: JSON.parse(line).act, problem };
    };
    const problem = `homeward: The change is made, but the disk is full and ${file} lacks its line: restoring a backup would undo the change. Make room, then append the line above to it.`;
    expect(shown(revoked)).toEqual({ status: 1, act: 'key_revoked', problem });
    expect(JSON.parse(revoked.stdout)).toMatchObject({ id: Number(leaked.id), everywhere: true });
    expect(shown(suspended)).toEqual({ status: 1, act: 'client_suspended', problem });
  },
);
