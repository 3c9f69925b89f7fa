// The library of the schemas is some 370 files: a command that loads it needs half as long again to start. Widths of characters need
// tables, which take a fifth of the time to load: only text beyond ASCII needs them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { homeward } from './homeward-command.ts';

const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' };
/** Before anything else, notes the addresses of all modules. */
const recorder = `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { appendFileSync(process.env.LOADED, url + '\\n'); return next(url, context); } });`;

const avoidableModulesOf = async (args: readonly string[]) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-imports-'));
  try {
    const [hooks, loaded] = [path.join(folder, 'hooks.mjs'), path.join(folder, 'loaded')];
    writeFileSync(hooks, recorder);
    await homeward(args, { env: { ...nowhere, NODE_OPTIONS: `--import=${hooks}`, LOADED: loaded } });
    const modules = readFileSync(loaded, 'utf8').split('\n');
    expect(modules.some((url) => url.endsWith('/service/src/config.ts'))).toBe(true);
    return modules.filter((url) => url.includes('/node_modules/typebox/') || url.endsWith('-schemas.ts') || url.includes('/string-width/'));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

test.each(['keys list', 'clients list', 'usage', 'deprecations', 'webhooks list', 'bans list', 'categories list', 'verify', 'doctor'])(
  'homeward %s loads neither schemas nor tables of widths',
  async (command) => {
    expect(await avoidableModulesOf(command.split(' '))).toEqual([]);
  },
);

test('homeward pets add loads schemas, with which it checks what is added', async () => {
  expect(await avoidableModulesOf(['pets', 'add', 'Biscuit', '--category', '1'])).not.toEqual([]);
});
