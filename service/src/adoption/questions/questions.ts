import { requireShelter } from '../../access/admission/access.ts';
import { type AuditAuthor, recordAudit } from '../../access/audit/audit.ts';
import type { Acting, KeyRights } from '../../domain/actor.ts';
import type { Db, Transactor } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode } from '../../platform/errors.ts';
import { requireValidQuestions } from './question-checks.ts';
import { findQuestions, lockQuestions, upsertQuestions } from './question-queries.ts';
import type { Question } from './question-schemas.ts';

/** The errors of the operations, for the documents. */
export const questionErrors = {
  get: ['shelter_not_found'],
  set: ['shelter_not_found', 'recorded_change_limit'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** Throws if the questions are not those that the caller expects. */
type Expectation = (questions: readonly Question[]) => void;

/** What a shelter asks those who apply for its animals. */
export async function getQuestions(db: Db, shelterId: bigint): Promise<readonly Question[]> {
  const questions = await findQuestions(db, shelterId);
  if (!questions) throw shelterNotFound(String(shelterId));
  return questions;
}

/** Replaces the questions of a shelter. Applications that were sent before keep those of their day. */
export async function setQuestions(
  db: Transactor,
  shelterId: bigint,
  questions: readonly Question[],
  { key, by, expect }: { key: KeyRights & Acting; by: AuditAuthor; expect: Expectation },
): Promise<readonly Question[]> {
  return db.transaction(async (tx) => {
    if (!(await lockQuestions(tx, shelterId))) throw shelterNotFound(String(shelterId));
    requireShelter(key, 'manageShelters', shelterId);
    expect(await getQuestions(tx, shelterId));
    requireValidQuestions(questions);
    await upsertQuestions(tx, shelterId, questions);
    await recordAudit(tx, by, 'shelter.questions_set', { targetId: shelterId, shelterId, after: { questions: questions.length } });
    return questions;
  }, key);
}

/** Here, since this folder is below that of shelters. */
export const shelterNotFound = (id: string) => new AppError('shelter_not_found', `There is no shelter with id ${id.slice(0, 40)}.`);
