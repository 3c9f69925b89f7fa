import type { Db, Writer } from '../../platform/db/handles.ts';
import { findAuditStart } from '../audit/audit.ts';
import { deleteUsedValues } from './credential-queries.ts';
import { deleteEndedLinks } from './link-queries.ts';
import { eraseRemoved } from './person-queries.ts';
import { deleteEndedSessions } from './session-queries.ts';
import { sweepFailedSignIns } from './sessions.ts';

/** A job: deletes what has ended, and erases the names of those who were removed before the first row of the audit. Returns how many. */
export async function sweepPeople(db: Db & Writer, sizeMax: number): Promise<number> {
  const start = await findAuditStart(db);
  let count = await deleteEndedSessions(db, sizeMax);
  count += await deleteEndedLinks(db, sizeMax);
  count += await deleteUsedValues(db, sizeMax);
  count += await sweepFailedSignIns(db, sizeMax);
  return count + (start ? await eraseRemoved(db, start, sizeMax) : 0);
}
