// An erasure beside everything else that changes an application: one of them wins, nothing is left of the adopter, and none deadlocks.

import { expect, test } from 'vitest';
import { roundsOf } from '../../../../testkit/rounds.ts';
import { testAuthor } from '../../../../testkit/test-author.ts';
import { getBounds } from '../../../src/access/clients/clients.ts';
import {
  eraseApplicant,
  eraseByEmail,
  eraseCompletedWith,
  eraseOldApplicants,
  eraseOrderAndApplicant,
} from '../../../src/adoption/applications/applicants.ts';
import { confirmByAdopter } from '../../../src/adoption/applications/submissions.ts';
import { eraseOldAdopters } from '../../../src/adoption/orders/adopters.ts';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { theService } from '../../../src/domain/actor.ts';
import { AppError } from '../../../src/platform/errors.ts';
import { act, createManager } from '../../adoption-steps.ts';
import { type Applicant, apply as applyWith, findInDump, makeUnconfirmed } from '../../applicant-steps.ts';
import { decide, decideAll, readApplication } from '../../application-steps.ts';
import { addShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const [partner, manager] = [await store.createKey(), await createManager(store)];
const otherShelterId = await addShelter(store);
const journal = () => true;

const roundsEach = roundsOf(8, 32);
const atOnce = 4;
const triesMax = 20;

interface Race {
  readonly before: readonly string[];
  readonly against: (applicant: Applicant) => Promise<{ status: number }>;
}

const orderOf = async ({ id }: Applicant) => (await readApplication(store, manager, id)).orderId ?? 0;
const acts = (action: string) => (applicant: Applicant) => decide(store, manager, applicant.id, action);
const orderActs = (action: string) => async (applicant: Applicant) => act(store, manager, await orderOf(applicant), action);
const move = ({ petId }: Applicant) =>
  store.call('PUT', `/v1/pets/${petId}/shelter`, { key: manager.key, body: { shelterId: otherShelterId } });

const races: Record<string, Race> = {
  accept: { before: ['review'], against: acts('accept') },
  decline: { before: [], against: acts('decline') },
  reopen: { before: ['decline'], against: acts('reopen') },
  withdraw: { before: ['accept'], against: acts('withdraw') },
  'cancel of its order': { before: ['accept'], against: orderActs('cancel') },
  'complete of its order': { before: ['accept'], against: orderActs('complete') },
  'a move of the animal': { before: ['accept'], against: move },
  'a note': {
    before: ['decline'],
    against: ({ id, word }) => store.call('PATCH', `/v1/applications/${id}`, { key: manager.key, body: { note: `late ${word}` } }),
  },
};

/** What a race needs is ready before any of the same round begins. */
async function inRounds<Ready>(prepare: () => Promise<Ready>, run: (ready: Ready) => Promise<void>): Promise<void> {
  for (let done = 0; done < roundsEach; done += atOnce) {
    const ready = await Promise.all(Array.from({ length: atOnce }, prepare));
    await Promise.all(ready.map(run));
  }
}

/** Undefined: it has erased. Otherwise the code of what has forbidden it. It is run again while others keep the database busy. */
async function outcomeOf(erase: () => Promise<unknown>): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      await erase();
      return undefined;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code !== 'unavailable' || tries === triesMax) return error.code;
    }
  }
}

async function expectNoDeadlock(): Promise<void> {
  const rows = await store.read('select deadlocks from pg_stat_database where datname = current_database()');
  expect(rows).toEqual([{ deadlocks: 0n }]);
}

test.each(Object.entries(races))('Erasure of one application against %s', async (name, { before, against }) => {
  const erased: Applicant[] = [];
  const prepare = async () => {
    const applicant = await applyWith(store, { partner, manager });
    await decideAll(store, manager, applicant.id, ...before);
    return applicant;
  };
  await inRounds(prepare, async (applicant) => {
    const [response, outcome] = await Promise.all([
      against(applicant),
      outcomeOf(() => eraseApplicant(store.dependencies, journal, BigInt(applicant.id), 'adopter')),
    ]);
    // 503: it was changed three times meanwhile.
    expect(response.status).toBeOneOf([200, 409, 503]);
    const application = await readApplication(store, manager, applicant.id);
    const isErased = outcome === undefined;
    if (isErased) erased.push(applicant);
    expect(isErased || (name === 'complete of its order' && application.status === 'completed')).toBe(true);
    expect(application.status).not.toBeOneOf(['submitted', 'reviewing', 'accepted']);
  });
  expect(await findInDump(store, ...erased.map(({ word }) => `${word}@`), ...erased.map(({ word }) => `${word}"`))).toEqual([]);
  await expectNoDeadlock();
});

test('Erasure of one application against its confirmation', async () => {
  const applicants: Applicant[] = [];
  const prepare = async () => {
    const applicant = await applyWith(store, { partner, manager });
    applicants.push(applicant);
    await makeUnconfirmed(store, applicant);
    return applicant;
  };
  await inRounds(prepare, async (applicant) => {
    const id = BigInt(applicant.id);
    const confirm = () => db.transaction((tx) => confirmByAdopter(tx, id, getBounds), theService);
    const outcomes = await Promise.all([outcomeOf(confirm), outcomeOf(() => eraseApplicant(store.dependencies, journal, id, 'adopter'))]);
    expect(outcomes[0]).toBeOneOf([undefined, 'application_not_found']);
    expect(outcomes[1]).toBeUndefined();
  });
  expect(await findInDump(store, ...applicants.map(({ word }) => `${word}@`))).toEqual([]);
  await expectNoDeadlock();
});

test('Every kind of erasure at once, against staff and against each other', async () => {
  const applicants: Applicant[] = [];
  const prepare = async () => {
    const applicant = await applyWith(store, { partner, manager });
    const rival = await applyWith(store, { partner, manager }, { petId: applicant.petId });
    applicants.push(applicant, rival);
    await decideAll(store, manager, applicant.id, 'accept');
    await act(store, manager, await orderOf(applicant), 'cancel');
    await decideAll(store, manager, applicant.id, 'reopen', 'accept');
    return { applicant, rival, orderId: BigInt(await orderOf(applicant)) };
  };
  await inRounds(prepare, async ({ applicant, rival, orderId }) => {
    await Promise.all([
      outcomeOf(() => eraseOrderAndApplicant(db, journal, testAuthor, orderId)),
      outcomeOf(() => eraseByEmail(db, journal, testAuthor, applicant.email, 2)),
      outcomeOf(() => eraseApplicant(store.dependencies, journal, BigInt(applicant.id), 'adopter')),
      outcomeOf(() => eraseApplicant(store.dependencies, journal, BigInt(rival.id), 'adopter')),
      orderActs('complete')(applicant),
      acts('decline')(rival),
      outcomeOf(() => eraseOldAdopters(db, journal, { adopterDays: 0, adoptionDays: 0 }, 10, eraseCompletedWith(journal))),
      outcomeOf(() => eraseOldApplicants(db, journal, 0, 10)),
    ]);
  });
  while ((await eraseOldAdopters(db, journal, { adopterDays: 0, adoptionDays: 0 }, 100, eraseCompletedWith(journal))) > 0);
  while ((await eraseOldApplicants(db, journal, 0, 100)) > 0);
  expect(await findInDump(store, ...applicants.map(({ word }) => word))).toEqual([]);
  expect((await verifyHistory(db, () => {})).violation).toBeUndefined();
  await expectNoDeadlock();
});
