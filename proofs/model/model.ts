// Random requests, valid and hostile, each answered as a model of the store and of the limiter says, and as the document does.
import fc from 'fast-check';
import { HttpClient } from '../../testkit/http.ts';
import { plantMutant } from '../../testkit/mutant.ts';
import { Staff } from '../../testkit/staff.ts';
import { Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { redisOutages } from '../redis-outages.ts';
import { Callers } from './model-callers.ts';
import { ModelRun } from './model-run.ts';
import { step } from './model-steps.ts';
import { createOpenApiCheck } from './openapi-check.ts';

/** A minute of the store is six seconds: the limits are met, and begin anew, several times. */
const clockRate = 10;
const windowMs = 60_000 / clockRate;
const stepsPerRun = 100;
/** An answer that took this long may have missed the deadline within which Redis must decide. */
const lateMs = 45;
const forgivenMax = 0.05;

export const model: Proof = {
  name: 'model',
  promise: 'every answer is the one that a model of the store and the limiter predicts, and one that openapi.json describes',
  hasMutant: true,
  run,
};

async function run({ short, mutant, progress }: ProofContext): Promise<Claim[]> {
  // The mutant begins each page with the last animal of the page before.
  using tree = mutant
    ? plantMutant([
        { file: 'pets/pet-queries.ts', from: 'id > $1 order by id limit $2`, values', to: 'id >= $1 order by id limit $2`, values' },
      ])
    : undefined;
  const seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2 ** 31);
  const runs = (short ? 2_000 : 20_000) / stepsPerRun;
  await using store = await Store.open({ processes: 2, clockRate, root: tree?.root });
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  const urls = store.processes.map(({ url }) => url);
  const document = JSON.parse((await http.send(new URL('/openapi.json', urls[0]).href)).text);
  let lastLateMs = 0;
  const modelRun = new ModelRun({
    http,
    urls,
    callers: await Callers.enrol(staff),
    check: createOpenApiCheck(document),
    now: () => store.now(),
    wasDisturbed: (sinceMs) => {
      const from = sinceMs - windowMs;
      if (Date.now() - sinceMs > lateMs) lastLateMs = Date.now();
      return lastLateMs > from || redisOutages(store).some(({ toMs }) => toMs > from);
    },
  });
  const property = fc.asyncProperty(fc.array(step, { minLength: stepsPerRun, maxLength: stepsPerRun, size: 'max' }), async (steps) => {
    for (const one of steps) {
      const startMs = Date.now();
      await modelRun.take(one);
      if (Date.now() - startMs > lateMs) lastLateMs = Date.now();
    }
    progress(`${modelRun.steps} steps, seed ${seed}`);
  });
  // The store goes on from run to run, so there is no smaller example to look for: a seed repeats the whole.
  const result = await fc.check(property, { seed, numRuns: runs, endOnFailure: true });
  return judge(modelRun, runs * stepsPerRun, seed, result.failed ? String(result.errorInstance) : undefined);
}

function judge(
  { steps, animals, orders, forgiven, statuses }: ModelRun,
  stepsMin: number,
  seed: number,
  failure: string | undefined,
): Claim[] {
  const counts = [...statuses].sort(([a], [b]) => a - b);
  const fives = counts.filter(([status]) => status >= 500).reduce((sum, [, count]) => sum + count, 0);
  return [
    {
      claim:
        'Random requests, valid and hostile, one after another over two processes, that are answered as the model and the document say',
      bar: `all of ${stepsMin}`,
      figure: `${failure ? steps - 1 : steps}, with ${animals} animals made and ${orders} ordered, by the seed ${seed} (MODEL_SEED repeats it)${failure ? `; then ${failure}` : ''}`,
      holds: !failure && steps >= stepsMin,
    },
    {
      claim: 'Answers of 5xx among them',
      bar: '0',
      figure: `${fives} (${counts.map(([status, count]) => `${count} × ${status}`).join(', ')})`,
      holds: fives === 0,
    },
    {
      claim: 'Answers whose limits were not looked at, since Redis was late',
      bar: `at most ${forgivenMax * 100} %`,
      figure: String(forgiven),
      holds: forgiven <= steps * forgivenMax,
      isTimed: true,
    },
  ];
}
