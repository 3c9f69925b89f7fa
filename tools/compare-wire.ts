// What a caller, an operator and a reader see of this tree and of another revision: the same requests, commands and pages, compared.
// node tools/node-runtime/run.mjs tools/compare-wire.ts --base REV
import { execFile } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { HttpClient } from '../testkit/http.ts';
import { matrix } from '../testkit/isolation-matrix.ts';
import { checkOut, ownRoot } from '../testkit/revision-checkout.ts';
import { Store } from '../testkit/store.ts';
import { runCommand } from './command.ts';

const timeoutMs = 180_000;
const plan = { perMinute: 100_000, perDay: 1_000_000 };
const pagesMax = 400;
const shownMax = 60;

type Seen = ReadonlyMap<string, string>;

/** Everything that the store of a tree shows, in the same order. */
async function seeAll(root: string): Promise<Record<'requests' | 'commands' | 'pages', Seen>> {
  const built = await runCommand(process.execPath, [path.join(root, 'tools/build.ts')], { timeoutMs });
  if (built.status !== 0) throw new Error(built.output);
  await using store = await Store.open({
    processes: 1,
    root: root === ownRoot ? undefined : root,
    env: { LOG_LEVEL: 'fatal', NO_COLOR: '1', COLUMNS: '100' },
  });
  const url = store.processes[0]?.url ?? '';
  using http = new HttpClient();
  const staff = await store.createKey(
    'Store',
    plan,
    '--scopes',
    'pets:read,pets:write,orders:read,orders:write,webhooks:manage,store:manage',
  );
  const partner = await store.createKey('Happy Tails', plan);
  const requests = new Map<string, string>();
  const see = async (name: string, key: string | undefined, method: string, at: string, body?: unknown) => {
    const { status, headers, text } = await http.send(url + at, { method, body, ...(key && { key }) });
    const shown = Object.entries(headers).filter(([header]) => !changing.includes(header));
    requests.set(
      `${requests.size} ${name} ${method} ${at}`,
      masked(`${status}\n${shown.map((pair) => pair.join(': ')).join('\n')}\n${text}`),
    );
  };
  await see('staff', staff.key, 'POST', '/shelters', { name: 'Danube Shelter' });
  const shelter = await store.createKey('Danube', plan, '--shelter', '2', '--scopes', 'pets:read,pets:write,orders:read,shelter:manage');
  const callers = { staff: staff.key, partner: partner.key, shelter: shelter.key };
  await fill(see, callers);
  for (const [operation, { body }] of Object.entries(matrix)) {
    const [method = '', pattern = ''] = operation.split(' ');
    // What takes away is tried on what does not exist: later requests need the rest.
    const ids = method === 'delete' ? ['4711', 'x'] : ['1', '4711', 'x'];
    const paths = pattern.includes('{')
      ? ids.map((id) => pattern.replaceAll(/\{\w+\}/g, id))
      : [pattern, `${pattern}?limit=2`, `${pattern}?nonsense=1`];
    for (const at of paths) for (const [name, key] of Object.entries(callers)) await see(name, key, method.toUpperCase(), at, body);
    // Few, since an address without a key may send 60 requests in a minute.
    await see('nobody', undefined, method.toUpperCase(), paths[0] ?? '', body);
    if (body !== undefined) await see('partner', partner.key, method.toUpperCase(), paths[0] ?? '', { nonsense: true });
  }
  return { requests, commands: await seeCommands(store, root), pages: await seePages(http, new URL(url).origin) };
}

type See = (name: string, key: string | undefined, method: string, at: string, body?: unknown) => Promise<void>;

/** Animals of each status with profiles and orders, and lists of them by every kind of filter. */
async function fill(see: See, { staff, partner, shelter }: Record<'staff' | 'partner' | 'shelter', string>): Promise<void> {
  const profile = {
    description: 'Loves long walks.',
    breeds: { primary: 'Poodle' },
    birthDate: '2020-05-01',
    sex: 'female',
    size: 'small',
    coat: 'curly',
  };
  const adopter = { name: 'Ada', email: 'ada@example.org' };
  await see('staff', staff, 'PUT', '/categories/1', { name: 'Dogs' });
  for (const name of ['Biscuit', 'Luna', 'Milo']) await see('partner', partner, 'POST', '/pets', { name, categoryId: 1 });
  for (const name of ['Bär', 'Zoë']) await see('shelter', shelter, 'POST', '/pets', { name, categoryId: 1 });
  await see('staff', staff, 'PUT', '/pets/1/profile', { ...profile, goodWith: { cats: 'yes' } });
  await see('shelter', shelter, 'PUT', '/pets/4/profile', { ...profile, sex: 'male' });
  await see('shelter', shelter, 'PATCH', '/pets/1/profile', { size: 'large' });
  for (const petId of [1, 4]) await see('partner', partner, 'POST', '/store/orders', { petId, adopter });
  await see('shelter', shelter, 'POST', '/store/orders/2/approve');
  await see('shelter', shelter, 'POST', '/store/orders/1/approve');
  await see('partner', partner, 'POST', '/webhooks', { url: 'http://127.0.0.1:9/hooks' });
  const filters = [
    'status=pending',
    'categoryId=1',
    'shelterId=2',
    'id=1&id=4',
    'q=poodle',
    'breed=poodle',
    'age=adult',
    'sex=female',
    'size=small',
  ];
  for (const filter of [
    ...filters,
    'coat=curly',
    'goodWith=cats',
    'near=48.2,16.4&withinKm=50',
    'sort=distance',
    'limit=1&sex=male',
    'limit=1&breed=Poodle',
  ])
    for (const at of ['/listings', '/listings/facets']) await see('partner', partner, 'GET', `${at}?${filter}`);
  for (const filter of ['status=available', 'status=x', 'categoryId=1', 'id=1,2', 'id=1&id=2', 'limit=2', 'limit=0', 'cursor=x'])
    await see('partner', partner, 'GET', `/pets?${filter}`);
}

const commands = [
  '--help',
  '--version',
  'pets list',
  'pets list --json',
  'pets show 1',
  'pets show 4711',
  'orders list',
  'orders list --json',
  'orders show 1',
  'orders show 1 --json',
  'orders approve 1 --yes',
  'orders complete 1 --yes',
  'orders cancel 4711 --yes',
  'orders return 1 --yes --json',
  'shelters list',
  'shelters list --json',
  'shelters show 2',
  'categories list',
  'categories prune --yes',
  'keys list',
  'keys list --client Danube --json',
  'keys revoke 4711 --yes',
  'clients list',
  'clients list --json',
  'clients set-plan Danube --plan nonsense',
  'bans list',
  'webhooks list',
  'webhooks deliveries 1',
  'usage',
  'verify',
  'deprecations',
  'failovers list',
  'pets nonsense',
  'migrate --plan',
  'completion bash',
];

async function seeCommands(store: Store, root: string): Promise<Seen> {
  const seen = new Map<string, string>();
  const env = { ...process.env, DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url, NO_COLOR: '1', COLUMNS: '100' };
  for (const command of commands) {
    const args = [path.join(root, 'service/src/main.ts'), ...command.split(' ')];
    const printed = await new Promise<string>((resolve) =>
      execFile(process.execPath, args, { env, timeout: timeoutMs }, (error, stdout, stderr) =>
        resolve(`${error?.code ?? 0}\n${stdout}\n${stderr}`),
      ),
    );
    seen.set(command, masked(printed));
  }
  return seen;
}

/** Every page that is reachable from the documentation's first, and what programs read. */
async function seePages(http: HttpClient, origin: string): Promise<Seen> {
  const seen = new Map<string, string>();
  const left = ['/docs', '/openapi.json', '/llms.txt', '/docs/deprecations', '/'];
  for (let at = left.shift(); at !== undefined && seen.size < pagesMax; at = left.shift()) {
    if (seen.has(at)) continue;
    const { status, headers, text } = await http.send(origin + at);
    seen.set(at, masked(`${status} ${headers['content-type']}\n${text.replaceAll(origin, '')}`));
    if (headers['content-type']?.startsWith('text/html'))
      left.push(...[...text.matchAll(/ href="(\/[^"#]*)/g)].map(([, href = '']) => href));
  }
  return seen;
}

/** Headers whose values differ between two runs of the same tree. */
const changing = [
  'date',
  'etag',
  'x-request-id',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit',
  'retry-after',
  'content-length',
  'keep-alive',
];

/** Without what differs between two runs of the same tree. */
function masked(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, 'TIME')
    .replaceAll(/hw_(live|test)_[0-9A-Za-z]+(…[0-9A-Za-z]+)?/g, 'KEY')
    .replaceAll(/whsec_[\w+/=]+/g, 'SECRET')
    .replaceAll(/req_\w+/g, 'REQUEST')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'UUID')
    .replaceAll(/\b\d+(\.\d+)? (ms|s|MB|min|seconds?|minutes?)( ago)?\b/g, 'DURATION')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS');
}

function report(before: Record<string, Seen>, after: Record<string, Seen>): boolean {
  let isSame = true;
  for (const [kind, seen] of Object.entries(before)) {
    const now = after[kind] ?? new Map<string, string>();
    const names = new Set([...seen.keys(), ...now.keys()]);
    const different = [...names].filter((name) => seen.get(name) !== now.get(name));
    isSame &&= different.length === 0;
    console.log(`${kind}: ${names.size - different.length} of ${names.size} are equal`);
    for (const name of different.slice(0, shownMax)) {
      console.log(`  ${name}`);
      for (const line of differingLines(seen.get(name) ?? '', now.get(name) ?? '')) console.log(`    ${line.slice(0, 300)}`);
    }
  }
  return isSame;
}

function differingLines(before: string, after: string): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  return [
    ...old.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ].slice(0, 8);
}

const { values } = parseArgs({ options: { base: { type: 'string' } } });
if (values.base === undefined) {
  console.error('Usage: compare-wire --base REV');
  process.exitCode = 2;
} else {
  using base = checkOut(values.base);
  const packages = 'docs-site/node_modules';
  if (existsSync(path.join(ownRoot, packages))) symlinkSync(path.join(ownRoot, packages), path.join(base.root, packages));
  const [before, after] = [await seeAll(base.root), await seeAll(ownRoot)];
  process.exitCode = report(before, after) ? 0 : 1;
}
