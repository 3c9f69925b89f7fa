import { open, unlink } from 'node:fs/promises';
import type { Command } from 'commander';
import { examine } from '../../operations/doctor/doctor.ts';
import { buildBundle } from '../../operations/doctor/support-bundle.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { printJson, printLines, UsageError } from '../terminal/output.ts';
import { readSettings } from './doctor.ts';

interface BundleOptions {
  readonly output?: string;
  readonly log?: string;
  readonly json?: boolean;
}

export function addSupportBundleCommand(program: Command, read: ReadConfig, env: Readonly<Record<string, string | undefined>>): void {
  program
    .command('support-bundle')
    .description('write a file that helps others to help you: findings, versions, settings without secrets, slow statements')
    .option('--output <file>', 'the file to write, which must not exist; homeward-support-<time>.md if omitted')
    .option('--log <file>', "include the last warnings and errors of this file, which has the log of 'serve' or 'worker'")
    .option('--json', 'print one JSON object')
    .action(async ({ output = defaultName(), log, json }: BundleOptions) => {
      // Before the work: a name that can't be used is found at once.
      await using file = await create(output);
      const { config, findings: problems } = readSettings(read);
      const findings = config ? await examine({ config }) : problems;
      const text = await buildBundle({ config, env, version: program.version() ?? '', findings, logFile: log }).catch(
        async (error: unknown) => {
          await unlink(output);
          throw error;
        },
      );
      await file.writeFile(text);
      if (json) printJson({ file: output, bytes: Buffer.byteLength(text) });
      else printLines(`Wrote ${output}. Passwords, keys and e-mail addresses are left out. Read it before you send it.`);
    });
}

const defaultName = () => `homeward-support-${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}.md`;

/** Readable by its owner alone, and never over something that exists. */
async function create(file: string) {
  return open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new UsageError(`${file} exists already. Choose another --output.`);
    throw new UsageError(`${file} can't be written: ${error.code}. Choose another --output.`);
  });
}
