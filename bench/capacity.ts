// What a load costs, predicted and measured: npm run bench -- capacity [LOAD…] [--measure] [--seconds N] [--json]
import { parseArgs } from 'node:util';
import { MissingServer } from '../testkit/servers.ts';
import { measureCosts } from './capacity-costs.ts';
import { readFacts } from './capacity-facts.ts';
import { compare } from './capacity-measure.ts';
import { type Load, predict } from './capacity-model.ts';
import {
  areCostsClose,
  compareCosts,
  fields,
  holds,
  names,
  printComparison,
  printCosts,
  printPredictions,
  rounded,
  shares,
} from './capacity-report.ts';

/** The world's shelters at peak; docs/scale.md says where the estimate comes from. */
const world: Load = {
  writes: 25,
  applications: 40,
  photos: 25,
  pictures: 1_000,
  clients: 100_000,
  keys: 100_000,
  requests: 35_000,
  searches: 0.1,
  pages: 1_000,
  touched: 0.01,
  searched: 5_000,
  searchTouched: 0.01,
  shelters: 100_000,
  endpoints: 100_000,
  unfiltered: 10,
  processes: 16,
};
/** Small enough for two cores that also generate the load. A write changes one animal, and so one page. */
const small: Load = {
  writes: 5,
  applications: 0,
  photos: 0,
  pictures: 0,
  clients: 100,
  keys: 300,
  requests: 200,
  searches: 0,
  pages: 40,
  touched: 1 / 40,
  searched: 1,
  searchTouched: 0,
  shelters: 1,
  endpoints: 0,
  unfiltered: 0,
  processes: 2,
};
const multiples = [1, 10, 100];
const secondsMax = 3_600;

const { values } = parseArgs({
  options: {
    ...Object.fromEntries(names.map((name) => [name, { type: 'string' }] as const)),
    measure: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '60' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const given = values as Partial<Record<keyof Load, string>>;
const isGiven = names.some((name) => given[name] !== undefined);

process.exitCode = await main();

async function main(): Promise<number> {
  if (values.help) {
    printUsage();
    return 0;
  }
  const measures = values.measure || !isGiven;
  const base = values.measure ? small : world;
  const load = readLoad(base);
  const seconds = Number(values.seconds);
  if (!load || !(Number.isInteger(seconds) && seconds >= 1 && seconds <= secondsMax)) {
    printUsage();
    return 2;
  }
  const facts = readFacts();
  const predicted = isGiven ? [load] : multiples.map((factor) => multiply(world, factor));
  if (!values.measure) printPredictions(predicted, facts);
  try {
    const comparison = measures ? await compare(values.measure ? load : small, facts, seconds) : undefined;
    if (comparison) printComparison(comparison);
    const measured = measures ? await measureCosts((text) => console.error(text)) : undefined;
    const costs = measured && compareCosts(measured, facts);
    if (costs) printCosts(costs);
    if (values.json) {
      const predictions = predicted.map((one) => ({ load: one, ...predict(one, facts) }));
      console.log(
        JSON.stringify({ facts, predictions, comparison, costs }, (_, value) => (typeof value === 'number' ? rounded(value) : value)),
      );
    }
    return (comparison && !holds(comparison)) || (costs && !areCostsClose(costs)) ? 1 : 0;
  } catch (error) {
    console.error(error instanceof MissingServer ? error.message : error);
    return 1;
  }
}

function readLoad(base: Load): Load | undefined {
  const load: Record<keyof Load, number> = { ...base };
  for (const name of names) {
    if (given[name] === undefined) continue;
    const value = Number(given[name]);
    const isFraction = shares.includes(name);
    if (
      !(value >= 0 && value <= (isFraction ? 1 : 1e9)) ||
      (['clients', 'keys', 'pages', 'searched', 'shelters', 'processes'].includes(name) && value < 1)
    ) {
      console.error(`--${name} must be a number${isFraction ? ' from 0 to 1' : ''}; got "${given[name]}".\n`);
      return undefined;
    }
    load[name] = value;
  }
  // In the measured store every animal is on one page, and a write changes one animal.
  if (values.measure) load.touched = 1 / load.pages;
  return load;
}

/** The same behaviour of more clients. A write then changes the same number of pages, which is a smaller share of them. */
function multiply(load: Load, factor: number): Load {
  const more = Object.fromEntries(names.map((name) => [name, load[name] * factor])) as unknown as Load;
  const { touched, searchTouched, searches } = load;
  return { ...more, touched: touched / factor, searchTouched: searchTouched / factor, searches };
}

function printUsage(): void {
  console.log('Usage: npm run bench -- capacity [LOAD…] [--measure] [--seconds N] [--json]\n');
  console.log(
    'Without a load: predicts what multiples of the world cost, and compares the prediction for a small load with a measurement.',
  );
  console.log('With a load: predicts what it costs; with --measure, compares that with a measurement. Exit status 1 if they differ.\n');
  for (const name of names) {
    console.log(`  ${`--${name} N`.padEnd(15)} ${fields[name]} (${rounded(world[name])}; with --measure ${rounded(small[name])})`);
  }
  console.log('  --measure       starts a store, and sends it this load for --seconds (60)');
  console.log('  --json          prints all numbers as the last line');
}
