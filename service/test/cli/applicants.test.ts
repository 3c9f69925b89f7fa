// `homeward applications erase` and what `homeward orders erase` does with applications.
import { describe, expect, test } from 'vitest';
import { createManager, readPet } from '../adoption-steps.ts';
import { apply as applyWith, findInDump, makeUnconfirmed } from '../applicant-steps.ts';
import { decide, decideAll, readApplication } from '../application-steps.ts';
import { openTestStore } from '../test-store.ts';
import { homeward, homewardJson } from './homeward-command.ts';
import { homewardOnTerminal } from './on-terminal.ts';

const store = await openTestStore();
const { env } = store;
const [partner, manager] = [await store.createKey(), await createManager(store)];
const apply = (given: { email?: string } = {}) => applyWith(store, { partner, manager }, given);
const erase = (...args: string[]) => homewardJson<Record<string, unknown>>(args, env);
const accept = async (id: number) => Number((await decide(store, manager, id, 'accept')).json.orderId);

describe('applications erase', () => {
  test('withdraws an accepted one, cancels its order and erases both', async () => {
    const { id, petId, word } = await apply();
    const orderId = await accept(id);
    expect(await erase('applications', 'erase', String(id))).toEqual({ id, erased: true, deleted: false, answers: 0 });
    expect(await readApplication(store, manager, id)).toMatchObject({ status: 'withdrawn', adopter: null, answers: null });
    expect((await readPet(store, partner, petId))?.status).toBe('available');
    expect(await homewardJson(['orders', 'show', String(orderId)], env)).toMatchObject({ status: 'cancelled', adopter: null });
    const rows = await store.read('select by from application_history where application_id = $1 order by id desc limit 1', id);
    expect(rows).toEqual([{ by: 'staff' }]);
    expect(await findInDump(store, word)).toEqual([]);
  });

  test('deletes an unconfirmed one', async () => {
    const applicant = await apply();
    await makeUnconfirmed(store, applicant);
    const { stdout, stderr } = await homeward(['applications', 'erase', String(applicant.id)], { env });
    expect(stdout).toContain(`Deleted application ${applicant.id}, which was unconfirmed, also from 0 stored responses.`);
    expect(JSON.parse(stderr)).toMatchObject({ journal: true, act: 'applicants_erased', applications: [applicant.id], extent: 'all' });
    expect((await homeward(['applications', 'erase', String(applicant.id)], { env })).status).toBe(2);
  });

  test('of a completed one is rejected, and names the command that erases it', async () => {
    const { id, word } = await apply();
    const orderId = await accept(id);
    await homeward(['orders', 'complete', String(orderId)], { env });
    const { status, stderr } = await homeward(['applications', 'erase', String(id)], { env });
    expect([status, stderr]).toEqual([
      2,
      `homeward: Application ${id} is completed. Erase its adopter with that of its order: homeward orders erase ${orderId}\n`,
    ]);
    expect(await erase('orders', 'erase', String(orderId))).toMatchObject({ id: orderId, applications: [id], keptApplications: [] });
    expect(await findInDump(store, word)).toEqual([]);
  });

  test('asks on a terminal; on n nothing is changed', async () => {
    const { id, petId, word, email } = await apply();
    const { status, text } = await homewardOnTerminal(['applications', 'erase', String(id)], {
      env,
      columns: 200,
      typed: [{ after: '[y/N] ', keys: 'n\r' }],
    });
    expect(text).toContain(
      `Application ${id} for Biscuit (${petId}), submitted: Ada ${word} <${email}>\nWithdraw it, and erase the adopter, also from its orders? [y/N]`,
    );
    expect(status).toBe(1);
    expect(await readApplication(store, manager, id)).toMatchObject({ status: 'submitted', adopter: { email } });
  });
});

describe('orders erase', () => {
  test('of an order whose application is considered again names it, and exits with 1', async () => {
    const { id } = await apply();
    const orderId = await accept(id);
    await homeward(['orders', 'cancel', String(orderId)], { env });
    await decideAll(store, manager, id, 'reopen');
    const { status, stdout } = await homeward(['orders', 'erase', String(orderId)], { env });
    expect(status).toBe(1);
    expect(stdout).toContain(
      `Not erased: application ${id}, which the order was placed for, has gone on since. Erase it too: homeward applications erase ${id}\n`,
    );
  });

  test('--email lists open applications and other spellings of the address, and exits with 1', async () => {
    const [open, declined, tagged] = [
      await apply({ email: 'eve@example.org' }),
      await apply({ email: 'eve@example.org' }),
      await apply({ email: 'eve+cats@example.org' }),
    ];
    for (const { id } of [declined, tagged]) await decideAll(store, manager, id, 'decline');
    const { status, stdout } = await homeward(['orders', 'erase', '--email', 'Eve@example.org'], { env });
    expect(status).toBe(1);
    const [first, ...others] = stdout.trim().split('\n');
    expect(first).toMatch(/^Erased the adopter from 0 orders, 1 application and 0 stored responses\. Backups still contain/);
    expect(others).toEqual([
      `Not erased, because these applications are still open: ${open.id}. To withdraw and erase one: homeward applications erase ${open.id}`,
      'Not erased: applications of eve+cats@example.org. If that is the same person, erase them with --email too.',
    ]);
    expect(await findInDump(store, declined.word)).toEqual([]);
  });
});
