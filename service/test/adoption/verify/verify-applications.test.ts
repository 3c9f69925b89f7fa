import { describe, expect, test } from 'vitest';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { act, addPet, createManager, placeOrder } from '../../adoption-steps.ts';
import { decideAll, readApplication, submit } from '../../application-steps.ts';
import { executeAsOwner } from '../../databases.ts';
import { addShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const [partner, manager] = [await store.createKey(), await createManager(store)];
const other = await addShelter(store);

const verify = () => verifyHistory(store.dependencies.db, () => {});
/** Neither foreign keys nor triggers see it, as after a restore of single tables. */
const tamper = (statement: string) => executeAsOwner(store.databaseUrl, `set session_replication_role = replica; ${statement}`);

/** The ids of an application after these actions of staff, of its animal, and of the order of an accepted one. */
async function applicationAfter(...actions: string[]): Promise<{ id: number; petId: number; orderId: number }> {
  const { id, petId } = await submit(store, partner, (await addPet(store, partner)).id);
  await decideAll(store, manager, id, ...actions);
  return { id, petId, orderId: (await readApplication(store, partner, id)).orderId ?? 0 };
}

const submitted = await applicationAfter();
const accepted = await applicationAfter('accept');
const declined = await applicationAfter('decline');
const withdrawn = await applicationAfter('accept', 'withdraw');
const again = await applicationAfter('accept', 'withdraw');
const completed = await applicationAfter('accept');
await act(store, manager, completed.orderId, 'complete');
const ordered = await placeOrder(store, partner, (await addPet(store, partner)).id);
const [unconfirmed] = await store.write<{ id: bigint }>(
  `insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, answers)
    values ($1, $2, 1, 'unconfirmed', true, 'Bob', 'bob@example.org', 'bob@example.org', '[]') returning id`,
  partner.clientId,
  submitted.petId,
);

/** Applies a change, verifies, and undoes it. */
async function violationAfter(change: string, undo: string): Promise<string | undefined> {
  await tamper(change);
  try {
    return (await verify()).violation;
  } finally {
    await tamper(undo);
  }
}

const set = (id: number | bigint | undefined, column: string, value: string | number | null) =>
  `update applications set ${column} = ${typeof value === 'string' ? `'${value}'` : value} where id = ${id}; `;
/** Checks of the table would reject some. */
const unchecked = (statement: string) =>
  `alter table applications drop constraint applications_closed_with_reason, drop constraint applications_accepted_with_order; ${statement}`;
const checked = (statement: string) =>
  `${statement}; alter table applications
    add constraint applications_closed_with_reason check ((status = 'closed') = (closed_reason is not null)),
    add constraint applications_accepted_with_order check (status not in ('accepted', 'completed') or order_id is not null)`;

describe('verifyHistory', () => {
  test('finds nothing where nothing is wrong, and counts applications', async () => {
    const { violation, applications } = await verify();
    expect({ violation, applications }).toEqual({ violation: undefined, applications: 7 });
  });

  test.each([
    [
      'a status that the history does not end with',
      set(submitted.id, 'status', 'reviewing'),
      set(submitted.id, 'status', 'submitted'),
      `application ${submitted.id}: its history ends with submitted, but its status is reviewing`,
    ],
    [
      'an unconfirmed application with a history',
      `insert into application_history (application_id, to_status, by, why) values (${unconfirmed?.id}, 'submitted', 'client', 'submitted')`,
      `delete from application_history where application_id = ${unconfirmed?.id}`,
      `application ${unconfirmed?.id}: its history ends with submitted, but its status is unconfirmed`,
    ],
    [
      'a note that is not the newest',
      `insert into application_notes (application_id, text) values (${submitted.id}, 'Has a garden.'); alter table applications disable trigger application_noted; ${set(submitted.id, 'note', 'Another.')}`,
      `${set(submitted.id, 'note', null)}delete from application_notes; alter table applications enable trigger application_noted`,
      `application ${submitted.id}: its note is not the newest of those that were added`,
    ],
    [
      'an application without a history',
      set(unconfirmed?.id, 'status', 'submitted'),
      set(unconfirmed?.id, 'status', 'unconfirmed'),
      `application ${unconfirmed?.id}: its history ends with nothing, but its status is submitted`,
    ],
    [
      'an order that the end of the history does not name',
      `update application_history set order_id = null where application_id = ${accepted.id}`,
      `update application_history set order_id = ${accepted.orderId} where application_id = ${accepted.id} and to_status = 'accepted'`,
      `application ${accepted.id}: its history ends with no order, but it names order ${accepted.orderId}`,
    ],
    [
      'a transition from another status',
      `update application_history set from_status = 'reviewing' where application_id = ${declined.id} and to_status = 'declined'`,
      `update application_history set from_status = 'submitted' where application_id = ${declined.id} and to_status = 'declined'`,
      `(application ${declined.id}): the application changes from reviewing to declined, but its status was submitted`,
    ],
    [
      'a transition that there is not',
      `update application_history set to_status = 'completed' where application_id = ${declined.id} and to_status = 'declined'`,
      `update application_history set to_status = 'declined' where application_id = ${declined.id} and to_status = 'completed'`,
      `(application ${declined.id}): an application can't change from submitted to completed`,
    ],
    [
      'an ended order whose application names none',
      set(withdrawn.id, 'order_id', null),
      set(withdrawn.id, 'order_id', withdrawn.orderId),
      `order ${withdrawn.orderId}: it is cancelled, but application ${withdrawn.id} names no order`,
    ],
    [
      'a closed one without a reason',
      unchecked(
        `${set(declined.id, 'status', 'closed')}update application_history set to_status = 'closed' where application_id = ${declined.id} and to_status = 'declined'`,
      ),
      checked(
        `${set(declined.id, 'status', 'declined')}update application_history set to_status = 'declined' where application_id = ${declined.id} and to_status = 'closed'`,
      ),
      `application ${declined.id}: it is closed without a reason`,
    ],
    [
      'a reason of one that is not closed',
      unchecked(set(declined.id, 'closed_reason', 'adopted')),
      checked(set(declined.id, 'closed_reason', null)),
      `application ${declined.id}: it is declined, but has the reason adopted for being closed`,
    ],
    [
      'an order that was not placed for it',
      `update orders set application_id = null where id = ${accepted.orderId}`,
      `update orders set application_id = ${accepted.id} where id = ${accepted.orderId}`,
      `application ${accepted.id}: it names order ${accepted.orderId}, which was not placed for it`,
    ],
    [
      'an order whose application does not exist',
      `update orders set application_id = 4711 where id = ${ordered.id}`,
      `update orders set application_id = null where id = ${ordered.id}`,
      `order ${ordered.id}: application 4711 does not exist`,
    ],
    [
      'an open order whose application names another',
      `update orders set application_id = ${again.id} where id = ${ordered.id}`,
      `update orders set application_id = null where id = ${ordered.id}`,
      `order ${ordered.id}: it is placed, but application ${again.id} names order ${again.orderId}`,
    ],
    [
      'an application of another animal than its order',
      set(accepted.id, 'pet_id', submitted.petId),
      set(accepted.id, 'pet_id', accepted.petId),
      `application ${accepted.id}: it asks for animal ${submitted.petId}, but order ${accepted.orderId} for animal ${accepted.petId}`,
    ],
    [
      'an application of another client than its order',
      set(accepted.id, 'client_id', Number(manager.clientId)),
      set(accepted.id, 'client_id', Number(partner.clientId)),
      `application ${accepted.id}: it is of client ${manager.clientId}, but order ${accepted.orderId} of client ${partner.clientId}`,
    ],
    [
      'an accepted one whose order has ended',
      `update orders set status = 'cancelled' where id = ${accepted.orderId}; update pets set status = 'available' where id = ${accepted.petId};
        insert into history (pet_id, order_id, from_status, to_status, why) values (${accepted.petId}, ${accepted.orderId}, 'approved', 'cancelled', 'tampered');
        insert into history (pet_id, from_status, to_status, why) values (${accepted.petId}, 'pending', 'available', 'tampered')`,
      `update orders set status = 'approved' where id = ${accepted.orderId}; update pets set status = 'pending' where id = ${accepted.petId};
        delete from history where why = 'tampered'`,
      `application ${accepted.id}: it is still accepted, but its order ${accepted.orderId} is cancelled`,
    ],
    [
      'one that is not completed though its order is',
      `${set(completed.id, 'status', 'withdrawn')}update application_history set to_status = 'withdrawn' where application_id = ${completed.id} and to_status = 'completed'`,
      `${set(completed.id, 'status', 'completed')}update application_history set to_status = 'completed' where application_id = ${completed.id} and to_status = 'withdrawn'`,
      `application ${completed.id}: it is withdrawn, but its order ${completed.orderId} is completed`,
    ],
    [
      'an open one whose animal is sold',
      `update pets set status = 'sold' where id = ${submitted.petId};
        insert into history (pet_id, from_status, to_status, why) values (${submitted.petId}, 'available', 'sold', 'tampered')`,
      `update pets set status = 'available' where id = ${submitted.petId}; delete from history where why = 'tampered'`,
      `application ${submitted.id}: it is still submitted, but animal ${submitted.petId} is sold`,
    ],
    [
      'an open one in another shelter than its animal',
      set(submitted.id, 'shelter_id', other),
      set(submitted.id, 'shelter_id', 1),
      `application ${submitted.id}: it belongs to shelter ${other}, but animal ${submitted.petId} to shelter 1`,
    ],
    ...(['client', 'pet', 'shelter', 'order'] as const).map((what) => {
      const was = { client: Number(partner.clientId), pet: declined.petId, shelter: 1, order: null }[what];
      const inHistory = (value: number | null) =>
        what === 'order' ? `update application_history set order_id = ${value} where application_id = ${declined.id}` : '';
      return [
        `a ${what} that does not exist`,
        set(declined.id, `${what}_id`, 4711) + inHistory(4711),
        set(declined.id, `${what}_id`, was) + inHistory(was),
        what === 'order'
          ? 'order 4711 does not exist'
          : `application ${declined.id}: ${what === 'pet' ? 'animal' : what} 4711 does not exist`,
      ] as const;
    }),
    ...(['client', 'key'] as const).map(
      (what) =>
        [
          `a row of history with a ${what} that does not exist`,
          `update application_history set ${what}_id = 4711 where application_id = ${declined.id} and to_status = 'declined'`,
          `update application_history set ${what}_id = ${manager[what === 'key' ? 'id' : 'clientId']} where application_id = ${declined.id} and to_status = 'declined'`,
          `${what} 4711 does not exist`,
        ] as const,
    ),
    [
      'a history whose application does not exist',
      `insert into application_history (application_id, to_status, by, why) values (4711, 'submitted', 'client', 'submitted')`,
      'delete from application_history where application_id = 4711',
      'application 4711 does not exist',
    ],
  ] as ReadonlyArray<readonly [string, string, string, string]>)('finds %s', async (_, change, undo, words) => {
    expect(await violationAfter(change, undo)).toContain(words);
    expect((await verify()).violation).toBeUndefined();
  });

  test('reads applications in ranges, also one with a longer history than a batch, and misses no row', async () => {
    const before = await verify();
    const [many, rowsOfLast] = [2_100, 20_001];
    await store.asOwner(
      `with added as (
          insert into applications (client_id, pet_id, shelter_id, status, is_mailed, adopter_name, adopter_email, adopter_address, answers)
            select ${partner.clientId}, ${submitted.petId}, 1, 'declined', false, 'Bob', 'bob@example.org', 'bob@example.org', '[]'
            from generate_series(1, ${many}) returning id)
        insert into application_history (application_id, from_status, to_status, by, why)
          select id, row.*, 'staff', 'added in bulk' from added, (values (null, 'submitted'), ('submitted', 'declined')) as row (f, t) order by id, t desc`,
    );
    const last = `(select max(id) from applications)`;
    await store.asOwner(
      `insert into application_history (application_id, from_status, to_status, by, why)
        select ${last}, from_status, to_status, 'staff', 'added in bulk'
        from generate_series(1, ${(rowsOfLast - 1) / 2}) as n, (values (1, 'declined', 'reviewing'), (2, 'reviewing', 'declined')) as row (k, from_status, to_status)
        order by n, k`,
    );
    const added = { applications: before.applications + many, rows: before.rows + 2 * many + rowsOfLast - 1 };
    expect(await verify()).toEqual({ ...before, ...added });
    await store.asOwner(`update applications set status = 'withdrawn' where id = ${last}`);
    expect((await verify()).violation).toContain('its history ends with declined, but its status is withdrawn');
  });
});
