// Type-checks the programs of the guides against the SDK, as in a project that has installed it.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Block } from './fenced-blocks.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface Sample {
  /** The file name, which appears in errors. */
  readonly name: string;
  readonly block: Block;
}

const compilerOptions = {
  target: 'es2024',
  module: 'nodenext',
  types: ['node'],
  noEmit: true,
  allowJs: true,
  checkJs: true,
  moduleDetection: 'force',
  skipLibCheck: true,
};

/** Variables of the environment may be undefined in TypeScript; the samples in JavaScript don't check that. */
const projects = [
  { language: 'js', strict: false },
  { language: 'ts', strict: true },
];

/** The compiler's errors, one per line. */
export async function typeFaultsOf(samples: readonly Sample[]): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-samples-'));
  try {
    plantPackages(folder);
    const faults: string[] = [];
    for (const { language, strict } of projects) {
      const files = samples.filter(({ block }) => block.language === language).map((sample) => write(folder, sample));
      if (files.length === 0) continue;
      const config = path.join(folder, `${language}.json`);
      writeFileSync(config, JSON.stringify({ compilerOptions: { ...compilerOptions, strict }, files: ['prelude.d.ts', ...files] }));
      faults.push(...(await compile(config)));
    }
    return faults;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function plantPackages(folder: string): void {
  mkdirSync(path.join(folder, 'node_modules/@homeward'), { recursive: true });
  symlinkSync(path.join(root, 'sdk'), path.join(folder, 'node_modules/@homeward/sdk'));
  for (const name of ['@types', 'undici-types'])
    symlinkSync(path.join(root, 'node_modules', name), path.join(folder, 'node_modules', name));
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(path.join(folder, 'prelude.d.ts'), "declare const store: import('@homeward/sdk').Store;\n");
}

function write(folder: string, { name, block }: Sample): string {
  const file = `${name}.${block.language}`;
  writeFileSync(path.join(folder, file), block.text.replaceAll('https://homeward.example/sdk/index.js', '@homeward/sdk'));
  return file;
}

async function compile(config: string): Promise<string[]> {
  const tsc = path.join(root, 'node_modules/.bin/tsc');
  try {
    await promisify(execFile)(tsc, ['-p', config, '--pretty', 'false'], { encoding: 'utf8' });
    return [];
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    if (!stdout) throw error;
    return stdout.trim().split('\n');
  }
}
