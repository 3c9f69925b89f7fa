// Every command that ends, one after another in one process outside the tests, which then ends by itself: none leaves anything open. Each
// has the output and the status that it has in the process of a test.
// Most load neither the library of the schemas, which is some 370 files and makes a start half as long again, nor the tables of the widths
// of characters, which take a fifth of the time to load: only text beyond ASCII needs them.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, inject, test } from 'vitest';
import { compileCache } from '../../../testkit/compile-cache.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { cloneTemplate } from '../databases.ts';
import { type Finished, homeward } from './homeward-command.ts';

/** Runs the commands that it gets, ends both outputs with NUL after each, and notes its status and the modules that it has loaded. */
const runner = `import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
let loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
const { runProgram } = await import(process.env.PROGRAM);
const notes = [];
for (const args of JSON.parse(process.env.COMMANDS)) {
  process.exitCode = undefined;
  await runProgram(args, process.env);
  notes.push({ status: Number(process.exitCode ?? 0), loaded });
  loaded = [];
  process.stdout.write('\\0');
  process.stderr.write('\\0');
}
process.exitCode = 0;
writeFileSync(process.env.NOTES, JSON.stringify(notes));`;

const folder = mkdtempSync(path.join(tmpdir(), 'homeward-processes-'));
const env: Record<string, string> = { DATABASE_URL: await cloneTemplate(inject('postgresUrl')), REDIS_URL: inject('redisUrl') };
afterAll(() => rmSync(folder, { recursive: true }));

interface Run {
  readonly finished: Finished;
  /** Which of the modules that it has loaded most commands avoid. */
  readonly avoidable: readonly string[];
}

async function inProcess(commands: ReadonlyArray<readonly string[]>): Promise<Run[]> {
  const [script, notes] = [path.join(folder, 'runner.mjs'), path.join(folder, 'notes.json')];
  writeFileSync(script, runner);
  const more = { PROGRAM: new URL('../../src/cli/program.ts', import.meta.url).href, COMMANDS: JSON.stringify(commands), NOTES: notes };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script], {
    env: { ...env, ...more, NODE_COMPILE_CACHE: compileCache },
    timeout: endsWithinMs,
  });
  const [outputs, errors] = [stdout.split('\0'), stderr.split('\0')];
  const noted = JSON.parse(readFileSync(notes, 'utf8')) as ReadonlyArray<{ status: number; loaded: string[] }>;
  expect(noted[0]?.loaded.some((url) => url.endsWith('/service/src/platform/config.ts'))).toBe(true);
  const isAvoidable = (url: string) =>
    url.includes('/node_modules/typebox/') || url.endsWith('-schemas.ts') || url.includes('/string-width/');
  return noted.map(({ status, loaded }, i) => ({
    finished: { status, stdout: outputs[i] ?? '', stderr: errors[i] ?? '' },
    avoidable: loaded.filter(isAvoidable),
  }));
}

const endsWithinMs = 60_000;
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

test('those that end leave nothing open, print what they print in the process of a test, and most load neither schemas nor widths', async () => {
  const argsOfAll = () => [...light, ...heavy].map(argsOf);
  const runs = await inProcess(argsOfAll());
  expect(light.filter((_, i) => runs[i]?.avoidable.length !== 0)).toEqual([]);
  expect(runs[light.length]?.avoidable, 'pets list loads them').not.toEqual([]);
  for (const [i, args] of argsOfAll().entries()) {
    const finished = runs[i]?.finished;
    expect({ args, ...(finished && withoutNumbers(finished)) }).toEqual({ args, ...withoutNumbers(await homeward(args, { env })) });
  }
});
