// Speed compared to bare Fastify and node:http and to peers: npm run bench -- [SCENARIO…] [--seconds N] [--rounds N] [--save] [--json]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { MissingServer } from '../testkit/servers.ts';
import { checkAgreement, responsesOf } from './agreement.ts';
import { Contenders } from './contenders.ts';
import { withCpu } from './cpu.ts';
import { describeMachine } from './machine.ts';
import { type Page, writeRequests } from './mix.ts';
import { pgbench } from './pgbench.ts';
import { printTable, save, toJson } from './report.ts';
import { installPeers, MissingTool, requireTools } from './requirements.ts';
import { type Measure, runRounds } from './rounds.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { type ScenarioResult, summarise } from './summary.ts';
import { runWrk } from './wrk.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    save: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const progress = (text: string) => void (process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`));

process.exitCode = await main();

async function main(): Promise<number> {
  const unknown = positionals.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (values.help || unknown !== undefined) {
    if (unknown !== undefined) console.error(`There is no scenario "${unknown}".`);
    printUsage();
    return unknown === undefined ? 0 : 2;
  }
  const seconds = readCount('seconds', 3_600);
  const rounds = readCount('rounds', 1_000);
  if (seconds === undefined || rounds === undefined) return 2;
  try {
    await measureAll(chosen(), seconds, rounds);
    return 0;
  } catch (error) {
    progress('');
    const expected = error instanceof MissingTool || error instanceof MissingServer;
    console.error(expected ? error.message : error);
    return 1;
  }
}

/** In the order of `scenarios`, whatever the order of the arguments: the one that writes comes last. */
function chosen(): Scenario[] {
  const named = positionals.length === 0 ? [...scenarios] : scenarios.filter(({ name }) => positionals.includes(name));
  const missing = named.filter((scenario) => scenario.missing() !== undefined);
  for (const scenario of missing) console.error(`${scenario.name} is skipped: ${scenario.missing()}`);
  const left = missing.filter(({ name }) => positionals.includes(name));
  if (left.length > 0) throw new MissingTool(`${left.map(({ name }) => name).join(', ')} can't be measured.`);
  return named.filter((scenario) => !missing.includes(scenario));
}

async function measureAll(chosen: readonly Scenario[], seconds: number, rounds: number): Promise<void> {
  requireTools();
  await installPeers();
  const folder = mkdtempSync(path.join(tmpdir(), 'homeward-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  progress('starting PostgreSQL, Redis and Homeward');
  await using contenders = await Contenders.open(folder);
  const results: ScenarioResult[] = [];
  for (const scenario of chosen) {
    const result = await measureScenario(contenders, scenario, { seconds, rounds, folder });
    results.push(result);
    progress('');
    printTable(result);
  }
  const machine = await describeMachine(contenders.store);
  if (values.save) save(results, machine);
  if (values.json) console.log(JSON.stringify(toJson(results, machine)));
}

async function measureScenario(
  contenders: Contenders,
  scenario: Scenario,
  { seconds, rounds, folder }: { seconds: number; rounds: number; folder: string },
): Promise<ScenarioResult> {
  const say = (text: string) => progress(`${scenario.name}: ${text}`);
  const { keys, pages } = contenders;
  const requestsFile = path.join(folder, `${scenario.name}.requests`);
  writeRequests(requestsFile, { keys, pages, load: scenario.load });
  const measures = new Map<string, Measure>();
  const origins = new Map<string, string>();
  for (const name of scenario.contenders) {
    say(`starting ${name}`);
    if (name === 'pgbench') {
      measures.set(name, withCpu(await pgbench(contenders.store, { keys, folder }), contenders.store));
      continue;
    }
    const { origin, pid } = await contenders.get(name);
    origins.set(name, origin);
    measures.set(
      name,
      withCpu((forSeconds) => runWrk(origin, requestsFile, forSeconds), contenders.store, pid),
    );
  }
  const agree = (when: string) => checkAll(scenario, origins, { pages, key: keys[0]?.key ?? '', say, when });
  await agree('before');
  contenders.takeWarnings();
  const measured = await runRounds(measures, { rounds, seconds, progress: say });
  // Checked again at the end: nothing in between could have changed the responses and then restored them.
  await agree('after');
  return summarise(scenario, measured, { seconds, rounds, warnings: contenders.takeWarnings() });
}

async function checkAll(
  scenario: Scenario,
  origins: ReadonlyMap<string, string>,
  { pages, key, say, when }: { pages: readonly Page[]; key: string; say: (text: string) => void; when: string },
): Promise<void> {
  for (const [name, origin] of origins) {
    say(`comparing the responses of ${name}, ${when} the rounds`);
    checkAgreement(name, scenario.load, pages, await responsesOf(origin, { load: scenario.load, pages, key }));
  }
}

function readCount(name: 'seconds' | 'rounds', max: number): number | undefined {
  const count = Number(values[name]);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  console.error(`--${name} must be an integer from 1 to ${max}; got "${values[name]}".`);
  return undefined;
}

function printUsage(): void {
  console.log('Usage: npm run bench -- [SCENARIO…] [--seconds N] [--rounds N] [--save] [--json]\n');
  for (const { name, about } of scenarios) console.log(`  ${name.padEnd(14)} ${about}`);
  console.log('\n  --seconds N    duration of the load on each contender in a round (5)');
  console.log('  --rounds N     number of rounds, in each of which every contender takes a turn (5)');
  console.log('  --save         writes figures to docs/figures');
  console.log('  --json         prints all numbers as the last line');
  console.log('\nMeasurements of Homeward alone, each also with --json:\n');
  console.log('  size [--sizes N,…]    latency of requests to a store of ten thousand and of a hundred million animals');
  console.log('  listings [--sizes N,…] latency of searches in a store of ten thousand and of a million animals');
  console.log('  listings-cached       cached pages of listings beside cached pages of animals');
  console.log('  words                 searches with misspelt words beside millions of hostile ones');
  console.log('  writes --base REV     what adding an animal and ordering it cost PostgreSQL, compared to a git revision');
  console.log('  memory [--minutes N]  memory of one process under full load');
  console.log("  cost --base REV       CPU time of the service's process per request, compared to a git revision");
  console.log("  connections           CPU time of the service's process at 1, 4, 16 and 64 connections, for one client and for many");
  console.log('  telemetry --base REV  what metrics and traces cost a cached list, compared to a git revision');
  console.log('  list --mix [--base REV] CPU time for a list under a mix of quiet and busy clients');
  console.log('  capacity              what a load costs, predicted and measured');
}
