// Every command that ends, as a process: it ends by itself, with the output and the status that it has in the process of a test.
// Most load neither the library of the schemas, which is some 370 files and makes a start half as long again, nor the tables of the widths
// of characters, which take a fifth of the time to load: only text beyond ASCII needs them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { cloneTemplate } from '../databases.ts';
import { type Finished, homeward, homewardProcess } from './homeward-command.ts';

/** Before anything else, notes the addresses of all modules. */
const recorder = `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { appendFileSync(process.env.LOADED, url + '\\n'); return next(url, context); } });`;

const folder = mkdtempSync(path.join(tmpdir(), 'homeward-processes-'));
const hooks = path.join(folder, 'hooks.mjs');

writeFileSync(hooks, recorder);
const env: Record<string, string> = { DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL: inject('redisUrl') };
afterAll(() => rmSync(folder, { recursive: true }));

/** The process, and which of its modules most commands avoid. */
async function inProcess(args: readonly string[]): Promise<{ finished: Finished; avoidable: string[] }> {
  const loaded = path.join(folder, `modules-${++files}`);
  const finished = await homewardProcess(args, { env: { ...env, NODE_OPTIONS: `--import=${hooks}`, LOADED: loaded } });
  const modules = readFileSync(loaded, 'utf8').split('\n');
  expect(modules.some((url) => url.endsWith('/service/src/platform/config.ts'))).toBe(true);
  const isAvoidable = (url: string) =>
    url.includes('/node_modules/typebox/') || url.endsWith('-schemas.ts') || url.includes('/string-width/');
  return { finished, avoidable: modules.filter(isAvoidable) };
}

let files = 0;
/** FILE is a new one each time. */
const argsOf = (command: string) => command.split(' ').map((word) => (word === 'FILE' ? path.join(folder, `file-${++files}`) : word));

/** Times differ from run to run, and what doctor finds depends on the moment. */
const withoutNumbers = ({ status, stdout, stderr }: Finished) => ({
  status,
  stdout: stdout.replaceAll(/\d+/g, 'N').replace(/^\{"status":.*\}$/m, 'a report'),
  stderr,
});

const light = [
  'keys list',
  'clients list',
  'usage',
  'deprecations',
  'webhooks list',
  'bans list',
  'people list',
  'audit list',
  'categories prune',
  'verify',
  'doctor --json',
  'migrate --plan',
];
const heavy = [
  'pets list',
  'journal forget',
  'orders list',
  'applications list',
  'shelters list',
  'photos check',
  'restore-check --no-journal',
  'support-bundle --output FILE',
  'openapi',
  'completion bash',
];
const lasting = ['serve', 'console', 'worker', 'images'];

test('every command is here', async () => {
  const { commands } = await buildProgram({});
  const named = [...light, ...heavy, ...lasting].map((command) => command.split(' ')[0]);
  expect(named.toSorted()).toEqual(commands.map((command) => command.name()).toSorted());
});

describe('homeward as a process ends, and prints what it prints in the process of a test', () => {
  test.each(light)('%s, without schemas or tables of widths', async (command) => {
    const args = command.split(' ');
    const { finished, avoidable } = await inProcess(args);
    expect({ ...withoutNumbers(finished), avoidable }).toEqual({ ...withoutNumbers(await homeward(args, { env })), avoidable: [] });
  });

  test.each(heavy)('%s', async (command) => {
    const { finished } = await inProcess(argsOf(command));
    expect(withoutNumbers(finished)).toEqual(withoutNumbers(await homeward(argsOf(command), { env })));
  });
});

test('homeward pets add loads schemas, with which it checks what is added', async () => {
  const { finished, avoidable } = await inProcess(['pets', 'add', '--name', 'Biscuit', '--category', '1']);
  expect(finished).toMatchObject({ status: 0, stderr: '' });
  expect(avoidable).not.toEqual([]);
});
