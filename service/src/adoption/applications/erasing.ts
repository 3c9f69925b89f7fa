import { eraseApplicantsFromResponses } from '../../access/idempotency/idempotency.ts';
import { recordEvents } from '../../changes/events/events.ts';
import { unconfirmed } from '../../domain/application-states.ts';
import type { Transaction } from '../../platform/db/handles.ts';
import type { ErasureExtent, Journal } from '../../platform/journal/journal.ts';
import { deleteAdopterLinks } from './adopter-link-queries.ts';
import { deleteUnconfirmedApplicants, eraseAll, eraseAnswers } from './applicant-queries.ts';
import { cancelAdopterMail } from './application-mail.ts';
import { applicationEvent } from './application-records.ts';
import type { Application } from './application-schemas.ts';

export interface Erased {
  readonly applications: number;
  /** Applications that the adopter had not confirmed. */
  readonly deleted: number;
  /** Stored responses that contained the adopter's data. */
  readonly responses: number;
}

const nothing: Erased = { applications: 0, deleted: 0, responses: 0 };

/**
 * Erases the adopters from locked applications, from the responses stored for retries and from messages that wait; ends
 * the links that were mailed; deletes unconfirmed applications. The events are recorded while the animals are locked, as all events about an application are, so that they are in order.
 */
export async function eraseLocked(
  tx: Transaction,
  journal: Journal,
  found: readonly Application[],
  extent: ErasureExtent,
): Promise<Erased> {
  if (found.length === 0) return nothing;
  const ids = found.map(({ id }) => id);
  await deleteAdopterLinks(tx, ids);
  const keepsAddress = extent === 'answers';
  const deleted = await deleteUnconfirmedApplicants(
    tx,
    found.filter(({ status }) => status === unconfirmed).map(({ id }) => id),
  );
  const erased = await (keepsAddress ? eraseAnswers : eraseAll)(tx, ids);
  const responses = await eraseApplicantsFromResponses(tx, ids, { keepsAddress });
  await cancelAdopterMail(tx, ids);
  await recordEvents(tx, ...erased.map((application) => applicationEvent('adopter_erased', application)));
  journal({ act: 'applicants_erased', applications: ids, extent });
  return { applications: erased.length, deleted, responses };
}
