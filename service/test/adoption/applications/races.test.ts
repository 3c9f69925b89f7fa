// Two or more act on one animal at once: one of them wins, nobody waits for ever, and nothing is left that contradicts itself. More
// rounds: ROUNDS=10000 npm test -- service/test/adoption/applications/races.test.ts
import { afterAll, describe, expect, test } from 'vitest';
import { planBounds } from '../../../src/access/rate-limit/plans.ts';
import { eraseApplicant } from '../../../src/adoption/applications/applicants.ts';
import { rerunning } from '../../../src/adoption/applications/application-errors.ts';
import { withdrawByAdopter } from '../../../src/adoption/applications/applications.ts';
import { deleteUnconfirmedApplications } from '../../../src/adoption/applications/settling.ts';
import { confirmByAdopter } from '../../../src/adoption/applications/submissions.ts';
import { movePetToShelter } from '../../../src/adoption/shelters/moves.ts';
import { theService } from '../../../src/domain/actor.ts';
import { AppError } from '../../../src/platform/errors.ts';
import { act, adopterOf } from '../../adoption-steps.ts';
import { fair, outcomeOf, poolSize, Races, type Round, raceTimeoutMs } from '../../application-races.ts';
import { apply, decide } from '../../application-steps.ts';
import { addShelter, createShelterKey } from '../../shelter-steps.ts';
import { openTestStore, type TestKey } from '../../test-store.ts';

const store = await openTestStore({ env: { HOMEWARD_POOL_SIZE: String(poolSize) } });
const races = await Races.open(store);
const { partner, manager } = races;
const { db, catalogue } = store.dependencies;
const second = await store.createKey();
const other = await addShelter(store);
const staff = await createShelterKey(store, 1);
afterAll(() => races.stop());

const decides =
  (name: string, index = 0, key = manager) =>
  async ({ applications }: Round) =>
    outcomeOf(await decide(store, key, applications[index] ?? 0, name));
const acts =
  (name: string) =>
  async ({ orderId }: Round) =>
    outcomeOf(await act(store, manager, orderId, name));
const orders = async ({ petId }: Round) =>
  outcomeOf(await store.call('POST', '/v1/store/orders', { key: partner.key, body: { petId, adopter: adopterOf(petId) } }));
const sells = async ({ petId }: Round) =>
  outcomeOf(await store.call('PATCH', `/v1/pets/${petId}`, { key: manager.key, body: { status: 'sold' } }));
const removes = async ({ petId }: Round) => outcomeOf(await store.call('DELETE', `/v1/pets/${petId}`, { key: manager.key }));
/** For the adopter of the application with this index. */
const applies =
  (index: number, key: TestKey = partner) =>
  async ({ petId }: Round) =>
    outcomeOf(await apply(store, key, petId, { adopter: { name: 'Ada', email: `ada.${petId}.${index + 1}@example.org` } }));
const operates =
  (operation: (round: Round) => Promise<unknown>) =>
  async (round: Round): Promise<string> =>
    operation(round).then(
      () => '200',
      (error) => (error instanceof AppError ? (error.status < 500 ? error.code : `${error.status} ${error.message}`) : String(error)),
    );
const moves = operates(({ petId }) => movePetToShelter({ db, catalogue }, BigInt(petId), BigInt(other), theService));
const confirms = operates(({ applications: [id = 0] }) =>
  rerunning(db).transaction((tx) => confirmByAdopter(tx, BigInt(id), async () => planBounds.enterprise), theService),
);
const adopterWithdraws = operates(({ applications: [id = 0] }) =>
  rerunning(catalogue).transaction((tx) => withdrawByAdopter(tx, BigInt(id)), theService),
);
const erases = operates(({ applications: [id = 0] }) => eraseApplicant({ db, catalogue }, () => true, BigInt(id), 'adopter'));
/** The oldest one, so that it does not delete those of other rounds. */
const deletes = operates(() => deleteUnconfirmedApplications(db, 1));

/** The worker's job runs beside every race. */
const expires = operates(({ petId }) => store.write(`update orders set expires_at = now() where pet_id = $1 and status = 'placed'`, petId));

const unconfirmed = `update applications set status = 'unconfirmed' where pet_id = any($1);
  delete from application_history where application_id in (select id from applications where pet_id = any($1))`;
const oldUnconfirmed = `${unconfirmed}; update applications set created_at = now() - interval '80 hours' - pet_id * interval '1 second' where pet_id = any($1)`;

const isOneOf = (outcomes: readonly string[], ...allowed: string[]) => outcomes.every((one) => allowed.includes(one));
const wins = (outcomes: readonly string[]) => outcomes.filter((one) => one.startsWith('20')).length;
/** Honest: the order of the animal is being changed, and who moves the animal must wait. */
const isInTheWay = (outcome: string | undefined) => /^503 An order of .* is being changed\. Retry in 1 s\.$/.test(outcome ?? '');

describe('Staff accept an application', { timeout: raceTimeoutMs }, () => {
  test('while they accept another: one is accepted', async () => {
    expect(
      await races.run({
        applications: [[], []],
        contenders: [decides('accept', 0), decides('accept', 1)],
        isRight: (outcomes, { pet, applications, orders }) =>
          wins(outcomes) === 1 &&
          isOneOf(outcomes, '200', 'pet_not_available') &&
          applications[outcomes.indexOf('200')] === 'accepted' &&
          applications[1 - outcomes.indexOf('200')] === 'submitted' &&
          `${pet} ${orders}` === 'pending approved',
      }),
    ).toEqual(fair);
  });

  test.each([
    ['the client withdraws it', decides('withdraw', 0, partner)],
    ['the adopter withdraws it', adopterWithdraws],
    ['the adopter has their data erased from it', erases],
  ])('while %s: it is withdrawn, and its order cancelled if there was one', async (_, withdraws) => {
    expect(
      await races.run({
        applications: [[]],
        contenders: [decides('accept'), withdraws],
        isRight: ([accept = '', withdraw = ''], { pet, applications, orders }) =>
          withdraw === '200' &&
          isOneOf([accept], '200', 'application_state_conflict') &&
          `${pet} ${applications} ${orders}` === `available withdrawn ${accept === '200' ? 'cancelled' : ''}`,
      }),
    ).toEqual(fair);
  });

  test('while they decline it and review it: it is accepted or declined', async () => {
    expect(
      await races.run({
        applications: [[]],
        contenders: [decides('accept'), decides('decline'), decides('review')],
        isRight: ([accept = '', decline = '', review = ''], { pet, applications }) =>
          wins([accept, decline]) === 1 &&
          isOneOf([accept, decline, review], '200', 'application_state_conflict') &&
          `${pet} ${applications}` === (accept === '200' ? 'pending accepted' : 'available declined'),
      }),
    ).toEqual(fair);
  });

  test("while a partner orders the animal: one reserves it, and the application stays open or the order isn't placed", async () => {
    expect(
      await races.run({
        applications: [[]],
        contenders: [decides('accept'), orders],
        isRight: ([accept = '', order = ''], { applications, orders }) =>
          wins([accept, order]) === 1 &&
          isOneOf([accept, order], '200', '201', 'pet_not_available') &&
          `${applications} ${orders}` === (accept === '200' ? 'accepted approved' : 'submitted placed'),
      }),
    ).toEqual(fair);
  });

  test.each([
    ['set the animal to sold', sells, ['pet_not_available', 'application_state_conflict'], 'sold adopted,adopted'],
    ['remove the animal', removes, ['pet_not_found', 'application_state_conflict'], 'removed unavailable,unavailable'],
  ])('while they %s: it is accepted, or every application closed', async (_, ends, codes, closed) => {
    expect(
      await races.run({
        applications: [[], ['review']],
        contenders: [decides('accept'), ends],
        isRight: ([accept = '', end = ''], { pet, applications }) =>
          wins([accept, end]) === 1 &&
          isOneOf([accept], '200', ...codes) &&
          (accept === '200'
            ? end === 'pet_has_open_order' && `${pet} ${applications}` === 'pending accepted,reviewing'
            : `${pet} ${applications}` === closed),
      }),
    ).toEqual(fair);
  });

  test('while the animal moves to another shelter: it is accepted before, or no longer theirs', async () => {
    expect(
      await races.run({
        applications: [[]],
        contenders: [decides('accept', 0, staff), moves],
        isRight: ([accept = '', move = ''], { applications }) =>
          move === '200' &&
          (accept === '200' ? `${applications}` === 'accepted' : accept === 'application_not_found' && `${applications}` === 'submitted'),
      }),
    ).toEqual(fair);
  });

  test('while the order of a partner expires: it is accepted afterwards, or still reserved', async () => {
    expect(
      await races.run({
        applications: [[], ['accept', 'withdraw']],
        prepare: `insert into orders (client_id, pet_id, adopter_name, adopter_email, expires_at)
          select ${partner.clientId}, id, 'Bob', 'bob@example.org', now() + interval '1 hour' from unnest($1) as id;
        update pets set status = 'pending' where id = any($1);
        insert into history (pet_id, order_id, to_status, why, kind) select pet_id, id, 'placed', 'placed', 'order_status'
          from orders where pet_id = any($1) and status = 'placed' order by id;
        insert into history (pet_id, from_status, to_status, why, kind) select id, 'available', 'pending', 'order placed', 'pet_status' from unnest($1) as id`,
        contenders: [decides('accept'), expires],
        isRight: ([accept = ''], { applications: [first = ''] }) =>
          isOneOf([accept], '200', 'pet_not_available') && first === (accept === '200' ? 'accepted' : 'submitted'),
      }),
    ).toEqual(fair);
  });
});

describe('Clients apply', { timeout: raceTimeoutMs }, () => {
  test('while one has its share but one, and two places are left: it gets one at most, two are taken, and staff still enter', async () => {
    // 79 of the first client and 19 of the second: of 100 places, one client may have 80.
    const prepare = `with added as (
        insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, answers)
          select case when n <= 79 then ${partner.clientId} else ${second.clientId} end, pet, 1, 'submitted', false, 'Bob', address, address, '[]'
            from unnest($1) as pet, generate_series(1, 98) as n, lateral (select format('bob.%s@example.org', n) as address) as adopter
          returning id, client_id)
      insert into application_history (application_id, client_id, to_status, by, why) select id, client_id, 'submitted', 'client', 'submitted' from added`;
    const enters = async ({ petId }: Round) => outcomeOf(await apply(store, manager, petId, { confirmed: true }));
    expect(
      await races.run({
        applications: [],
        prepare,
        contenders: [applies(0), applies(1), applies(2), applies(3, second), applies(4, second), enters],
        isRight: (outcomes, { applications }) => {
          const [ofFirst, ofSecond, entered] = [outcomes.slice(0, 3), outcomes.slice(3, 5), outcomes[5]];
          return (
            isOneOf([...ofFirst, ...ofSecond], '201', 'applications_full') &&
            wins(ofFirst) <= 1 &&
            wins(ofFirst) + wins(ofSecond) === 2 &&
            entered === '201' &&
            applications.length === 101
          );
        },
      }),
    ).toEqual(fair);
  });
});

describe('An order is completed', { timeout: raceTimeoutMs }, () => {
  test('while another application is withdrawn, reviewed, reopened or sent: none is open afterwards', async () => {
    expect(
      await races.run({
        applications: [['accept'], [], [], ['decline'], ['decline']],
        contenders: [acts('complete'), decides('withdraw', 1, partner), decides('review', 2), decides('reopen', 3), applies(4)],
        isRight: ([complete = '', withdraw = '', review = '', reopen = '', sent = ''], { pet, applications }) => {
          const [first, second, third, fourth, fifth, sixth] = applications;
          return (
            complete === '200' &&
            isOneOf([withdraw, review], '200', 'application_state_conflict') &&
            isOneOf([reopen, sent], '200', '201', 'pet_not_available') &&
            `${pet} ${first} ${third} ${fifth}` === 'sold completed adopted declined' &&
            second === (withdraw === '200' ? 'withdrawn' : 'adopted') &&
            fourth === (reopen === '200' ? 'adopted' : 'declined') &&
            sixth === (sent === '201' ? 'adopted' : undefined)
          );
        },
      }),
    ).toEqual(fair);
  });

  test('while it is cancelled and its application withdrawn: one of them happens', async () => {
    expect(
      await races.run({
        applications: [['accept'], []],
        contenders: [acts('complete'), acts('cancel'), decides('withdraw', 0, partner)],
        isRight: ([complete = '', cancel = '', withdraw = ''], { pet, applications, orders }) =>
          wins([complete, cancel, withdraw]) === 1 &&
          isOneOf([complete, cancel, withdraw], '200', 'order_state_conflict', 'application_state_conflict') &&
          `${pet} ${applications} ${orders}` ===
            (complete === '200'
              ? 'sold completed,adopted completed'
              : `available ${cancel === '200' ? 'cancelled' : 'withdrawn'},submitted cancelled`),
      }),
    ).toEqual(fair);
  });

  test('while the animal moves to another shelter: both happen, or the move says what is in the way', async () => {
    expect(
      await races.run({
        applications: [['accept'], []],
        contenders: [acts('complete'), moves],
        isRight: ([complete = '', move = ''], { applications }) =>
          complete === '200' && (move === '200' || isInTheWay(move)) && `${applications}` === 'completed,adopted',
      }),
    ).toEqual(fair);
  });

  test('while its application is withdrawn and the animal moves: one of the first two happens', async () => {
    expect(
      await races.run({
        applications: [['accept'], []],
        contenders: [acts('complete'), decides('withdraw'), moves],
        isRight: ([complete = '', withdraw = '', move = ''], { applications }) =>
          wins([complete, withdraw]) === 1 &&
          (move === '200' || isInTheWay(move)) &&
          `${applications}` === (complete === '200' ? 'completed,adopted' : 'withdrawn,submitted'),
      }),
    ).toEqual(fair);
  });
});

describe('An adopter', { timeout: raceTimeoutMs }, () => {
  test('who has their data erased while the order is completed has adopted the animal, or withdrawn', async () => {
    expect(
      await races.run({
        applications: [['accept'], []],
        contenders: [acts('complete'), erases],
        isRight: ([complete = '', erase = ''], { applications }) =>
          wins([complete, erase]) === 1 &&
          isOneOf([complete, erase], '200', 'order_state_conflict', 'application_state_conflict') &&
          `${applications}` === (complete === '200' ? 'completed,adopted' : 'withdrawn,submitted'),
      }),
    ).toEqual(fair);
  });

  test('who applies twice at once has one application', async () => {
    expect(
      await races.run({
        applications: [],
        contenders: [applies(0), applies(0)],
        isRight: (outcomes, { applications }) =>
          wins(outcomes) === 1 && isOneOf(outcomes, '201', 'application_exists') && `${applications}` === 'submitted',
      }),
    ).toEqual(fair);
  });

  test('who applies again while staff reopen the first application has one of the two', async () => {
    expect(
      await races.run({
        applications: [['decline']],
        contenders: [decides('reopen'), applies(0)],
        isRight: ([reopen = '', sent = ''], { applications }) =>
          wins([reopen, sent]) === 1 &&
          isOneOf([reopen, sent], '200', '201', 'application_exists') &&
          `${applications}` === (reopen === '200' ? 'reviewing' : 'declined,submitted'),
      }),
    ).toEqual(fair);
  });

  test('who confirms twice at once, while the animal moves, has confirmed once', async () => {
    expect(
      await races.run({
        applications: [[]],
        prepare: unconfirmed,
        contenders: [confirms, confirms, moves],
        isRight: (outcomes, { applications }) => isOneOf(outcomes, '200') && `${applications}` === 'submitted',
      }),
    ).toEqual(fair);
  });

  test('who confirms while the animal is sold has confirmed before, or is told', async () => {
    expect(
      await races.run({
        applications: [[]],
        prepare: unconfirmed,
        contenders: [confirms, sells],
        isRight: ([confirm = '', sell = ''], { applications }) =>
          sell === '200' &&
          isOneOf([confirm], '200', 'pet_not_available') &&
          `${applications}` === (confirm === '200' ? 'adopted' : 'unconfirmed'),
      }),
    ).toEqual(fair);
  });

  test('who confirms while the application is deleted has confirmed it, or is told that it is gone', async () => {
    expect(
      await races.run({
        applications: [[]],
        prepare: oldUnconfirmed,
        contenders: [confirms, deletes],
        isRight: ([confirm = '', removed = ''], { applications }) =>
          removed === '200' &&
          isOneOf([confirm], '200', 'application_not_found') &&
          `${applications}` === (confirm === '200' ? 'submitted' : ''),
      }),
    ).toEqual(fair);
  });
});
