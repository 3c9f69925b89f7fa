import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { examine } from '../../operations/doctor/doctor.ts';
import {
  broken,
  checkNames,
  counted,
  type Finding,
  findingOf,
  overall,
  type Severity,
  severities,
  skipped,
} from '../../operations/doctor/finding.ts';
import { printable } from '../../platform/characters.ts';
import { type Config, ConfigError, type ReadConfig } from '../../platform/config.ts';
import { currentScreen, printJson, printLines, styled, UsageError } from '../terminal/output.ts';
import { cut, type Screen, type Style, wrapWords } from '../terminal/table.ts';

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

const marks: Readonly<Record<Severity, { readonly mark: string; readonly style: Style }>> = {
  broken: { mark: '✗', style: 'red' },
  warning: { mark: '!', style: 'yellow' },
  note: { mark: 'i', style: 'cyan' },
  skipped: { mark: '-', style: 'dim' },
  ok: { mark: '✓', style: 'green' },
};

/** Narrower, and the text begins below its name. */
const textWidthMin = 40;

/** For a terminal: a mark and a name, the text beside it, and the fix below. */
function findingLines(findings: readonly Finding[], { widthMax, paint }: Pick<Screen, 'widthMax' | 'paint'>): string[] {
  const nameWidth = Math.max(...findings.map(({ check }) => check.length));
  const isWide = widthMax - nameWidth - 4 >= textWidthMin;
  const indent = ' '.repeat(isWide ? nameWidth + 4 : 2);
  return findings.flatMap(({ check, severity, found, fix }) => {
    const { mark, style } = marks[severity];
    const isDim = severity === 'skipped' || severity === 'ok';
    const head = `${paint(style, mark)} ${isDim ? check.padEnd(nameWidth) : paint('bold', check.padEnd(nameWidth))}`;
    const lines = wrapWords(printable(found), widthMax - indent.length).map((line) => (severity === 'skipped' ? paint('dim', line) : line));
    const fixLines = fix ? wrapWords(printable(fix), widthMax - indent.length - 2).map((line, i) => `${i === 0 ? '→ ' : '  '}${line}`) : [];
    const [first = '', ...rest] = isWide ? lines : ['', ...lines];
    return [
      `${head}${first ? `  ${first}` : ''}`.trimEnd(),
      ...[...rest, ...fixLines.map((line) => paint('cyan', line))].map((line) => indent + line),
    ];
  });
}

/** For a file or a pipe: one line each. */
function plainFindings(findings: readonly Finding[]): string[] {
  const [severityWidth, nameWidth] = [
    Math.max(...severities.map((name) => name.length)),
    Math.max(...findings.map(({ check }) => check.length)),
  ];
  return findings.map(({ check, severity, found, fix }) =>
    printable(`${severity.padEnd(severityWidth)}  ${check.padEnd(nameWidth)}  ${found}${fix ? ` Fix: ${fix}` : ''}`),
  );
}

/** 1 broken, 2 warnings, 18 ok. */
function summary(findings: readonly Finding[]): string {
  const words: Readonly<Record<Severity, (count: number) => string>> = {
    broken: (count) => `${count} broken`,
    warning: (count) => counted(count, 'warning'),
    note: (count) => counted(count, 'note'),
    skipped: (count) => `${count} not checked`,
    ok: (count) => `${count} ok`,
  };
  const counts = severities.map((severity) => ({ severity, count: findings.filter((one) => one.severity === severity).length }));
  return counts.flatMap(({ severity, count }) => (count > 0 ? [words[severity](count)] : [])).join(', ');
}

/** What one round has found. `lines` is called again when the window changes its size. */
interface WatchedPage {
  readonly title: string;
  lines(screen: Screen): readonly string[];
}

const usualHeight = 24;
const enter = '\x1b[?1049h\x1b[?25l';
const leave = '\x1b[?25h\x1b[?1049l';

/** Repeats the round, with a pause, until Ctrl-C, SIGTERM, or until nobody reads standard output any more. */
async function watchRounds(intervalMs: number, round: () => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
  const stop = () => stopping.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, stop);
  process.stdout.on('error', stop);
  try {
    while (!stopping.signal.aborted) {
      await Promise.race([round(), stopped]);
      await sleep(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
}

/** The same as a page in the terminal, on its second screen: what was there before is back at the end. */
async function watchOnTerminal(intervalMs: number, round: () => Promise<WatchedPage>): Promise<void> {
  let page: WatchedPage = { title: 'homeward doctor: checking …', lines: () => [] };
  // A round that is not finished at the end must not draw on the first screen.
  let hasLeft = false;
  const draw = () => void (hasLeft || process.stdout.write(drawn(page, intervalMs)));
  process.stdout.write(enter);
  process.stdout.on('resize', draw);
  try {
    draw();
    await watchRounds(intervalMs, async () => {
      page = await round();
      draw();
    });
  } finally {
    hasLeft = true;
    process.stdout.off('resize', draw);
    process.stdout.write(leave);
  }
}

/** Overwrites in place, line by line: clearing first would flicker. */
function drawn({ title, lines }: WatchedPage, intervalMs: number): string {
  const screen = currentScreen();
  const height = process.stdout.rows || usualHeight;
  const head = cut(`${title} · ${new Date(screen.nowMs).toTimeString().slice(0, 8)}`, screen.widthMax);
  const hint = cut(`every ${intervalMs / 1_000} s · Ctrl-C leaves`, screen.widthMax);
  const body = lines(screen);
  const room = Math.max(height - 4, 1);
  const shown = body.length > room ? [...body.slice(0, room - 1), `… and ${body.length - room + 1} more lines`] : body;
  const all = [styled('bold', head, process.stdout), '', ...shown, '', styled('dim', hint, process.stdout)];
  return `\x1b[H${all.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`;
}
