// Random requests, valid and hostile: each must get the response that a model of the store and the limiter predicts, as openapi.json describes it.
import fc from 'fast-check';
import { HttpClient } from '../../testkit/http.ts';
import { Staff } from '../../testkit/staff.ts';
import { Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { redisOutages } from '../redis-outages.ts';
import { Callers } from './model-callers.ts';
import { ModelRun } from './model-run.ts';
import { step } from './model-steps.ts';
import { createOpenApiCheck } from './openapi-check.ts';

/** A minute on the store's clock takes six seconds, so the limits are used up and reset several times. */
const clockRate = 10;
const windowMs = 60_000 / clockRate;
const stepsPerRun = 100;
/** If a response took this long, Redis may have missed the limiter's deadline. */
const lateMs = 45;
const uncheckedMax = 0.05;

export const model: Proof = {
  name: 'model',
  promise: 'every response is the one that a model of the store and the limiter predicts, and one that openapi.json describes',
  // The mutant starts each page with the last animal of the previous page.
  mutant: [
    { file: 'animals/pets/pet-queries.ts', from: 'id > $1 order by id limit $2`, values', to: 'id >= $1 order by id limit $2`, values' },
  ],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2 ** 31);
  const runs = (short ? 2_000 : 20_000) / stepsPerRun;
  await using store = await Store.open({ processes: 2, clockRate, root });
  await using staff = await Staff.of(store);
  using http = new HttpClient();
  const urls = store.processes.map(({ url }) => url);
  const document = JSON.parse((await http.send(new URL('/openapi.json', urls[0]).href)).text);
  let lastLateMs = 0;
  const modelRun = new ModelRun({
    http,
    urls,
    callers: await Callers.create(staff),
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
      // A revocation waits until every process has seen it.
      if (one.action.kind !== 'revoke' && Date.now() - startMs > lateMs) lastLateMs = Date.now();
    }
    progress(`${modelRun.steps} steps, seed ${seed}`);
  });
  // The store's state carries over from run to run, so shrinking is off: the seed reproduces the whole sequence.
  const result = await fc.check(property, { seed, numRuns: runs, endOnFailure: true });
  return judge(modelRun, runs * stepsPerRun, seed, result.failed ? String(result.errorInstance) : undefined);
}

function judge(
  { steps, animals, orders, unchecked, statuses }: ModelRun,
  stepsMin: number,
  seed: number,
  failure: string | undefined,
): Claim[] {
  const counts = [...statuses].sort(([a], [b]) => a - b);
  const fives = counts.filter(([status]) => status >= 500).reduce((sum, [, count]) => sum + count, 0);
  return [
    {
      claim:
        'Random requests, valid and hostile, one after another to two processes, that get the response that the model predicts and openapi.json describes',
      bar: `all of ${stepsMin}`,
      figure: `${failure ? steps - 1 : steps}, with ${animals} animals added and ${orders} ordered, with seed ${seed} (set MODEL_SEED to reproduce it)${failure ? `; then ${failure}` : ''}`,
      holds: !failure && steps >= stepsMin,
    },
    {
      claim: '5xx responses among them',
      bar: '0',
      figure: `${fives} (${counts.map(([status, count]) => `${count} × ${status}`).join(', ')})`,
      holds: fives === 0,
    },
    {
      claim: 'Responses whose limits were not checked, because Redis was late',
      bar: `at most ${uncheckedMax * 100} %`,
      figure: String(unchecked),
      holds: unchecked <= steps * uncheckedMax,
      isTimed: true,
    },
  ];
}
