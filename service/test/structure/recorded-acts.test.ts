import { readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { type AuditedAct, auditedActs, listActs } from '../../src/access/audit/audit.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { readJournalLine } from '../../src/platform/journal/journal.ts';
import { addPet, createManager, placeOrder } from '../adoption-steps.ts';
import { submit } from '../application-steps.ts';
import { homeward } from '../cli/homeward-command.ts';
import { openTestStore } from '../test-store.ts';
import { journaledActs, type Recorded, recordedCommands, recordedRoutes } from './recorded-acts.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, unknown>>;
};

const leavesOf = (command: Command, words: readonly string[] = []): string[] =>
  command.commands.length === 0 ? [words.join(' ')] : command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]));

test('every route that is no GET has a row', () => {
  const routes = Object.entries(document.paths).flatMap(([at, methods]) =>
    Object.keys(methods).flatMap((method) => (['get', 'head', 'parameters'].includes(method) ? [] : [`${method} ${at}`])),
  );
  expect(Object.keys(recordedRoutes).sort()).toEqual(routes.sort());
});

test('every command has a row', async () => {
  expect(Object.keys(recordedCommands).sort()).toEqual(leavesOf(await buildProgram({})).sort());
});

const auditedBy = (rows: Readonly<Record<string, Recorded>>) =>
  Object.entries(rows).flatMap(([name, row]) => (typeof row === 'object' && 'audited' in row ? [[name, row.audited] as const] : []));

/** The acts that were recorded meanwhile, the first first. */
async function actsOf(act: () => Promise<unknown>): Promise<string[]> {
  const before = new Set((await listActs(db, { limit: 1_000 })).map(({ id, source }) => `${source} ${id}`));
  await act();
  const after = await listActs(db, { limit: 1_000 });
  return after
    .filter(({ id, source }) => !before.has(`${source} ${id}`))
    .map((one) => one.act)
    .reverse();
}

describe('each audited command leaves exactly its rows', async () => {
  const manager = await createManager(store);
  const questions = path.join(os.tmpdir(), `questions-${process.pid}.json`);
  writeFileSync(questions, '{"questions":[]}');
  const hours = path.join(os.tmpdir(), `hours-${process.pid}.json`);
  writeFileSync(hours, '{"openingHours":{"weekly":{"monday":[{"from":"10:00","to":"12:00"}]},"exceptions":[]}}');
  const animal = async () => (await addPet(store, manager)).id;
  const key = async () => String((await store.createKey({ client: 'Happy Tails' })).id);
  const first = async () => {
    await homeward(['people', 'invite', 'grace@example.org', '--role', 'staff'], { env: store.env });
    await store.write(`update people set invited_until = null where email = 'grace@example.org'`);
    return 'grace@example.org';
  };
  const prepare: Readonly<Record<string, () => Promise<readonly string[]>>> = {
    'keys create': async () => ['--client', 'New', '--plan', 'pro'],
    'keys rotate': async () => [await key()],
    'keys revoke': async () => [await key()],
    'clients set-plan': async () => ['New', '--plan', 'business'],
    'clients suspend': async () => ['New'],
    'clients resume': async () => ['New'],
    'people invite': async () => ['ada@example.org', '--role', 'volunteer', '--shelter', '1'],
    'people change': async () => [await first(), '--shelter', '1'],
    'people link': async () => ['grace@example.org'],
    'people remove': async () => ['grace@example.org'],
    'bans lift': async () => [await key()],
    'shelters create': async () => ['--name', 'Danube'],
    'shelters update': async () => ['1', '--phone', '1'],
    'shelters confirm': async () => {
      await store.asOwner(`update shelters set website = 'https://danube.example/' where id = 1`);
      return ['1'];
    },
    'shelters questions': async () => ['1', '--file', questions],
    'shelters site': async () => ['--imprint', 'Riverside Animals'],
    'shelters hours': async () => ['1', '--file', hours],
    'orders erase': async () => [String((await placeOrder(store, manager, await animal())).id)],
    'applications end-all': async () => {
      const sender = await store.createKey({ client: 'Sender' });
      await submit(store, sender, await animal());
      return ['--client', 'Sender'];
    },
    'applications take-back': async () => ['1'],
    'applications end-link': async () => [String((await submit(store, manager, await animal())).id)],
    'applications erase': async () => [String((await submit(store, manager, await animal())).id)],
  };

  test('and none is left out', () => {
    expect(Object.keys(prepare).sort()).toEqual(
      auditedBy(recordedCommands)
        .map(([name]) => name)
        .sort(),
    );
  });

  test.each(Object.keys(prepare))('%s', async (name) => {
    const args = (await prepare[name]?.()) ?? [];
    let lines: string[] = [];
    const found = await actsOf(async () => {
      const { status, stderr } = await homeward([...name.split(' '), ...args], { env: store.env });
      lines = stderr.split('\n').flatMap((line) => readJournalLine(line)?.entry.act ?? []);
      expect(stderr.split('\n').filter((line) => line !== '' && !line.includes('"journal":true'))).toEqual([]);
      expect(status).toBe(0);
    });
    expect(found).toEqual(auditedBy(recordedCommands).find(([one]) => one === name)?.[1]);
    const rows = found.map((act) => journaledActs[act as AuditedAct]);
    const expected = new Set<string>(rows.flatMap((row) => ('exempt' in row ? [] : row)));
    // What ends something has a line in the journal, and nothing else has one.
    expect(lines.length > 0).toBe(expected.size > 0);
    expect(lines.filter((act) => !expected.has(act))).toEqual([]);
  });
});

describe('each audited route leaves exactly its row', async () => {
  const manager = await createManager(store);
  const requests: Readonly<Record<string, readonly [string, object]>> = {
    'post /shelters': ['/v1/shelters', { name: 'Alps' }],
    'patch /shelters/{shelterId}': ['/v1/shelters/1', { phone: '2' }],
    'patch /site': ['/v1/site', { imprint: 'Danube Animals' }],
    'put /shelters/{shelterId}/questions': ['/v1/shelters/1/questions', { questions: [] }],
  };

  test.each(auditedBy(recordedRoutes))('%s: %j', async (name, expected) => {
    const [at, body] = requests[name] ?? ['', {}];
    const found = await actsOf(async () => {
      const { status } = await store.call(name.split(' ')[0]?.toUpperCase() ?? '', at, { key: manager.key, body });
      expect(status).toBeLessThan(300);
    });
    expect(found).toEqual(expected);
    const [row] = await listActs(db, { limit: 1 });
    expect(row).toMatchObject({ keyId: manager.id, clientId: manager.clientId, network: '127.0.0.0/24', login: null, personId: null });
  });
});

test('every act that can be audited is that of a command, of a route, of a person who signs in, or about more rights or an adopter', () => {
  const found = new Set([...auditedBy(recordedCommands), ...auditedBy(recordedRoutes)].flatMap(([, acts]) => acts));
  expect(Object.keys(auditedActs).filter((act) => !found.has(act as never))).toEqual([
    'person.joined',
    'person.raise_offered',
    'person.raise_withdrawn',
    'identity.added',
    'passkey.added',
    'passkey.removed',
    'passkey.rejected',
    'session.started',
    'session.ended',
    'adopter.disclosed',
  ]);
});
