// Partners generate clients from the document: one that a usual generator makes, with its default settings, must work.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createTestStore, type TestStore } from '../test-store.ts';

vi.setConfig({ testTimeout: 60_000 });

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const run = promisify(execFile);
const compilerOptions = {
  target: 'es2024',
  module: 'nodenext',
  strict: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  types: ['node'],
  typeRoots: [path.join(modules, '@types')],
};

/** What a partner would write. Types are part of it: an adopter without an address must not compile. */
const program = `
import { client } from './generated/client.gen.ts';
import { createPet, getOrder, listPets, placeOrder, type NewOrder } from './generated/index.ts';

client.setConfig({ baseUrl: process.env['BASE_URL'] ?? '', auth: process.env['API_KEY'] ?? '' });
const created = await createPet({ body: { name: 'Biscuit', categoryId: 1 }, headers: { 'idempotency-key': 'biscuit-1' }, throwOnError: true });
const listed = await listPets({ query: { status: 'available', limit: 5 }, throwOnError: true });
const placed = await placeOrder({
  body: { petId: created.data.id, adopter: { name: 'Ada Lovelace', email: 'ada@example.org' } },
  throwOnError: true,
});
const found = await getOrder({ path: { orderId: placed.data.id }, throwOnError: true });
const missing = await getOrder({ path: { orderId: 4711 } });
// @ts-expect-error
const incomplete: NewOrder = { petId: 1, adopter: { name: 'Ada Lovelace' } };
const rejected = await placeOrder({ body: incomplete });
console.log(
  JSON.stringify({
    created: created.data.name,
    listed: listed.data.map((pet) => pet.name),
    remaining: listed.response.headers.get('x-ratelimit-remaining') !== null,
    placed: placed.data.status,
    found: found.data.petId === created.data.id,
    missing: missing.error?.code,
    rejected: rejected.error?.code,
  }),
);
`;

let store: TestStore;
let folder: string;
beforeAll(async () => {
  store = await createTestStore();
  folder = mkdtempSync(path.join(tmpdir(), 'homeward-client-'));
  writeFileSync(path.join(folder, 'openapi.json'), (await store.call('GET', '/openapi.json')).text);
  await createClient({
    input: path.join(folder, 'openapi.json'),
    // The extension, so that Node.js runs the files as they are.
    output: { path: path.join(folder, 'generated'), module: { extension: '.ts' } },
    logs: { level: 'silent', file: false },
  });
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  writeFileSync(path.join(folder, 'program.ts'), program);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await store[Symbol.asyncDispose]();
});

describe('A client that @hey-api/openapi-ts generates', () => {
  test('lists and adds animals, places an order, and reads the errors', async () => {
    const { key } = await store.createKey();
    const env = { ...process.env, BASE_URL: `${store.url}/v1`, API_KEY: key };
    const { stdout } = await run(process.execPath, [path.join(folder, 'program.ts')], { env, timeout: 30_000 });
    expect(JSON.parse(stdout)).toEqual({
      created: 'Biscuit',
      listed: ['Biscuit'],
      remaining: true,
      placed: 'placed',
      found: true,
      missing: 'order_not_found',
      rejected: 'invalid_body',
    });
  });

  test('has types under which that program compiles', async () => {
    const { stdout } = await run(path.join(modules, '.bin/tsc'), ['-p', folder], { timeout: 45_000 }).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });
});
