import type { Command } from 'commander';
import { examine } from '../operations/doctor/doctor.ts';
import { broken, checkNames, type Finding, findingOf, overall, skipped } from '../operations/doctor/finding.ts';
import { type Config, ConfigError, type ReadConfig } from '../platform/config.ts';
import { findingLines, plainFindings, summary } from './findings-view.ts';
import { currentScreen, printJson, printLines, UsageError } from './output.ts';
import { watchOnTerminal, watchRounds } from './watch.ts';

interface DoctorOptions {
  readonly url?: string;
  readonly watch?: boolean;
  readonly json?: boolean;
}

/** By the worst finding. 2 is for a wrong command or configuration, as everywhere. */
const statuses = { ok: 0, broken: 1, warning: 3 } as const;
const intervalMs = 5_000;

export function addDoctorCommand(program: Command, read: ReadConfig): void {
  program
    .command('doctor')
    .description('check everything that a store needs, and say what to do; changes nothing')
    .option('--url <url>', 'also check the public https: URL and that of the console, their certificates, and what responds there')
    .option('--watch', 'check again and again, until Ctrl-C')
    .option('--json', 'print one JSON object; with --watch, one a line')
    .addHelpText('after', '\nExit status: 0 all is well, 1 something is broken, 3 there are only warnings, 2 the configuration is wrong.')
    .action(async ({ url, watch, json }: DoctorOptions) => {
      const publicUrl = url === undefined ? undefined : readUrl(url);
      if (watch && !json && !process.stdout.isTTY)
        throw new UsageError('--watch needs a terminal. Elsewhere, add --json for a line each round.');
      const { config, findings: problems } = readSettings(read);
      const round = async () => (config ? examine({ config, url: publicUrl }) : problems);
      if (!watch) {
        const findings = await round();
        print(findings, json);
        process.exitCode = config ? statuses[overall(findings)] : 2;
        return;
      }
      if (json) return watchRounds(intervalMs, async () => printFindings(await round()));
      return watchOnTerminal(intervalMs, async () => {
        const findings = await round();
        return { title: `homeward doctor: ${summary(findings)}`, lines: (screen) => findingLines(findings, screen) };
      });
    });
}

/** The configuration, or what is wrong with it: that is a finding too, so that the output has everything, also with --json. */
export function readSettings(read: ReadConfig): { config: Config; findings?: never } | { config?: never; findings: Finding[] } {
  try {
    return { config: read() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const found = findingOf('configuration', broken(error.message, "Correct the variable. 'homeward --help' lists them all."));
    const others = checkNames.filter((name) => name !== 'configuration' && name !== 'url');
    return { findings: [found, ...others.map((name) => skipped(name, 'the configuration is wrong.'))] };
  }
}

function print(findings: Finding[], json: boolean | undefined): void {
  if (json) printFindings(findings);
  else if (process.stdout.isTTY)
    process.stdout.write(`${[...findingLines(findings, currentScreen()), '', summary(findings)].join('\n')}\n`);
  else printLines(...plainFindings(findings));
}

const printFindings = (findings: Finding[]) => printJson({ status: overall(findings), at: new Date(), findings });

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // A password in it would be printed.
  if (url?.protocol === 'https:' && !url.username && !url.password) return url;
  throw new UsageError('--url must be an https: URL without a user, such as https://api.example.org.');
}
