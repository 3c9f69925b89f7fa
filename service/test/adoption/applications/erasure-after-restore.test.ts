// What was erased is erased again when the journal is applied to a store that was restored from an older backup.
import { describe, expect, test } from 'vitest';
import { verifyHistory } from '../../../src/adoption/verify/verify.ts';
import { applyJournal } from '../../../src/operations/recovery/apply-journal.ts';
import type { ErasureExtent, JournalEntry } from '../../../src/platform/journal/journal.ts';
import { act, createManager } from '../../adoption-steps.ts';
import { type Applicant, apply as applyWith, findInDump, makeUnconfirmed } from '../../applicant-steps.ts';
import { decideAll, readApplication } from '../../application-steps.ts';
import { readOn } from '../../event-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const [partner, manager] = [await store.createKey(), await createManager(store)];
const apply = () => applyWith(store, { partner, manager });
const read = ({ id }: Applicant) => readApplication(store, manager, id);
const erased = { adopter: null, answers: null, note: null, message: null };

const reapply = (entry: JournalEntry, at = new Date()) => applyJournal(db, [{ at, entry }], () => {});
const reapplyTo = ({ id }: Applicant, extent: ErasureExtent = 'all', at?: Date) =>
  reapply({ act: 'applicants_erased', applications: [BigInt(id)], extent }, at);

async function applicantAfter(actions: readonly string[]): Promise<Applicant> {
  const applicant = await apply();
  for (const action of actions) {
    if (action === 'complete') await act(store, manager, (await read(applicant)).orderId ?? 0, action);
    else await decideAll(store, manager, applicant.id, action);
  }
  return applicant;
}

describe('The journal, applied to an application that the backup has', () => {
  test.each([
    [[], 'withdrawn'],
    [['review'], 'withdrawn'],
    [['accept'], 'accepted'],
    [['decline'], 'declined'],
    [['withdraw'], 'withdrawn'],
    [['accept', 'complete'], 'completed'],
  ])('after %j erases everything, and it is %s', async (actions, status) => {
    const applicant = await applicantAfter(actions);
    const { next } = await readOn(store, partner);
    expect(await reapplyTo(applicant)).toEqual({ applied: 1, skipped: 0 });
    expect(await read(applicant)).toMatchObject({ status, ...erased });
    const { events } = await readOn(store, partner, next);
    expect(events.at(-1)).toMatchObject({ type: 'application.adopter_erased', data: { application: { id: applicant.id, status } } });
    expect(await reapplyTo(applicant)).toEqual({ applied: 1, skipped: 0 });
    expect((await readOn(store, partner, next)).events).toHaveLength(events.length);
    expect((await verifyHistory(db, () => {})).violation).toBeUndefined();
  });

  test('as unconfirmed deletes it again', async () => {
    const applicant = await apply();
    await makeUnconfirmed(store, applicant);
    expect(await reapplyTo(applicant)).toEqual({ applied: 1, skipped: 0 });
    expect(await findInDump(store, applicant.word)).toEqual([]);
    expect(await reapplyTo(applicant)).toEqual({ applied: 0, skipped: 1 });
  });

  test('of a completed one whose answers were erased leaves name and address; of one that the backup has as open, nothing', async () => {
    const [completed, accepted, open] = [await applicantAfter(['accept', 'complete']), await applicantAfter(['accept']), await apply()];
    for (const applicant of [completed, accepted, open]) await reapplyTo(applicant, 'answers');
    const { adopter, answers, note } = await read(completed);
    expect({ adopter, answers, note }).toMatchObject({ adopter: { email: completed.email, phone: null }, answers: null, note: null });
    for (const applicant of [accepted, open]) expect(await read(applicant)).toMatchObject(erased);
  });

  test('does not erase one that was submitted after the line was written, since its id was assigned again', async () => {
    const applicant = await applicantAfter(['decline']);
    expect(await reapplyTo(applicant, 'all', new Date(Date.now() - 120_000))).toEqual({ applied: 0, skipped: 1 });
    expect((await read(applicant)).adopter).not.toBeNull();
    expect(await reapplyTo(applicant, 'all', new Date(Date.now() - 30_000))).toEqual({ applied: 1, skipped: 0 });
    expect(await read(applicant)).toMatchObject(erased);
  });
});
