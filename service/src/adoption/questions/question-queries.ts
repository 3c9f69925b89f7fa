import type { Db, Transaction } from '../../platform/db/handles.ts';
import type { Question } from './question-schemas.ts';

/** Undefined: there is no such shelter. */
export async function findQuestions(db: Db, shelterId: bigint): Promise<readonly Question[] | undefined> {
  const { rows } = await db.query<{ questions: readonly Question[] | null }>({
    name: 'shelter-questions',
    text: 'select questions from shelters left join shelter_questions on shelter_id = id where id = $1',
    values: [shelterId],
  });
  return rows[0] && (rows[0].questions ?? []);
}

/**
 * Locks the questions of a shelter until the transaction ends, by its row, since they may have none. A statement of its own: one that
 * waits for the lock would read the questions of before. False: there is no such shelter.
 */
export async function lockQuestions(tx: Transaction, shelterId: bigint): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'lock-shelter-questions',
    text: 'select id from shelters where id = $1 for no key update',
    values: [shelterId],
  });
  return rows.length > 0;
}

/** The caller has locked them. */
export async function upsertQuestions(tx: Transaction, shelterId: bigint, questions: readonly Question[]): Promise<void> {
  await tx.query({
    name: 'upsert-shelter-questions',
    text: `insert into shelter_questions (shelter_id, questions) values ($1, $2)
      on conflict (shelter_id) do update set questions = excluded.questions, updated_at = now()`,
    values: [shelterId, JSON.stringify(questions)],
  });
}
