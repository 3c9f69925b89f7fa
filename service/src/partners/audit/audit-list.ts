import type { Db } from '../../platform/db/handles.ts';
import { type AuditFilter, type RecordedAct, selectActs } from './audit-list-queries.ts';

export type { AuditFilter, RecordedAct } from './audit-list-queries.ts';
export { isPosition } from './audit-list-queries.ts';

/**
 * The audit, and beside it what people did with animals, orders and applications, the newest first. Of one animal, order or application also
 * what keys did.
 */
export const listActs = (db: Db, filter: AuditFilter): Promise<RecordedAct[]> => selectActs(db, filter);
