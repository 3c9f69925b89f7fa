// Every command in README.md and CONTRIBUTING.md works: it is run here, or by CI at the place that is given here.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CleanCheckout } from '../../../testkit/clean-checkout.ts';
import { freePort } from '../../../testkit/servers.ts';
import { devAnimals } from '../../../tools/dev-animals.ts';
import { addPetToCategory, firstShelterId } from '../../src/animals/pets/pets.ts';
import { theService } from '../../src/domain/actor.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { openTestStore } from '../test-store.ts';
import { commandsOf, fencedBlocks } from './fenced-blocks.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/** Commands that take too long to run here, and the line of CI that runs them. */
const runElsewhere: Readonly<Record<string, { readonly file: string; readonly line: string }>> = {
  'npm ci': { file: '.ci/run', line: "step 'npm ci' npm ci" },
  'npm run examples': { file: 'package.json', line: 'docs-site/test/operation-examples.test.ts --update' },
  'npm run check': { file: '.ci/run', line: 'npm run check' },
  'npm run check -- --only types': { file: 'tools/check.ts', line: "name: 'types'" },
  'npm run check -- --changed': { file: 'tools/check.ts', line: "changed: { type: 'boolean' }" },
  'npm run format': { file: 'tools/check.ts', line: "tool('biome', 'check'" },
  'npm test -- service/test/cli/help.test.ts': { file: 'tools/check.ts', line: "'node_modules/vitest/vitest.mjs', 'run'" },
  'npm test -- --watch service/test/api/pets/create.test.ts': { file: 'package.json', line: 'node_modules/vitest/vitest.mjs run"' },
  'npm run dev': { file: 'proofs/first-call.ts', line: "command: 'npm run dev'" },
  'npm run dev -- --private': { file: 'proofs/first-call.ts', line: "command: 'npm run dev -- --private'" },
  'npm run prove -- first-call --short': { file: 'tools/check.ts', line: "runProofs(['--all', '--short'])" },
  'npm run prove': { file: 'tools/check.ts', line: "['proofs/prove.ts', '--json']" },
};

/** Commands that run until they are stopped, and what they log once they are ready. */
const longRunning: Readonly<Record<string, RegExp>> = {
  'npx homeward serve': /Server listening at/,
  'npx homeward worker': /"working"/,
  'npx homeward console': /Server listening at/,
};

const store = await openTestStore();
const { catalogue, config } = store.dependencies;
for (const { categoryId, ...animal } of devAnimals())
  await addPetToCategory(catalogue, { ...animal, categoryId: BigInt(categoryId) }, theService, {
    shelterId: firstShelterId,
  });
const { key } = await store.createKey({ client: 'dev' });
const checkout = disposeAfterAll(new CleanCheckout());
for (const packages of ['node_modules', 'service/node_modules', 'docs-site/node_modules']) {
  symlinkSync(path.join(root, packages), path.join(checkout.folder, packages));
}
mkdirSync(path.join(checkout.folder, '.homeward'));
writeFileSync(path.join(checkout.folder, '.homeward/dev-key'), key);
const env: Record<string, string> = {
  DATABASE_URL: config.databaseUrl,
  REDIS_URL: config.redisUrl,
  PORT: '0',
  // Links need it before anything listens on it.
  HOMEWARD_CONSOLE_PORT: String(await freePort()),
  HOMEWARD_DRAIN_MS: '0',
};

describe.each(['README.md', 'CONTRIBUTING.md'])('%s', (file) => {
  const blocks = fencedBlocks(read(file));
  const steps = blocks.flatMap((block, i) => {
    const response = blocks[i + 1];
    const commands = block.language === 'sh' ? commandsOf(block) : [];
    return commands.map((command) => ({ command, response: response?.language === 'json' ? response.text : undefined }));
  });

  test('has commands', () => {
    expect(steps.length).toBeGreaterThan(5);
  });

  test.each(steps)('$command', async ({ command, response }) => {
    expect(await problemsOf(command, response)).toEqual([]);
  });
});

test('npm run openapi, as the document describes it, writes the document that is committed', () => {
  expect(readFileSync(path.join(checkout.folder, 'openapi.json'), 'utf8')).toBe(read('openapi.json'));
});

async function problemsOf(command: string, response: string | undefined): Promise<string[]> {
  const elsewhere = runElsewhere[command];
  if (elsewhere) return read(elsewhere.file).includes(elsewhere.line) ? [] : [`${elsewhere.file} does not run it`];
  const ready = longRunning[command];
  if (ready) {
    const started = await checkout.dev(command, ready, env);
    const { left } = await started.end();
    return left.map((pid) => `process ${pid} is left`);
  }
  const quiet = command.replaceAll('http://127.0.0.1:8080', store.url).replace(/^curl /, 'curl --silent --show-error ');
  const { status, output } = await checkout.shell(quiet, env);
  if (status !== 0) return [`it ended with status ${status}: ${output}`];
  return response === undefined || output.trim() === response.trim() ? [] : [`the document shows another response than ${output}`];
}
