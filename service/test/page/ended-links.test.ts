// Staff end the links to an adopter's page, which were posted or passed on.
import { describe, expect, test } from 'vitest';
import { endAdopterLinks } from '../../src/adoption/applications/adopter-links.ts';
import { eraseApplicant } from '../../src/adoption/applications/applicants.ts';
import { verifyHistory } from '../../src/adoption/verify/verify.ts';
import { theService } from '../../src/domain/actor.ts';
import { applyJournal } from '../../src/operations/recovery/apply-journal.ts';
import type { JournalEntry } from '../../src/platform/journal/journal.ts';
import { addPet, createManager } from '../adoption-steps.ts';
import { type ApplicationBody, decideAll, readApplication, submit } from '../application-steps.ts';
import { homewardJson } from '../cli/homeward-command.ts';
import { openTestStore } from '../test-store.ts';
import { openMailbox } from './mailbox.ts';
import { applyUnconfirmed, mailEnv, manyAddresses, pathTo, press, statusOf, visit, wordsOf } from './page-steps.ts';

const store = await openTestStore({ env: { ...manyAddresses, ...mailEnv } });
const { db } = store.dependencies;
const [partner, manager] = [await store.createKey(), await createManager(store)];
const mailbox = openMailbox(store);
const by = { clientId: null, keyId: null, personId: null, origin: { login: 'ada', host: 'store' } } as const;

async function addConfirmed(): Promise<bigint> {
  const id = await applyUnconfirmed(store, partner, (await addPet(store, partner)).id);
  await press(store, `${pathTo(store, id, 'confirm')}/confirm`);
  return id;
}

async function end(id: bigint, mails = false): Promise<JournalEntry[]> {
  const lines: JournalEntry[] = [];
  const journal = (entry: JournalEntry) => lines.push(entry) > 0;
  await db.transaction((tx) => endAdopterLinks(tx, id, theService, { journal, by, mails }), theService);
  return lines;
}
const statusesOf = async (...paths: string[]) => {
  const statuses: number[] = [];
  for (const path of paths) statuses.push((await visit(store, path)).status);
  return statuses;
};
const ask = (id: bigint, number = 0n) => press(store, `${pathTo(store, id, 'see', number)}/withdraw`);

describe('A link that staff have ended', () => {
  test('says so, and neither shows the page nor has one mailed; nor does one from a mailbox', async () => {
    const id = await addConfirmed();
    await ask(id);
    const withdraw = await mailbox.openLink(id, 'withdraw_link');
    await end(id);
    expect(await statusesOf(pathTo(store, id), pathTo(store, id, 'confirm'), `${pathTo(store, id)}/erase`, withdraw)).toEqual([
      410, 410, 410, 410,
    ]);
    expect(wordsOf((await visit(store, pathTo(store, id))).text)).toContain('This link has ended');
    expect([(await ask(id)).status, (await press(store, withdraw)).status]).toEqual([410, 410]);
    expect([await statusOf(store, id), await mailbox.waiting(id)]).toEqual(['submitted', []]);
  });

  test('is followed by another, which is mailed to the confirmed address and in statusUrl', async () => {
    const id = await addConfirmed();
    await end(id, true);
    const link = await mailbox.openLink(id, 'status_link');
    expect([link, await statusesOf(link)]).toEqual([pathTo(store, id, 'see', 1n), [200]]);
    const read: ApplicationBody = await readApplication(store, partner, Number(id));
    expect(read.statusUrl).toBe(`https://store.example${link}`);
    expect((await ask(id, 1n)).status).toBe(303);
    expect(await statusesOf(await mailbox.openLink(id, 'withdraw_link'))).toEqual([200]);
    await decideAll(store, manager, Number(id), 'decline');
    expect(await mailbox.openLink(id, 'declined')).toBe(link);
    await end(id);
    expect(await statusesOf(link, pathTo(store, id))).toEqual([410, 410]);
  });

  test('is not followed by mail to an address that nobody has confirmed', async () => {
    const { id } = await submit(store, manager, (await addPet(store, partner)).id, { confirmed: true });
    await end(BigInt(id), true);
    expect(await mailbox.kinds(BigInt(id))).toEqual(['received']);
  });

  test('is in the audit, without a word of the adopter', async () => {
    const id = await addConfirmed();
    await end(id);
    expect(await store.read(`select act, target, target_id, login, before, after from audit where target_id = $1`, id)).toEqual([
      { act: 'application.link_ended', target: 'application', target_id: id, login: 'ada', before: null, after: null },
    ]);
    expect((await verifyHistory(db, () => {})).violation).toBeUndefined();
  });

  test('stays ended after a restore; a link of later does not', async () => {
    const [id, other] = [await addConfirmed(), await addConfirmed()];
    const lines = await end(id);
    expect(lines).toEqual([{ act: 'application_link_ended', application: id, number: 1n }]);
    // As the backup has it.
    await store.write('update applications set link_number = 0 where id = $1', id);
    const apply = (at: Date) =>
      applyJournal(
        db,
        lines.map((entry) => ({ at, entry })),
        () => {},
      );
    expect(await apply(new Date(0))).toEqual({ applied: 0, skipped: 1 });
    expect(await statusesOf(pathTo(store, id))).toEqual([200]);
    for (let times = 0; times < 2; times += 1) expect(await apply(new Date())).toEqual({ applied: 1, skipped: 0 });
    expect(await statusesOf(pathTo(store, id), pathTo(store, id, 'see', 1n), pathTo(store, other))).toEqual([410, 200, 200]);
  });

  test('by command, which mails the next one if it is asked to and can', async () => {
    const id = await addConfirmed();
    const { env } = store;
    expect(await homewardJson(['applications', 'end-link', String(id), '--mail'], env)).toEqual({
      id: Number(id),
      ended: true,
      mailed: true,
    });
    expect(await statusesOf(pathTo(store, id), await mailbox.openLink(id, 'status_link'))).toEqual([410, 200]);
  });
});

test('The message of an erasure is not sent again by a store that was restored with it', async () => {
  const id = await addConfirmed();
  await ask(id);
  await press(store, await mailbox.openLink(id, 'withdraw_link'));
  await press(store, `${pathTo(store, id)}/erase`);
  await press(store, await mailbox.openLink(id, 'erase_link'));
  expect(await mailbox.waiting(id)).toEqual(['erased']);
  // Erased once more, as staff do who don't know.
  await eraseApplicant(store.dependencies, () => true, id, by);
  expect(await mailbox.waiting(id)).toEqual(['erased']);
  const entry = { act: 'applicants_erased', applications: [id], extent: 'all' } as const;
  await applyJournal(db, [{ at: new Date(), entry }], () => {});
  expect(await mailbox.waiting(id)).toEqual([]);
});
