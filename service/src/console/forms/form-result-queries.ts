import type { Transaction, Writer } from '../../platform/db/handles.ts';

/** Which form it was, and what was in it. */
export interface SentForm {
  readonly personId: bigint;
  readonly formId: Buffer;
  /** SHA-256 of its path and values. */
  readonly content: Buffer;
}

/** Where a form has led to, and what was said there. */
export interface FormResult {
  readonly location: string;
  readonly message: string | null;
}

const perPersonMax = 200;

/**
 * Claims the form for this transaction. Waits for another one that has claimed it; false if that has carried it out. Of the person's older
 * forms some are forgotten, so that there are never many more than `perPersonMax`.
 */
export async function claimForm(tx: Transaction, { personId, formId, content }: SentForm): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'claim-form',
    text: `with old as (
        delete from form_results where (person_id, form_id, content) in (
          select person_id, form_id, content from form_results where person_id = $1 order by created_at desc offset ${perPersonMax} limit 20))
      insert into form_results (person_id, form_id, content) values ($1, $2, $3)
      on conflict do nothing returning true`,
    values: [personId, formId, content],
  });
  return rows.length === 1;
}

export async function concludeForm(
  tx: Transaction,
  { personId, formId, content }: SentForm,
  { location, message }: FormResult,
): Promise<void> {
  await tx.query({
    name: 'conclude-form',
    text: 'update form_results set location = $4, message = $5 where person_id = $1 and form_id = $2 and content = $3',
    values: [personId, formId, content, location, message],
  });
}

/** Locks the row, which writes to the log of the server: what it says is not shown before a standby has it. */
export async function lockFormResult(tx: Transaction, { personId, formId, content }: SentForm): Promise<FormResult | undefined> {
  const { rows } = await tx.query<FormResult>({
    name: 'form-result',
    text: 'select location, message from form_results where person_id = $1 and form_id = $2 and content = $3 for key share',
    values: [personId, formId, content],
  });
  return rows[0];
}

/** Deletes results that are older than a day, at most `batchSizeMax`, and returns how many. */
export async function deleteOldFormResults(db: Writer, batchSizeMax: number): Promise<number> {
  const { rowCount } = await db.write({
    name: 'sweep-form-results',
    text: `with old as materialized (
        select person_id, form_id, content from form_results where created_at < now() - interval '1 day' order by created_at limit $1
          for update skip locked)
      delete from form_results where (person_id, form_id, content) in (select person_id, form_id, content from old)`,
    values: [batchSizeMax],
  });
  return rowCount ?? 0;
}
