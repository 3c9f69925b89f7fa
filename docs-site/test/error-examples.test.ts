import { theService } from '../../service/src/domain/actor.ts';
// Sends the example of each code to a real store: the page of the code must show the actual response. Then runs its fix there.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { revokeApiKey, setSuspended } from '../../service/src/access/clients/clients.ts';
import { type ErrorCode, errorCodes } from '../../service/src/platform/errors.ts';
import { actAll, addPet, adopter, createManager, placeOrder } from '../../service/test/adoption-steps.ts';
import { decideAll, submit } from '../../service/test/application-steps.ts';
import { cloneTemplate, executeAsOwner } from '../../service/test/databases.ts';
import { GuideRun, python } from '../../service/test/docs/guide-run.ts';
import { typeFaultsOf } from '../../service/test/docs/sample-types.ts';
import { publishAll } from '../../service/test/event-steps.ts';
import { countLockWaits, holdLocks } from '../../service/test/lock-waits.ts';
import { ManualClock } from '../../service/test/manual-clock.ts';
import { createPhotoStore, createShelterKey, filesIn, makeImage } from '../../service/test/photo-steps.ts';
import { sendRaw } from '../../service/test/raw-request.ts';
import { createTestStore, type TestKey, type TestStore, type TestStoreOptions } from '../../service/test/test-store.ts';
import { addEndpoint } from '../../service/test/webhook-work.ts';
import { SmallDisk } from '../../testkit/small-disk.ts';
import { testAuthor } from '../../testkit/test-author.ts';
import { fixSamples } from '../src/examples/error-fixes.ts';
import type { Sample } from '../src/examples/example.ts';
import { storeAddress } from '../src/examples/store-address.ts';
import type { ApiDocument } from '../src/reference-document.ts';

interface Rejection {
  readonly status: number;
  readonly json: unknown;
}

const jpeg = await makeImage('tan');
const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as ApiDocument;
const codes = Object.keys(errorCodes) as ErrorCode[];
const fixesOf = (code: ErrorCode) => fixSamples(errorCodes[code].code, document);
const clock = new ManualClock('2026-11-15T10:00:00Z');
const stores = new AsyncDisposableStack();
let store: TestStore;
let clocked: TestStore;
let partner: TestKey;
let manager: TestKey;
let whileInProgress: Rejection;

/** Those of one example: all at once would need more connections than the server has. */
let ofExample = new AsyncDisposableStack();
const openStore = async (options: TestStoreOptions = {}) => ofExample.use(await createTestStore(options));

beforeAll(async () => {
  [store, clocked] = [stores.use(await createTestStore()), stores.use(await createTestStore({ clock }))];
  [partner, manager] = [await store.createKey(), await createManager(store)];
  // The examples are about animal 1, order 1 and endpoint 1.
  await addPet(store, partner);
  whileInProgress = await retryWhileInProgress();
  await addEndpoint(store, partner, { url: 'https://example.org/hooks' });
});
afterEach(async () => {
  await ofExample.disposeAsync();
  ofExample = new AsyncDisposableStack();
});
afterAll(() => stores.disposeAsync());

/** Places order 1, and sends the same request again while the first waits for the animal's row. */
async function retryWhileInProgress(): Promise<Rejection> {
  const { db } = store.dependencies;
  let first: Promise<Rejection> | undefined;
  const retry = await db.transaction(async (tx) => {
    await tx.query({ text: 'select from pets where id = 1 for update' });
    first = send('idempotency_in_progress', { key: partner });
    await vi.waitUntil(async () => (await countLockWaits(store)) === 1n, { timeout: 1_500, interval: 10 });
    return send('idempotency_in_progress', { key: partner });
  }, theService);
  expect((await first)?.status).toBe(201);
  return retry;
}

/** How to provoke a code, if that takes more than a partner's key. */
const provocations: Partial<Record<ErrorCode, () => Promise<Rejection>>> = {
  malformed_request: () => sendOnSocket('malformed_request'),
  api_key_missing: () => send('api_key_missing', {}),
  api_key_invalid: () => send('api_key_invalid', {}),
  api_key_expired: async () => {
    clock.set('2026-11-15T10:00:00Z');
    return send('api_key_expired', { at: clocked, key: await clocked.createKey({ expiresAt: new Date(clock.now()) }) });
  },
  api_key_revoked: async () => {
    const key = await store.createKey();
    await store.dependencies.db.transaction((tx) => revokeApiKey(tx, key.id), theService);
    return send('api_key_revoked', { key });
  },
  category_not_found: async () => {
    const at = await openStore({ env: { HOMEWARD_CATEGORIES: 'closed' } });
    return send('category_not_found', { at, key: await at.createKey() });
  },
  category_limit: async () => {
    const key = await store.createKey({ plan: 'free' });
    for (let i = 1; i <= 20; i += 1) await addPet(store, key, { categoryId: -i });
    return send('category_limit', { key });
  },
  category_unknown: () => send('category_unknown', { key: manager }),
  category_in_use: () => send('category_in_use', { key: manager }),
  invalid_rehearsal: async () => {
    const at = await openStore({ env: { HOMEWARD_ENVIRONMENT: 'staging' } });
    return send('invalid_rehearsal', { at, key: await at.createKey() });
  },
  photos_off: () => send('photos_off', { key: manager }),
  photo_limit_reached: async () => {
    const { at, key } = await openPhotoStore();
    const text =
      "insert into photos (pet_id, client_id, position, original_hash, original_name) select 1, 1, i, repeat(to_hex(i), 64), '' from generate_series(0, 11) i";
    await at.dependencies.db.write({ text });
    return send('photo_limit_reached', { at, key }, jpeg);
  },
  photo_bytes_limit: async () => {
    const { at } = await openPhotoStore();
    const key = await createShelterKey(at, 'North', { plan: 'free', scopes: ['pets:write'] });
    const moved = 'update pets set shelter_id = $1 where id = 1';
    await at.dependencies.db.write({ text: moved, values: [key.shelterId] });
    const text = "insert into photo_uploads (client_id, day, bytes) values ($1, (now() at time zone 'utc')::date, 1e9)";
    await at.dependencies.db.write({ text, values: [key.clientId] });
    return send('photo_bytes_limit', { at, key }, jpeg);
  },
  recorded_change_limit: async () => {
    const at = await openStore();
    const key = await createManager(at);
    await at.write(`insert into audit_counts (author, day, count) values ($1, (now() at time zone 'utc')::date, 1000)`, `k${key.id}`);
    return send('recorded_change_limit', { at, key });
  },
  photo_storage_limit: async () => {
    const { at } = await openPhotoStore();
    const key = await createShelterKey(at, 'North', { plan: 'free', scopes: ['pets:write'] });
    const { db } = at.dependencies;
    await db.write({ text: 'update pets set shelter_id = $1 where id = 1', values: [key.shelterId] });
    await db.write({ text: 'insert into photo_storage (client_id, bytes) values ($1, 2e9)', values: [key.clientId] });
    return send('photo_storage_limit', { at, key }, jpeg);
  },
  photo_storage_full: async () => {
    // Smaller than what photos leave free.
    const disk = ofExample.use(await SmallDisk.mount(16));
    const at = await openStore({ env: { HOMEWARD_PHOTOS: disk.folder } });
    const key = await createManager(at);
    await addPet(at, key);
    return send('photo_storage_full', { at, key }, jpeg);
  },
  too_many_uploads: async () => {
    const { at, key, folder } = await openPhotoStore();
    const others = [1, 2].map(() => sendRaw(at.url, `${headOf('upload_too_slow', { at, key })}abc`, 15_000));
    await vi.waitUntil(async () => (await filesIn(folder, 'originals')).length === 2);
    const third = await send('too_many_uploads', { at, key }, jpeg);
    await Promise.all(others);
    return third;
  },
  too_many_searches: async () => {
    const lock = await holdLocks(store, 'lock table photos in access exclusive mode', []);
    const others = [1, 2].map((limit) => store.call('GET', `/v1/listings?limit=${limit}`, { key: partner.key }));
    await vi.waitUntil(() => store.dependencies.db.state.connections.searches.busy === 2, { interval: 5 });
    const third = await send('too_many_searches', { key: partner });
    await lock.release();
    await Promise.all(others);
    return third;
  },
  upload_too_slow: async () => {
    const { at, key } = await openPhotoStore();
    const head = headOf('upload_too_slow', { at, key });
    return sendRaw(at.url, `${head}${'x'.repeat(10)}`, 15_000);
  },
  photo_too_large: async () => {
    const { at, key } = await openPhotoStore();
    return sendRaw(at.url, headOf('photo_too_large', { at, key }));
  },
  unsupported_image: async () => {
    const { at, key } = await openPhotoStore();
    return send('unsupported_image', { at, key });
  },
  request_timeout: () => sendOnSocket('request_timeout'),
  pet_has_open_order: async () => {
    const { at, key } = await openStoreWithPets(1);
    await placeOrder(at, key, 1);
    return send('pet_has_open_order', { at, key });
  },
  pet_is_sold: async () => {
    const { at, key } = await openStoreWithPets(1);
    await at.call('PATCH', '/v1/pets/1', { key: key.key, body: { status: 'sold' } });
    return send('pet_is_sold', { at, key });
  },
  outcome_recorded: async () => {
    const { at, key } = await openStoreWithPets(1);
    await at.call('POST', '/v1/pets/1/outcome', { key: key.key, body: { type: 'escaped' } });
    return send('outcome_recorded', { at, key });
  },
  outcome_final: async () => {
    const { at, key } = await openStoreWithPets(1);
    await at.call('POST', '/v1/pets/1/outcome', { key: key.key, body: { type: 'escaped' } });
    await at.write('update pets set undoable_until = null where id = 1');
    return send('outcome_final', { at, key });
  },
  outcome_not_found: async () => send('outcome_not_found', await openStoreWithPets(1)),
  external_id_taken: async () => {
    const at = await openStore();
    const key = await createManager(at);
    for (let petId = 1; petId <= 2; petId += 1) await addPet(at, key);
    await at.call('PUT', '/v1/pets/1/profile', { key: key.key, body: { externalId: 'A-4711' } });
    return send('external_id_taken', { at, key });
  },
  order_state_conflict: async () => {
    const at = await openStore();
    const key = await createManager(at);
    const { id } = await placeOrder(at, key, (await addPet(at, key)).id);
    await actAll(at, key, id, 'approve', 'complete');
    return send('order_state_conflict', { at, key });
  },
  application_state_conflict: async () => {
    const { at, key } = await openStoreWithPets(1);
    await submit(at, key, 1);
    await decideAll(at, key, 1, 'decline');
    return send('application_state_conflict', { at, key });
  },
  application_exists: async () => {
    const { at, key } = await openStoreWithPets(1);
    await submit(at, key, 1, { adopter });
    return send('application_exists', { at, key });
  },
  applications_full: async () => {
    const { at, key } = await openStoreWithPets(1);
    const others = [await at.createKey(), await at.createKey()];
    for (let i = 1; i <= 100; i += 1)
      await submit(at, others[i % 2] ?? key, 1, { adopter: { name: 'Bob', email: `bob.${i}@example.org` } });
    return send('applications_full', { at, key });
  },
  open_application_limit: async () => {
    const { at, key } = await openStoreWithPets(6);
    for (let petId = 1; petId <= 5; petId += 1) await submit(at, key, petId, { adopter });
    return send('open_application_limit', { at, key });
  },
  precondition_failed: () => send('precondition_failed', { key: manager }),
  client_suspended: async () => {
    const key = await store.createKey({ client: 'Happy Tails' });
    await setSuspended(store.dependencies.db, () => true, testAuthor, 'Happy Tails', true);
    await executeAsOwner(store.dependencies.config.databaseUrl, "update clients set suspended_at = '2026-11-15T10:00:00Z' where id = $1", [
      key.clientId,
    ]);
    return send('client_suspended', { key });
  },
  pet_on_hold: async () => {
    const at = await openStore();
    const key = await at.createKey();
    await addPet(at, key);
    await at.call('PUT', '/v1/pets/1/hold', { key: (await createManager(at)).key, body: { reason: 'medical' } });
    return send('pet_on_hold', { at, key });
  },
  hold_not_found: async () => {
    const at = await openStore();
    const key = await createManager(at);
    await addPet(at, key);
    return send('hold_not_found', { at, key });
  },
  orders_by_application: async () => {
    const at = await openStore();
    const key = await at.createKey();
    await addPet(at, key);
    await at.dependencies.db.write({ text: "update shelters set adoption = 'application' where id = 1" });
    return send('orders_by_application', { at, key });
  },
  open_order_limit: async () => {
    const at = await openStore();
    const key = await at.createKey();
    for (let petId = 1; petId <= 4; petId += 1) await addPet(at, key);
    for (let petId = 1; petId <= 3; petId += 1) {
      await at.call('POST', '/v1/store/orders', { key: key.key, body: { petId, adopter } });
    }
    return send('open_order_limit', { at, key });
  },
  webhook_limit_reached: async () => {
    const at = await openStore();
    const key = await at.createKey();
    for (let i = 0; i < 20; i += 1) await addEndpoint(at, key, { url: 'https://example.org/hooks' });
    return send('webhook_limit_reached', { at, key });
  },
  webhook_disabled: async () => {
    await store.call('PATCH', '/v1/webhooks/1', { key: partner.key, body: { status: 'disabled' } });
    return send('webhook_disabled', { key: partner });
  },
  replay_in_progress: async () => {
    const at = await openStore();
    const key = await at.createKey();
    await addEndpoint(at, key, { url: 'https://example.org/hooks' });
    await addPet(at, key);
    await publishAll(at);
    return repeat(2, () => send('replay_in_progress', { at, key }));
  },
  idempotency_in_progress: async () => whileInProgress,
  operation_removed: async () => {
    clock.set('2030-12-05T00:00:00Z');
    return send('operation_removed', { at: clocked, key: await clocked.createKey() });
  },
  body_too_large: () => sendOnSocket('body_too_large'),
  rate_limit_exceeded: async () => {
    clock.set('2026-11-15T10:00:37Z');
    const key = await clocked.createKey({ plan: 'free' });
    return repeat(61, () => send('rate_limit_exceeded', { at: clocked, key }));
  },
  api_key_banned: async () => {
    clock.set('2026-11-15T10:00:37Z');
    const key = await clocked.createKey({ plan: { perMinute: 1, perDay: 1_000 } });
    await repeat(2, () => send('api_key_banned', { at: clocked, key }));
    clock.advance(2_000);
    return repeat(30, () => send('api_key_banned', { at: clocked, key }));
  },
  headers_too_large: () => sendOnSocket('headers_too_large'),
  // The error is a missing table.
  internal_error: async () => {
    const url = await cloneTemplate(inject('postgresUrl'));
    const at = await openStore({ env: { DATABASE_URL: url } });
    const key = await at.createKey();
    await executeAsOwner(url, 'alter table categories rename to lost');
    return send('internal_error', { at, key });
  },
  unavailable: async () => {
    const url = await cloneTemplate(inject('postgresUrl'));
    const at = await openStore({ env: { DATABASE_URL: url } });
    const key = await at.createKey();
    // As `homeward serve` does: monitors PostgreSQL from now on.
    await at.dependencies.db.open();
    await executeAsOwner(inject('postgresUrl'), `alter database ${new URL(url).pathname.slice(1)} allow_connections false`);
    await executeAsOwner(
      inject('postgresUrl'),
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${new URL(url).pathname.slice(1)}'`,
    );
    await vi.waitUntil(() => !at.dependencies.db.reachable);
    return send('unavailable', { at, key });
  },
};

describe('The example of', () => {
  test.each(codes)('%s is the actual response, and its fix works', async (code) => {
    last = undefined;
    const { status, json } = await (provocations[code] ?? (() => send(code, { key: partner })))();
    const { message: example, status: expected } = errorCodes[code];
    const { message, ...rest } = json as { message: string };
    expect({ actual: status, ...rest, message: normalised(message) }).toEqual({
      actual: expected,
      code,
      status: expected,
      message: normalised(example),
    });
    if (!(code in notRun)) await fix(code);
  });
});

describe('The fixes', () => {
  test("match the SDK's types", { timeout: 120_000 }, async () => {
    const samples = codes.map((name) => ({ name, block: { language: 'ts', text: codeOf(fixesOf(name), 'ts') } }));
    expect(await typeFaultsOf(samples)).toEqual([]);
  });

  test.skipIf(!python)('are programs in Python', async () => {
    using run = new GuideRun({ HOMEWARD_URL: store.url, HOMEWARD_KEY: partner.key });
    const programs = codes.map((code) => codeOf(fixesOf(code), 'py'));
    const text = `for program in ${JSON.stringify(programs)}:\n    compile(program, 'fix', 'exec')\nprint(${programs.length})`;
    expect(await run.do({ language: 'py', text })).toBe(`${codes.length}\n`);
  });
});

/** Fixes that are only checked as programs, and why. */
const notRun: Partial<Record<ErrorCode, string>> = {
  rate_limit_exceeded: 'the clock of its store stands still',
  api_key_banned: 'the clock of its store stands still',
  unavailable: 'its database stays away',
  idempotency_in_progress: 'the first request has succeeded meanwhile',
};

/** The key that a fix needs, if it is another than the one with which the error came. */
const fixKeys: Partial<Record<ErrorCode, (at: TestStore) => Promise<TestKey> | TestKey>> = {
  api_key_missing: () => partner,
  api_key_invalid: () => partner,
  api_key_expired: (at) => at.createKey(),
  api_key_revoked: () => partner,
  malformed_request: () => partner,
  insufficient_scope: () => manager,
  photo_storage_limit: (at) => createManager(at),
};

/** Where an example was sent last, and with which key. */
let last: { readonly at: TestStore; readonly key: TestKey | undefined } | undefined;

async function fix(code: ErrorCode): Promise<void> {
  const { at, key: sent } = last ?? { at: store, key: partner };
  const { key } = (await fixKeys[code]?.(at)) ?? sent ?? partner;
  const run = runFor(at, key);
  const isReport = 'report' in errorCodes[code].code;
  writeFileSync(path.join(run.folder, '.curlrc'), `silent\nshow-error\n${isReport ? '' : 'fail\n'}`);
  writeFileSync(path.join(run.folder, 'biscuit.jpg'), jpeg);
  // In the store of most examples a fix can be repeated, and the processes of the other languages need not be started again.
  const inAll = at === store && !isReport;
  for (const { language, code: text } of fixesOf(code)) {
    if (language !== 'sh' && !(inAll && (language === 'ts' || python))) continue;
    await run.do({ language, text: text.replaceAll(storeAddress, at.url).replaceAll('hw_live_…', key) });
  }
}

const runs = new Map<string, GuideRun>();

/** One for all examples of a store and a key: its processes take time to start. */
function runFor(at: TestStore, key: string): GuideRun {
  const run = runs.get(at.url + key) ?? stores.use(new GuideRun({ HOMEWARD_URL: at.url, HOMEWARD_KEY: key }));
  runs.set(at.url + key, run);
  return run;
}

const codeOf = (samples: readonly Sample[], language: Sample['language']) => samples.find((one) => one.language === language)?.code ?? '';

/** Replaces a key's id and times, which differ from run to run. */
const normalised = (message: string) =>
  message
    .replace(/Key \d+/, 'Key 7')
    .replace(/revoked at [\d-]+T[\d:.]+Z/, 'revoked at <time>')
    .replace(/in 1\d s\./, 'in 10 s.');

function read(code: ErrorCode): { line: string; headers: string[]; body: string | undefined } {
  const [head = '', body] = errorCodes[code].request.split('\n\n');
  const [line = '', ...headers] = head.split('\n');
  return { line, headers, body };
}

async function send(code: ErrorCode, { at = store, key }: { at?: TestStore; key?: TestKey }, bytes?: Buffer): Promise<Rejection> {
  const { line, headers, body } = read(code);
  const [method = '', url = ''] = line.split(' ');
  last = { at, key };
  return at.call(method, url, {
    ...(key && { key: key.key }),
    ...(body !== undefined && { raw: bytes ?? body }),
    headers: Object.fromEntries(headers.map((header) => header.split(': ', 2) as [string, string])),
  });
}

/** The head of the example's request, to which the caller adds the body. */
function headOf(code: ErrorCode, { at, key }: { at: TestStore; key: TestKey }): string {
  last = { at, key };
  const { line, headers } = read(code);
  const fields = ['Host: homeward.example', `Authorization: Bearer ${key.key}`, ...headers.filter((header) => !header.startsWith('…'))];
  return `${line} HTTP/1.1\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`;
}

/** Sends what no HTTP client would send. */
async function sendOnSocket(code: ErrorCode): Promise<Rejection> {
  const { line, headers, body = '' } = read(code);
  const long = headers.map((header) => header.replace('… (20 kB)', 'a'.repeat(20_000)));
  const fields = ['Host: homeward.example', `Authorization: Bearer ${partner.key}`, 'Content-Type: application/json', ...long];
  const unfinished = fields.findIndex((field) => field.startsWith('…'));
  const sent = fields.slice(0, unfinished < 0 ? undefined : unfinished).map((field) => `${field}\r\n`);
  return sendRaw(store.url, `${line} HTTP/1.1\r\n${sent.join('')}${unfinished < 0 ? `\r\n${body}` : ''}`);
}

/** A store with animals 1 to `count`, and a key of its staff. */
async function openStoreWithPets(count: number): Promise<{ at: TestStore; key: TestKey }> {
  const at = await openStore();
  const key = await createManager(at);
  for (let petId = 1; petId <= count; petId += 1) await addPet(at, key);
  return { at, key };
}

/** A store that accepts photos, with animal 1. */
async function openPhotoStore(): Promise<{ at: TestStore; key: TestKey; folder: string }> {
  const { store: at, folder } = ofExample.use(await createPhotoStore());
  const key = await createManager(at);
  await addPet(at, key);
  return { at, key, folder };
}

async function repeat(times: number, act: () => Promise<Rejection>): Promise<Rejection> {
  for (let i = 1; i < times; i += 1) await act();
  return act();
}
