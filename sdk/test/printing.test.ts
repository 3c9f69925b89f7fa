// What a developer sees: the built package in a Node.js process, against a real store. No output may contain the key.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestStore, type TestStore } from '../../service/test/test-store.ts';

const built = fileURLToPath(new URL('../dist/index.js', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'homeward-printing-'));
let service: TestStore;
let key: string;

beforeAll(async () => {
  service = await createTestStore();
  ({ key } = await service.createKey());
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service[Symbol.asyncDispose]();
});

interface Output {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program that has `store`, and checks that it prints no part of the key. */
async function run(program: string, url = service.url): Promise<Output> {
  const file = path.join(folder, 'shelter.mjs');
  const start = `import { createStore } from ${JSON.stringify(built)};\nconst store = createStore({ totalTimeoutMs: 300 });\n`;
  writeFileSync(file, start + program);
  const env = { PATH: process.env['PATH'], HOMEWARD_URL: url, HOMEWARD_KEY: key };
  const output = await new Promise<Output>((resolve) => {
    execFile(process.execPath, [file], { env, timeout: 15_000 }, (error, stdout, stderr) => {
      resolve({ status: Number(error?.code ?? 0), stdout, stderr });
    });
  });
  expect(output.stdout + output.stderr).not.toContain(key.slice('hw_live_'.length, 20));
  return output;
}

const caught = (print: string) =>
  `async function showOrder() { await store.orders.get(404); }\nawait showOrder().catch((error) => console.log(${print}));`;
const fields = () => `  code: order_not_found
  status: 404
  requestId: (request)
  helpUrl: ${service.url}/docs/errors/order_not_found
`;
const normal = (text: string) => text.replaceAll(/req_[\w-]+/g, '(request)');

describe('an error response', () => {
  test('printed by console.log has code, message, request id and link, then the stack', async () => {
    const { stdout } = await run(caught('error'));
    expect(normal(stdout)).toMatch(`HomewardError: You have no order with id 404.\n${fields()}    at `);
  });

  test('is printed as docs/guides/sdk.md shows it', async () => {
    const guide = readFileSync(new URL('../../docs/guides/sdk.md', import.meta.url), 'utf8');
    const [, program = '', shown = ''] =
      /```js\n(.*?\n)```\n\nIt prints this.*?```text\n(.*?)```/s.exec(guide.slice(guide.indexOf('## Errors\n'))) ?? [];
    const { stdout } = await run(program.slice(program.lastIndexOf('await store')));
    expect(normal(stdout).startsWith(normal(shown).replace('https://homeward.example', service.url))).toBe(true);
    expect(shown).toContain('req_');
  });

  test('printed by console.log shows each of them once', async () => {
    const { stdout } = await run(caught('{ while: error }'));
    expect(stdout.match(/order_not_found$/gm)).toHaveLength(2);
    expect(stdout).not.toContain("code: 'order_not_found'");
  });

  test('that nobody catches prints the same', async () => {
    const { status, stderr } = await run('await store.orders.get(404);');
    expect(status).toBe(1);
    expect(normal(stderr)).toContain(`HomewardError: You have no order with id 404.\n${fields()}    at `);
  });

  test('as text is one line with all of them', async () => {
    const { stdout } = await run(caught('String(error)'));
    expect(normal(stdout)).toBe(
      `HomewardError: You have no order with id 404. (code: order_not_found, status: 404, requestId: (request), helpUrl: ${service.url}/docs/errors/order_not_found)\n`,
    );
  });

  test('as JSON has all fields, and the message', async () => {
    const { stdout } = await run(caught('JSON.stringify(error)'));
    expect(JSON.parse(normal(stdout))).toEqual({
      name: 'HomewardError',
      message: 'You have no order with id 404.',
      code: 'order_not_found',
      status: 404,
      requestId: '(request)',
      helpUrl: `${service.url}/docs/errors/order_not_found`,
      rateLimit: { limit: expect.any(Number), remaining: expect.any(Number), resetAt: expect.any(String) },
    });
  });

  test("has a stack with the names of the functions, the caller's among them", async () => {
    const { stdout } = await run(caught('error.stack'));
    const names = [...stdout.matchAll(/^ {4}at (?:async )?(?:Object\.)?(\w+) \(/gm)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(['attempt', 'sendWithRetries', 'request', 'showOrder']));
  });

  test('to a wrong key tells what to do, but not the key', async () => {
    const { stdout } = await run(
      `await createStore({ key: 'hw_live_wrong' }).pets.find(1).catch((error) => console.log(error, String(error), JSON.stringify(error)));`,
    );
    expect(stdout).toMatch(/^HomewardError: /);
    expect(stdout).toContain('api_key_invalid');
    expect(stdout).not.toContain('hw_live_wrong');
  });
});

describe('a lost connection', () => {
  const call = 'await store.pets.find(1)';
  const refused =
    'GET http://127.0.0.1:9/v1/pets?id=1 got no response. 127.0.0.1:9 does not accept connections (ECONNREFUSED). Check that the store is running, and the host and port in its URL.';

  test('names the host, the reason and what to check', async () => {
    // Port 9 is on the list of ports that fetch does not connect to, so the port of a closed server is used.
    const { stdout } = await run(
      `import { createServer } from 'node:net';
const server = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const { port } = server.address();
await new Promise((resolve) => server.close(resolve));
const gone = createStore({ url: 'http://127.0.0.1:' + port, totalTimeoutMs: 10 });
await gone.pets.find(1).catch((error) => {
  for (const text of [String(error), JSON.stringify(error), error.stack.split('\\n')[0]]) console.log(text.replaceAll(port, '9'));
  console.log(error);
});`,
    );
    const [text, json, title, ...printed] = stdout.split('\n');
    expect(text).toBe(`ConnectionError: ${refused}`);
    expect(JSON.parse(json ?? '')).toEqual({ name: 'ConnectionError', message: refused, code: 'ECONNREFUSED' });
    expect(title).toBe(text);
    expect(printed.join('\n')).toMatch(/^ConnectionError: GET .*\[cause\]: .*connect ECONNREFUSED/s);
  });

  test.each([
    ['http://nowhere.invalid', 'nowhere.invalid is a host name that could not be resolved (E'],
    ['http://127.0.0.1:9', '127.0.0.1:9 could not be reached: bad port. Check the URL of the store and the network.'],
  ])('to %s says why', async (url, expected) => {
    const { stdout } = await run(`${call}.catch((error) => console.log(error.message));`, url);
    expect(stdout).toContain(expected);
  });

  test('to a store without TLS by https says so', async () => {
    const { stdout } = await run(`${call}.catch((error) => console.log(error.message));`, service.url.replace('http:', 'https:'));
    expect(stdout).toContain("doesn't speak TLS (ERR_SSL_");
  });

  test('that times out says after how long', async () => {
    const { stdout } = await run(
      `const hanging = createStore({ timeoutMs: 20, totalTimeoutMs: 30, fetch: (_, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))) });
await hanging.pets.find(1).catch((error) => console.log(error.message));`,
    );
    expect(stdout).toContain('no response within 20 ms');
  });
});

describe('console.log', () => {
  test('of a store shows its URL and its rate limit', async () => {
    const { stdout } = await run('console.log(store);\nawait store.pets.find(1);\nconsole.log(store);');
    const [before, after] = stdout.split(/(?<=\}\n)(?=Store)/);
    expect(before).toBe(`Store { url: '${service.url}/v1', rateLimit: undefined }\n`);
    expect(after).toMatch(/^Store \{\s+url: .*\s+rateLimit: \{\s+limit: \d+,\s+remaining: \d+,\s+resetAt: .*Z\s+\}\s+\}\n$/);
  });

  test('of everything that a store has shows no key, however deep', async () => {
    const { stdout } = await run(
      `import { inspect } from 'node:util';
console.log(inspect(store, { depth: null, showHidden: true, getters: true, customInspect: false }));
console.log(JSON.stringify(store), String(store), Object.values(store).map(String));`,
    );
    expect(stdout).toContain('rotateSecret');
  });

  test('of a list that was not read says how to read it', async () => {
    const { stdout } = await run("console.log(await store.pets.list({ status: 'available' }));");
    expect(stdout).toBe(`Listing {
  url: '/pets',
  query: { status: 'available' },
  hint: "Not read yet: use 'for await', or call page()."
}
`);
  });

  test('of an animal, an order and a page shows all of it', async () => {
    const { stdout } = await run(
      `const pet = await store.pets.add({ name: 'Biscuit', categoryId: 9007199254740993n });
const adopter = { name: 'Ada Lovelace', email: 'ada@example.org' };
console.log(pet);
console.log(await store.orders.place({ petId: pet.id, adopter }));
console.log(await store.pets.list().page());`,
    );
    expect(stdout.replaceAll(/\d{4}-\S+Z/g, '(time)')).toBe(`{
  id: 1,
  name: 'Biscuit',
  categoryId: 9007199254740993n,
  status: 'available'
}
{
  id: 1,
  petId: 1,
  status: 'placed',
  adopter: { name: 'Ada Lovelace', email: 'ada@example.org' },
  createdAt: '(time)',
  updatedAt: '(time)',
  expiresAt: '(time)',
  applicationId: null
}
{
  items: [
    {
      id: 1,
      name: 'Biscuit',
      categoryId: 9007199254740993n,
      status: 'pending'
    }
  ],
  cursor: undefined
}
`);
  });

  test('is not customised for data: an object with a symbol could not be passed to a component of React', async () => {
    const { stdout } = await run(
      `const page = await store.pets.list().page();
const symbols = [page, ...page.items].flatMap((one) => Object.getOwnPropertySymbols(one));
console.log(symbols.length, Object.getPrototypeOf(page) === Object.prototype, structuredClone(page).items.length);`,
    );
    expect(stdout).toBe('0 true 1\n');
  });
});
