// An animal on television: a thousand orders for it at once, beside orders for other animals.
import { setTimeout as sleep } from 'node:timers/promises';
import { addAnimals, castOf, place, verify } from '../../testkit/adopters.ts';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { quantile } from '../../testkit/quantile.ts';
import { loadFor, type Sample } from '../../testkit/steady-load.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { every, grouped, noIllegalTransition } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { type Outcomes, RushThread } from './rush-thread.ts';

const processCount = 4;
/** Clients whose orders are for the wanted animal, and others. */
const fans = 40;
const othersCount = 10;
const othersPerSecond = 20;
/** A phase without the rush, one with it, and one with as many lists. */
const phaseMs = 2_000;
/** How long staff have the row of the animal locked, in rounds of their own. Longer than a request waits for a connection. */
const editMs = 800;

export const wantedAnimal: Proof = {
  name: 'wanted-animal',
  promise: 'a rush for one animal has one winner, and is no overload: neither for those who lose nor for orders of other animals',
  // The mutant lets every order into a transaction at once, where it waits for the animal's lock.
  mutant: [
    {
      file: 'animals/pets/rush-gate.ts',
      from: 'return await this.#clients.run(clientId, () => gate.turns.run(clientId, enter));',
      to: 'return await work();',
    },
  ],
  isNightly: true,
  about: ['service/src/adoption/orders', 'service/src/animals/pets', 'proofs/wanted-animal'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: processCount, root, env: { LOG_LEVEL: 'warn' } });
  const { manager, partners } = await castOf(store, fans + othersCount);
  const urls = store.processes.map(({ url }) => url);
  const rushSize = short ? 200 : 1_000;
  await using rush = new RushThread({ urls, keys: partners.slice(0, fans), size: rushSize });
  const rounds = short ? 3 : 20;
  const edits = short ? 1 : 5;
  const [first = 0, ...wanted] = await addAnimals(store, manager, 1 + rounds + edits);
  progress('warming up');
  await rush.order(first);
  const ordersOfPhase = Math.ceil((phaseMs / 1_000) * othersPerSecond) + 2;
  const animals = await addAnimals(store, manager, (3 * rounds + edits) * ordersOfPhase);
  using http = new HttpClient(256);
  const placeOthers = orderOthers(http, urls, partners.slice(fans), animals);

  const outcomes: Outcomes[] = [];
  const [quiet, beside, besideLists]: [Sample[], Sample[], Sample[]] = [[], [], []];
  for (const [round, petId] of wanted.slice(0, rounds).entries()) {
    progress(`round ${round + 1} of ${rounds}`);
    quiet.push(...(await placeOthers()));
    const [outcome, samples] = await Promise.all([rush.order(petId), placeOthers()]);
    outcomes.push(outcome);
    beside.push(...samples);
    if (!short) besideLists.push(...(await Promise.all([placeOthers(), rush.list()]))[0]);
  }
  const edited: Outcomes[] = [];
  const besideEdits: Sample[] = [];
  for (const petId of wanted.slice(rounds)) {
    progress('while staff edit the animal');
    const [outcome, samples] = await Promise.all([orderDuringEdit(store, rush, petId), placeOthers()]);
    edited.push(outcome);
    besideEdits.push(...samples);
  }
  return [
    rushClaim(`${rounds} rounds of ${grouped(rushSize)} orders at once for one animal over ${processCount} processes`, rushSize, outcomes),
    rushClaim(`${edits} rounds in which staff have the animal locked for ${editMs} ms`, rushSize, edited),
    othersClaim([...beside, ...besideEdits]),
    ...(short ? [] : [latencyClaim(quiet, beside, besideLists)]),
    noIllegalTransition(await verify(store)),
  ];
}

/** Places orders for animals that nobody else wants, one phase each time that it is called. */
function orderOthers(http: HttpClient, urls: readonly string[], keys: readonly Key[], animals: readonly number[]) {
  let next = 0;
  const order = async (index: number): Promise<Response> => {
    const petId = animals[next++];
    if (petId === undefined) throw new Error('there are too few animals');
    return place(http, urls[index % urls.length] ?? '', keys[index % keys.length] as Key, petId);
  };
  return () => loadFor(phaseMs, othersPerSecond, order);
}

async function orderDuringEdit(store: Store, rush: RushThread, petId: number): Promise<Outcomes> {
  await using staff = await connectTo(store.postgres.url);
  await staff.query('begin');
  await staff.query('select from pets where id = $1 for update', [petId]);
  const ordered = rush.order(petId);
  await sleep(editMs);
  await staff.query('commit');
  return await ordered;
}

function rushClaim(claim: string, size: number, rounds: readonly Outcomes[]): Claim {
  const total: Record<string, number> = {};
  for (const round of rounds) for (const [outcome, count] of Object.entries(round)) total[outcome] = (total[outcome] ?? 0) + count;
  const isRight = (round: Outcomes) => round['201'] === 1 && round['409 pet_not_available'] === size - 1;
  return {
    claim: `${claim}: one is 201 and the others are 409 pet_not_available`,
    bar: 'every round',
    figure: `${rounds.filter(isRight).length} of ${rounds.length}; ${Object.entries(total)
      .map(([outcome, count]) => `${grouped(count)} × ${outcome}`)
      .join(', ')}`,
    holds: rounds.length > 0 && rounds.every(isRight),
  };
}

function othersClaim(samples: readonly Sample[]): Claim {
  const placed = samples.filter(({ response }) => response?.status === 201).length;
  return every(`Orders for other animals meanwhile, ${othersPerSecond} a second, that are 201`, placed, samples.length);
}

/** Requests that come at once wait for the processors, whatever they are. So it is compared with as many cached lists too. */
function latencyClaim(quiet: readonly Sample[], beside: readonly Sample[], besideLists: readonly Sample[]): Claim {
  const [without, withRush, withLists] = [quiet, beside, besideLists].map((samples) =>
    quantile(
      samples.map(({ tookMs }) => tookMs),
      0.99,
    ),
  ) as [number, number, number];
  return {
    claim: 'Time that orders for other animals take, at p99, in phases with a rush',
    bar: 'at most twice as long as in the phases without one',
    figure: `${withRush.toFixed(1)} ms compared to ${without.toFixed(1)} ms, ${(withRush / without).toFixed(2)} times; with as many cached lists at once ${withLists.toFixed(1)} ms`,
    holds: withRush <= 2 * without,
    isTimed: true,
    isKnownMiss: withRush <= 2 * withLists,
  };
}
