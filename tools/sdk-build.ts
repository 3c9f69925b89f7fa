// Builds the SDK, as a package and as the files that a store serves.
import { execFile } from 'node:child_process';
import { globSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { changedAtMs } from './file-times.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const sdk = path.join(root, 'sdk');
const packed = path.join(sdk, 'sdk.tgz');

/** Builds one module for every runtime, its type declarations, and the package for `npm install`. */
export async function buildSdk(): Promise<void> {
  rmSync(path.join(sdk, 'dist'), { recursive: true, force: true });
  await Promise.all([
    bundleSdk(path.join(sdk, 'src/index.ts'), path.join(sdk, 'dist/index.js')),
    run(path.join(root, 'node_modules/.bin/tsc'), '-p', sdk),
  ]);
  const { version } = JSON.parse(readFileSync(path.join(sdk, 'package.json'), 'utf8')) as { version: string };
  await run('npm', 'pack', '--pack-destination', sdk, '--silent');
  renameSync(path.join(sdk, `homeward-sdk-${version}.tgz`), packed);
}

/** Builds the SDK if its source has changed since the last build. */
export async function ensureSdk(): Promise<void> {
  const sources = globSync(['src/**', '*.json', 'README.md'], { cwd: sdk }).map((file) => changedAtMs(path.join(sdk, file)));
  if (changedAtMs(packed) < Math.max(...sources)) await buildSdk();
}

export async function bundleSdk(input: string, file: string): Promise<void> {
  await using build = await rolldown({ input, platform: 'neutral' });
  await build.write({ file, format: 'esm', minify: false, sourcemap: true });
}

async function run(file: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(file, args, { cwd: sdk, encoding: 'utf8', timeout: 120_000 });
}
