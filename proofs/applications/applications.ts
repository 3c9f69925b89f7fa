// Two hundred partners apply for the same animals, and staff choose among their adopters, while the processes that serve are killed at
// random.
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { addAnimals, castOf, generous, queryStore, verify } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { Staff } from '../../testkit/staff.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { grouped, noIllegalTransition, none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { applyFor, decideAsStaff, type Run } from './application-cast.ts';

const processCount = 4;
const applicantsOfAnimal = 10;
const sizes = {
  short: { partners: 20, staff: 10, animals: 40, seconds: 8, killEveryMs: 2_000 },
  long: { partners: 200, staff: 20, animals: 1_000, seconds: 300, killEveryMs: 18_750 },
};
/** Fewer would show nothing. */
const acknowledgedPerSecondMin = 9;
/** What the worker is given for what a killed process has left to it. */
const settledMs = 2_000;

export const applications: Proof = {
  name: 'applications',
  promise: 'an animal is promised to one applicant at a time, no acknowledged act is lost, and nobody waits for an animal that is gone',
  // The mutant accepts whatever the animal's status is, and does not close the applications of a sold animal; the unique index that would
  // reject the second order is dropped, and so are the triggers by which the worker would close them.
  mutant: [
    {
      file: 'adoption/applications/applications.ts',
      from: 'if (!hold?.releases || (await findOrderedPets(tx, [petId])).length > 0) throw notAvailable(pet);',
      to: '',
    },
    {
      file: 'adoption/applications/settling.ts',
      from: "if (status !== 'accepted') return closedBy[petStatus];",
      to: "if (status !== 'accepted') return undefined;",
    },
  ],
  run,
};

async function run({ short, mutant, root, progress }: ProofContext): Promise<Claim[]> {
  const size = sizes[short ? 'short' : 'long'];
  await using store = await Store.open({ processes: processCount, root, env: { LOG_LEVEL: 'warn' } });
  if (mutant) {
    await queryStore(store, 'drop index orders_one_open_per_pet');
    await queryStore(store, 'drop trigger pet_settles_applications on pets');
  }
  store.work();
  const { manager, partners } = await castOf(store, size.partners);
  const staff = await hire(store, size.staff);
  const run: Run = {
    animals: await addAnimals(store, manager, size.animals),
    endsAtMs: Date.now() + size.seconds * 1_000,
    acknowledged: [],
    failures: new Map(),
    live: [...store.processes],
    requests: 0,
    waits: 0,
    kills: 0,
  };
  const shares = run.animals.flatMap((petId) => Array.from({ length: applicantsOfAnimal }, (_, adopter) => ({ petId, adopter })));
  using http = new HttpClient(size.partners + size.staff);
  const ticker = setInterval(() => progress(`${run.requests} requests, ${run.acknowledged.length} acts, ${run.kills} kills`), 500);
  await Promise.all([
    killAtRandom(store, run, size.killEveryMs),
    ...partners.map((key, index) => {
      const share = shares.filter((_, i) => i % partners.length === index);
      return applyFor(http, key, share, run);
    }),
    ...staff.map((key) => decideAsStaff(http, key, run)),
  ]);
  clearInterval(ticker);
  await sleep(settledMs);
  const cast = `${size.partners} partners, ${size.staff} staff, ${grouped(size.animals)} animals, ${processCount} processes, ${run.kills} of them killed, ${grouped(run.requests)} requests`;
  return await judge(store, run, cast, size.seconds);
}

/** Each with a client of its own; half of them are bound to the shelter. */
async function hire(store: Store, count: number): Promise<Key[]> {
  await using staff = await Staff.of(store);
  const keys: Key[] = [];
  for (let i = 0; i < count; i += 1)
    keys.push(
      await staff.createKey(`staff ${i}`, generous, [
        'pets:read',
        'orders:read',
        'orders:write',
        i % 2 ? 'store:manage' : 'shelter:manage',
      ]),
    );
  return keys;
}

/** However long it takes until another process has started. */
async function killAtRandom(store: Store, run: Run, everyMs: number): Promise<void> {
  const starting: Promise<void>[] = [];
  const start = async () => {
    run.live = [...run.live, await store.serve()];
  };
  for (let nextAtMs = Date.now() + everyMs / 2; nextAtMs < run.endsAtMs; nextAtMs += everyMs) {
    await sleep(nextAtMs - Date.now() + randomInt(everyMs / 2));
    const victim = run.live.length > 1 ? run.live[randomInt(run.live.length)] : undefined;
    if (!victim) continue;
    run.live = run.live.filter((one) => one !== victim);
    victim.child.kill('SIGKILL');
    run.kills += 1;
    starting.push(start());
  }
  await Promise.all(starting);
}

async function judge(store: Store, run: Run, cast: string, seconds: number): Promise<Claim[]> {
  // Ids are given under the animal's lock, so in the order of the acts.
  const [twice] = await queryStore<{ animals: number }>(
    store,
    `select count(distinct pet_id)::int as animals from (
      select pet_id, sum(case when to_status = 'accepted' then 1 when from_status = 'accepted' then -1 else 0 end)
        over (partition by pet_id order by application_history.id) as promised
      from application_history join applications on applications.id = application_id) as promises where promised > 1`,
  );
  const [waiting] = await queryStore<{ count: number }>(
    store,
    `select count(*)::int as count from applications join pets on pets.id = pet_id
      where applications.status in ('submitted', 'reviewing', 'accepted') and pets.status = 'sold'`,
  );
  const [ended] = await queryStore<{ adoptions: number; deadlocks: number }>(
    store,
    `select (select count(*)::int from application_history where to_status = 'completed') as adoptions,
      (select deadlocks::int from pg_stat_database where datname = current_database()) as deadlocks`,
  );
  const lost = await countLost(store, run);
  const busy = run.acknowledged.length > acknowledgedPerSecondMin * seconds && run.kills > 0 && (ended?.adoptions ?? 0) > 0;
  return [
    none(`Animals that were promised to two applicants at once (${cast})`, twice?.animals ?? Number.NaN),
    none('Acts that were acknowledged and are not in the history', lost, { of: run.acknowledged.length, control: busy }),
    none('Open applications for a sold animal', waiting?.count ?? Number.NaN, {
      more: `, after ${grouped(ended?.adoptions ?? 0)} adoptions`,
    }),
    failuresClaim(run, ended?.deadlocks ?? Number.NaN),
    noIllegalTransition(await verify(store)),
  ];
}

/** An act that was done several times has as many rows: a reopened application may be declined again. */
async function countLost(store: Store, { acknowledged }: Run): Promise<number> {
  const [row] = await queryStore<{ lost: number }>(
    store,
    `with acts as (select act ->> 'of' as of, (act ->> 'id')::bigint as id, act ->> 'to' as to_status, (act ->> 'keyId')::bigint as key_id, count(*) as times
        from json_array_elements($1) as act group by 1, 2, 3, 4),
      done as (select 'application' as of, application_id as id, to_status, key_id, count(*) as times from application_history group by 1, 2, 3, 4
        union all select 'order', order_id, to_status, key_id, count(*) from history where order_id is not null group by 1, 2, 3, 4)
      select coalesce(sum(acts.times - coalesce(done.times, 0)), 0)::int as lost
      from acts left join done using (of, id, to_status, key_id) where acts.times > coalesce(done.times, 0)`,
    [JSON.stringify(acknowledged)],
  );
  return row?.lost ?? Number.NaN;
}

function failuresClaim({ failures, waits, requests }: Run, deadlocks: number): Claim {
  const count = [...failures.values()].reduce((sum, one) => sum + one, 0);
  const shown = [...failures].map(([what, times]) => `${times} × ${what}`).join(', ');
  return {
    claim: 'Responses of 5xx that do not say when to retry; deadlocks in PostgreSQL',
    bar: '0; 0',
    figure: `${grouped(count)}${shown && ` (${shown})`}; ${deadlocks}; told to retry ${grouped(waits)} of ${grouped(requests)} times`,
    holds: count === 0 && deadlocks === 0,
  };
}
