// All that must hold before a change lands, which is what CI runs: npm run check -- [--only NAME]… [--changed]
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, stripVTControlCharacters, styleText } from 'node:util';
import { compileCache } from '../testkit/compile-cache.ts';
import { temporaryFolder } from '../testkit/temporary-folder.ts';
import { changedFiles, type ListedProof, relatedProofs, relatedTests } from './changed.ts';
import { runCommand } from './command.ts';
import { lintMigrations } from './migrations-lint.ts';
import { findDoubledNames, findLongLines, findMisplaced, findStrayBinaries } from './placement.ts';
import { buildSdk } from './sdk-build.ts';
import { sdkTypes, typesFile } from './sdk-types.ts';
import { runShownCommands } from './shown-commands.ts';
import { findCoinages } from './words.ts';

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  /** Shown where something failed. */
  readonly output: string;
  /** What failed, a line each: shown first, since the output may be cut. */
  readonly failures?: readonly string[];
  /** What failed beside others and passed alone: shown, so that it is seen. */
  readonly passedAlone?: readonly string[];
  /** Bounds on elapsed time that were broken beside others, which decides nothing. */
  readonly late?: readonly string[];
  /** What took longest: the time of a run is bounded, and this is where it goes. */
  readonly slowest?: readonly string[];
}

interface Timed {
  readonly name: string;
  readonly seconds: number;
}

interface Step {
  readonly name: string;
  /** The files that it is about. With --changed it is run only if one of them has changed. */
  readonly about: RegExp;
  run(): Promise<Outcome>;
}

/** Proofs whose mutant is run here too: the proof must catch it. The others' mutants are run every night. */
const mutants: readonly string[] = ['limits', 'adoption'];

const success: Outcome = { passed: 1, failed: 0, output: '' };
const failure = (output: string): Outcome => ({ passed: 0, failed: 1, output });

const running = new Set<string>();
const minuteMs = 60_000;
/** For what hangs: a tool takes a minute on quiet cores. */
const toolTimeoutMs = 10 * minuteMs;
const proveTimeoutMs = 240 * minuteMs;
const outputCharsMax = 20_000;
/** If more files or proofs fail, something is broken. */
const failedFilesMax = 20;
const failedProofsMax = 8;
const slowestShown = 8;

const code = /\.(ts|mjs|json|lua|sql)$/;
const api = /^(service\/src|sdk|tools)\/|^openapi\.json$/;

/** Cheap, and independent of each other: they run at once. */
const staticSteps: readonly Step[] = [
  { name: 'types', about: code, run: () => tool('tsc', '-p', '.') },
  { name: 'biome', about: code, run: () => tool('biome', 'check', '--error-on-warnings', '.') },
  { name: 'oxlint', about: code, run: () => tool('oxlint', '--type-aware', '--deny-warnings') },
  { name: 'knip', about: code, run: () => tool('knip', '--no-progress', '--treat-config-hints-as-errors') },
  { name: 'directions', about: code, run: checkDirections },
  { name: 'placement', about: /./, run: checkPlacement },
  { name: 'words', about: /./, run: checkWords },
  { name: 'sdk', about: api, run: checkSdk },
  { name: 'openapi-lint', about: api, run: () => tool('redocly', 'lint', 'openapi.json') },
  { name: 'sql', about: /^(service\/(src|migrations)\/|tools\/sql-)/, run: checkSql },
  { name: 'migrations', about: /^service\/migrations\//, run: checkMigrations },
];

/** These steps use all cores, so they run one after another. */
const dynamicSteps: readonly Step[] = [
  { name: 'openapi', about: api, run: checkOpenApi },
  { name: 'tests', about: /./, run: () => runTests() },
  { name: 'proofs', about: /./, run: () => runProofs(['--all', '--short']) },
  { name: 'mutants', about: /^$/, run: () => runMutants(mutants) },
];

/** Steps that take long. They run only if they are named with --only, as CI does every night. */
const nightlySteps: readonly Step[] = [
  { name: 'long-proofs', about: /^$/, run: () => runProofs(['--all']) },
  { name: 'all-mutants', about: /^$/, run: async () => runMutants(await proofsWithMutant()) },
  { name: 'shown-commands', about: /^$/, run: checkShownCommands },
  { name: 'long-tests', about: /^$/, run: runLongTests },
];

// Whatever is started below compiles each file once.
process.env['NODE_COMPILE_CACHE'] ??= compileCache;

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true }, changed: { type: 'boolean' } } });
process.exitCode = await check(values.only, values.changed ? changedFiles() : undefined);

async function check(only: readonly string[] | undefined, changed: readonly string[] | undefined): Promise<number> {
  const names = [...staticSteps, ...dynamicSteps, ...nightlySteps].map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    console.error(`There is no step "${unknown}". There are ${names.join(', ')}.`);
    return 2;
  }
  const chosen = ({ name, about }: Step) => (!only || only.includes(name)) && (!changed || changed.some((file) => about.test(file)));
  const outcomes = await Promise.all(staticSteps.filter(chosen).map(perform));
  const inTurn = changed ? await stepsFor(changed) : [...dynamicSteps, ...(only ? nightlySteps : [])];
  for (const step of inTurn.filter(chosen)) outcomes.push(await perform(step));
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** Of the tests and proofs, those that have to do with these files. */
async function stepsFor(changed: readonly string[]): Promise<Step[]> {
  const [tests, proofs] = [relatedTests(changed), relatedProofs(changed, await listProofs())];
  console.log(
    `${changed.length} files have changed: ${tests?.length ?? 'all'} test files and ${proofs.length} proofs have to do with them`,
  );
  const narrowed: Readonly<Record<string, () => Promise<Outcome>>> = {
    tests: async () => (tests?.length === 0 ? success : runTests(tests)),
    proofs: async () => (proofs.length === 0 ? success : runProofs([...proofs, '--short'])),
  };
  return dynamicSteps.map((step) => ({ ...step, run: narrowed[step.name] ?? step.run }));
}

/** Runs a step and prints its line; a step that throws has failed, and the others still run. */
async function perform(step: Step): Promise<Outcome> {
  const startedAtMs = performance.now();
  const seconds = () => (performance.now() - startedAtMs) / 1_000;
  running.add(step.name);
  const ticker = setInterval(() => showProgress(`${[...running].join(', ')} … ${seconds().toFixed(0)} s`), 1_000);
  const outcome = await step
    .run()
    .catch((error: unknown) => failure(error instanceof Error ? (error.stack ?? error.message) : String(error)));
  clearInterval(ticker);
  running.delete(step.name);
  showProgress('');
  const ok = outcome.failed === 0;
  const counts = outcome.passed + outcome.failed > 1 ? `  ${outcome.passed} passed, ${outcome.failed} failed` : '';
  const mark = ok ? styleText('green', 'ok    ') : styleText('red', 'FAILED');
  console.log(`${mark} ${step.name.padEnd(16)} ${seconds().toFixed(1).padStart(6)} s${counts}`);
  if (outcome.slowest) console.log(`       longest: ${outcome.slowest.join(', ')}`);
  for (const line of outcome.failures ?? []) console.log(`       ${line}`);
  for (const line of outcome.late ?? []) console.log(`       late beside others: ${line}`);
  for (const name of outcome.passedAlone ?? []) console.log(`       passed only when it was run again, alone: ${name}`);
  const output = process.stdout.isTTY ? outcome.output : stripVTControlCharacters(outcome.output);
  if (!ok) console.log(output.trim().slice(-outputCharsMax).replace(/^/gm, '       '));
  return outcome;
}

function slowestOf(timed: readonly Timed[]): string[] {
  const longest = timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
  return longest.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`);
}

function showProgress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${text}`);
}

async function tool(name: string, ...args: string[]): Promise<Outcome> {
  const { status, output } = await runCommand(path.join('node_modules/.bin', name), args, { timeoutMs: toolTimeoutMs });
  return status === 0 ? success : failure(`${output}\n${name} ended with status ${status}`);
}

/** dependency-cruiser passes when it can't read TypeScript at all, so what it has read is counted. */
async function checkDirections(): Promise<Outcome> {
  const { status, output } = await runCommand(
    'node_modules/.bin/depcruise',
    ['service', 'docs-site', 'proofs', 'testkit', 'tools', 'bench'],
    { timeoutMs: toolTimeoutMs },
  );
  const modules = Number(/(\d+) modules/.exec(output)?.[1] ?? 0);
  const sources = ['{service,docs-site,sdk/src,sdk/test,examples/adoption-site,proofs,testkit,tools}/**/*.ts', 'bench/*.ts'];
  const files = globSync(sources, { exclude: ['**/node_modules/**'] }).length;
  if (modules < files) return failure(`${output}\nonly ${modules} modules were read, of ${files} files`);
  return status === 0 ? success : failure(output);
}

async function checkWords(): Promise<Outcome> {
  const coinages = findCoinages();
  return coinages.length === 0 ? success : failure(coinages.join('\n'));
}

async function checkMigrations(): Promise<Outcome> {
  const problems = await lintMigrations('service/migrations');
  return problems === '' ? success : failure(problems);
}

/** In a process beside the other steps, since it compiles the service. */
async function checkSql(): Promise<Outcome> {
  const { status, output } = await runCommand(process.execPath, ['tools/sql-check.ts'], { timeoutMs: toolTimeoutMs });
  return status === 0 ? success : failure(output);
}

async function checkShownCommands(): Promise<Outcome> {
  const { passed, failures } = await runShownCommands();
  return { passed, failed: failures.length, output: failures.join('\n\n') };
}

async function checkPlacement(): Promise<Outcome> {
  const misplaced = [
    ...findMisplaced('service/src'),
    ...findDoubledNames('service/src'),
    ...findLongLines('service/src'),
    ...findStrayBinaries('.'),
  ];
  return misplaced.length === 0 ? success : failure(misplaced.join('\n'));
}

/** Its types match openapi.json, and the package can be installed and imported. */
async function checkSdk(): Promise<Outcome> {
  await buildSdk();
  if ((await sdkTypes(readFileSync('openapi.json', 'utf8'))) !== readFileSync(typesFile, 'utf8')) {
    return failure(`${typesFile} is out of date: run 'npm run openapi'`);
  }
  const published = await tool('publint', 'sdk', '--strict');
  return published.failed > 0 ? published : tool('attw', 'sdk/sdk.tgz', '--profile', 'esm-only');
}

async function checkOpenApi(): Promise<Outcome> {
  const { status, stdout, output } = await runCommand(process.execPath, ['service/src/main.ts', 'openapi'], { timeoutMs: toolTimeoutMs });
  if (status !== 0) return failure(output);
  return stdout === readFileSync('openapi.json', 'utf8') ? success : failure("openapi.json is out of date: run 'npm run openapi'");
}

interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly TestFile[];
}

interface TestFile {
  readonly name: string;
  readonly status: string;
  /** Why the file failed, where it failed before its tests. */
  readonly message: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: ReadonlyArray<{
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages: readonly string[];
  }>;
}

/** Those that repeat what is random, with more rounds. */
function runLongTests(): Promise<Outcome> {
  process.env['LONG_TESTS'] = 'on';
  return runTests(relatedTests(['testkit/rounds.ts']));
}

interface TestOutcome extends Outcome {
  readonly failedFiles: readonly string[];
  /** An error outside every test belongs to no file, so that running files again would hide it. */
  readonly hasStrayError: boolean;
}

/** Where a few files fail, each is run again, alone: cores that others use make a test late, and a defect fails twice. */
async function runTests(files: readonly string[] = []): Promise<Outcome> {
  const together = await testFiles(files);
  if (together.failedFiles.length === 0 || together.failedFiles.length > failedFilesMax || together.hasStrayError) return together;
  const alone = await testFiles(['--maxWorkers=1', ...together.failedFiles]);
  const passed = together.passed + Math.max(0, together.failed - alone.failed);
  const passedAlone = together.failedFiles.filter((file) => !alone.failedFiles.includes(file));
  return { ...together, passed, failed: alone.failed, output: `${together.output}\n${alone.output}`, passedAlone };
}

async function testFiles(args: readonly string[]): Promise<TestOutcome> {
  using temporary = temporaryFolder('check');
  const report = path.join(temporary.path, 'report.json');
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`];
  const { status, output } = await runCommand(process.execPath, [...vitest, ...args], { timeoutMs: 40 * minuteMs });
  const { numPassedTests: passed, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as TestReport;
  const failures = testResults.filter((file) => file.status === 'failed');
  const failed = numFailedTests + failures.filter((file) => file.assertionResults.length === 0).length;
  const failedFiles = failures.map(({ name }) => path.relative('.', name));
  const strayAt = output.indexOf('Unhandled Error');
  const shown = [...failures.map(describeFailures), ...(strayAt === -1 ? [] : [output.slice(strayAt)])];
  return {
    passed,
    // An error outside every test fails the run without failing a test, and a run without tests shows nothing.
    failed: failed === 0 && (status !== 0 || passed === 0) ? 1 : failed,
    output: shown.length > 0 ? shown.join('\n\n') : output,
    failedFiles,
    hasStrayError: strayAt !== -1,
    slowest: slowestOf(
      testResults.map(({ name, startTime, endTime }) => ({ name: path.relative('.', name), seconds: (endTime - startTime) / 1_000 })),
    ),
  };
}

/** Only what failed: what the tests print beside it would bury it. */
function describeFailures({ name, message, assertionResults }: TestFile): string {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  const lines = failed.map(({ fullName, failureMessages }) => `${fullName}\n${failureMessages.join('\n')}`);
  return [path.relative('.', name), ...(lines.length > 0 ? lines : [message])].join('\n');
}

interface Claim {
  readonly proof: string;
  readonly claim: string;
  readonly bar: string;
  readonly figure: string;
  readonly holds: boolean;
  readonly isKnownMiss?: boolean;
  readonly isLate?: boolean;
}

/**
 * The short forms run side by side, on cores that others may use too. Where a few break or don't finish, each is run again, alone, and that
 * decides: what a proof disproves, it disproves alone too. Every night the long forms run one by one.
 */
async function runProofs(args: readonly string[]): Promise<Outcome> {
  const together = await proofs(...args);
  const { brokenNames: names } = together;
  if (names.length === 0 || names.length > failedProofsMax || !args.includes('--short')) return together;
  const again: ProofOutcome[] = [];
  for (const name of names) again.push(await proofs(name, '--short'));
  const stillBroken = again.reduce((sum, { failed }) => sum + failed, 0);
  return {
    ...together,
    passed: together.passed + Math.max(0, together.failed - stillBroken),
    failed: stillBroken,
    failures: again.flatMap(({ failures = [] }) => failures),
    output: [together, ...again].map(({ output }) => output).join('\n'),
    passedAlone: names.filter((_, i) => again[i]?.failed === 0),
  };
}

interface ProofOutcome extends Outcome {
  /** Also those that did not finish. */
  readonly brokenNames: readonly string[];
}

async function proofs(...args: string[]): Promise<ProofOutcome> {
  const { claims, status, output } = await prove(...args);
  const unfinished = [...output.matchAll(/^(\S+), [\d.]+ s\n(?: {2}.*\n)*? {2}FAILED {2}it did not finish$/gm)].map(
    ([, name = '']) => name,
  );
  const broken = claims.filter(({ holds, isKnownMiss }) => !holds && !isKnownMiss);
  const lines = [
    ...broken.map(({ proof, claim, bar, figure }) => `${proof}: ${claim}: ${figure} (bar: ${bar})`),
    ...unfinished.map((name) => `${name}: it did not finish`),
  ];
  const failed = lines.length === 0 && (status !== 0 || claims.length === 0) && !claims.some(({ holds }) => !holds) ? 1 : lines.length;
  return {
    passed: claims.length - broken.length,
    failed,
    failures: lines,
    output,
    late: claims.filter(({ isLate }) => isLate).map(({ proof, claim, bar, figure }) => `${proof}: ${claim}: ${figure} (bar: ${bar})`),
    brokenNames: [...new Set([...broken.map(({ proof }) => proof), ...unfinished])],
    slowest: slowestOf([...output.matchAll(/^(\S+), ([\d.]+) s$/gm)].map(([, name = '', took]) => ({ name, seconds: Number(took) }))),
  };
}

/** A proof that ends early has caught nothing: a claim must have been measured and found broken. */
async function runMutants(names: readonly string[]): Promise<Outcome> {
  if (names.length === 0) return failure('no proof with a mutant was named');
  const { claims, output } = await prove(...names, '--mutant', '--short');
  const isCaught = (name: string) => claims.some(({ proof, claim, holds }) => proof === name && !holds && !claim.startsWith('Control'));
  const missed = names.filter((name) => !isCaught(name));
  const lines = missed.map((name) => `the proof ${name} does not catch its mutant`);
  return { passed: names.length - missed.length, failed: missed.length, failures: lines, output };
}

async function proofsWithMutant(): Promise<string[]> {
  return (await listProofs()).filter(({ hasMutant }) => hasMutant).map(({ name }) => name);
}

async function listProofs(): Promise<ReadonlyArray<ListedProof & { readonly hasMutant: boolean }>> {
  const { stdout } = await runCommand(process.execPath, ['proofs/prove.ts', '--json'], { timeoutMs: toolTimeoutMs });
  return JSON.parse(stdout);
}

async function prove(...args: string[]): Promise<{ claims: Claim[]; status: number; output: string }> {
  const { status, stdout, output } = await runCommand(process.execPath, ['proofs/prove.ts', ...args, '--json'], {
    timeoutMs: proveTimeoutMs,
  });
  const json = stdout.split('\n').find((line) => line.startsWith('['));
  return { claims: json ? JSON.parse(json) : [], status, output: output.replace(json ?? '', '') };
}
