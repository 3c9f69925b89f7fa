import { type ActingKey, requireStaff } from '../../access/admission/access.ts';
import { type AuditAuthor, recordAudit } from '../../access/audit/audit.ts';
import type { Catalogue, CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { lockPetRows } from '../../animals/pets/pets.ts';
import { type Actor, theService } from '../../domain/actor.ts';
import type { Db, Transaction, Writer } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import { rerunning } from './application-errors.ts';
import { tellOfStatus } from './application-mail.ts';
import { moveAndRecord, type Party } from './application-records.ts';
import { actOnApplication } from './applications.ts';
import {
  type BulkCounts,
  type BulkEnd,
  type BulkScope,
  beginTelling,
  countInScope,
  deleteOldBulkEnds,
  findBulkEnd,
  insertBulkEnd,
  lockBulkEnd,
  markTakenBack,
  moveBulkEnd,
  type NamedBulkEnd,
  type NotReopened,
  noteEnded,
  noteReopened,
  noteTold,
  selectBulkEnds,
  selectNextEnded,
  selectNextWaiting,
  selectNotReopened,
  selectToTell,
  takeBulkEnd,
} from './bulk-end-queries.ts';
import { lockSubmissions } from './count-queries.ts';
import { whyClosed } from './settling.ts';
import { lockApplication } from './transition-queries.ts';

export type { BulkCounts, NamedBulkEnd, NotReopened };

/** Adopters are told so long after the last application was ended or reopened. Until then staff can take the job back. */
export const bulkHeldSeconds = 600;
/** Of a job in its turn, before another gets one. */
const stepsMax = 50;
const tellBatchMax = 100;
const keptDays = 30;
const reason = 'ended_together';

/** Of one client: for an animal, or for all. */
interface Asked {
  readonly clientId: bigint;
  readonly petId: bigint | null;
}

/** Those to every shelter, or of a shelter's staff to their own. */
function scopeOf(staff: ActingKey, { clientId, petId }: Asked): BulkScope {
  const reach = requireStaff(staff, 'manageOrders');
  return { clientId, petId, shelterId: reach === 'all' ? null : reach };
}

/** How many a job would end, and how many it would leave: the accepted ones, since staff have chosen those one by one. */
export const countToEnd = (db: Db, staff: ActingKey, asked: Asked): Promise<BulkCounts> => countInScope(db, scopeOf(staff, asked));

/** Begins a job that ends what a client has sent and nobody has decided on. The worker carries it out. */
export async function startBulkEnd(tx: Transaction, actor: Actor, by: AuditAuthor, asked: Asked): Promise<bigint> {
  const scope = scopeOf(actor, asked);
  const { submitted, reviewing } = await countInScope(tx, scope);
  const found = submitted + reviewing;
  if (found === 0) throw new AppError('application_state_conflict', 'No application of this client waits for a decision here.');
  await lockSubmissions(tx, asked.clientId);
  const id = await insertBulkEnd(tx, scope, actor, found);
  if (id === undefined) throw alreadyAtIt();
  await audit(tx, by, 'applications.ended', { id, ...scope, count: found });
  return id;
}

/** Reopens what the job has ended, one by one, as far as that is possible. What it has not ended yet stays as it is. */
export async function takeBulkEndBack(tx: Transaction, actor: Actor, by: AuditAuthor, id: bigint): Promise<void> {
  await getBulkEnd(tx, actor, id);
  const job = await lockBulkEnd(tx, id);
  if (!job || !mayBeTakenBack(job)) {
    throw new AppError('application_state_conflict', `The adopters are told already. Reopen single applications instead.`);
  }
  await lockSubmissions(tx, job.clientId);
  if (!(await markTakenBack(tx, id, actor))) throw alreadyAtIt();
  await audit(tx, by, 'applications.taken_back', { ...job, count: Number(job.ended - job.reopened) });
}

export const mayBeTakenBack = ({ state }: Pick<BulkEnd, 'state'>): boolean => state === 'ending' || state === 'held';

export const listBulkEnds = (db: Db, staff: ActingKey, limit: number): Promise<NamedBulkEnd[]> =>
  selectBulkEnds(db, requireStaff(staff, 'manageOrders'), limit);

export const findBulkEndForStaff = (db: Db, staff: ActingKey, id: bigint): Promise<NamedBulkEnd | undefined> =>
  findBulkEnd(db, requireStaff(staff, 'manageOrders'), id);

async function getBulkEnd(db: Db, staff: ActingKey, id: bigint): Promise<NamedBulkEnd> {
  const found = await findBulkEndForStaff(db, staff, id);
  if (!found) throw new AppError('application_not_found', `There is no job ${id} here that ends applications.`);
  return found;
}

/** The first that could not be reopened. */
export const listNotReopened = (db: Db, { id }: Pick<BulkEnd, 'id'>, limit: number): Promise<NotReopened[]> =>
  selectNotReopened(db, id, limit);

/** A job of the worker. Returns how many applications it has worked on. */
export async function workOnBulkEnds(db: Writer, catalogue: Catalogue): Promise<number> {
  const id = await takeBulkEnd(db, bulkHeldSeconds);
  if (id === undefined) return 0;
  for (let steps = 1; steps <= stepsMax; steps += 1) if (!(await step(catalogue, id))) return steps;
  return stepsMax;
}

/** A job of the worker. */
export const sweepBulkEnds = (db: Writer, sizeMax: number): Promise<number> => deleteOldBulkEnds(db, keptDays, sizeMax);

/** One application in one transaction, under the lock of the job: what stops in between goes on there. False: it has nothing to do now. */
async function step(catalogue: Catalogue, id: bigint): Promise<boolean> {
  let failing: bigint | undefined;
  const work = async (tx: CatalogueTransaction): Promise<boolean> => {
    const job = await lockBulkEnd(tx, id);
    if (job?.state === 'ending') return endNext(tx, job);
    if (job?.state === 'reopening') return reopenNext(tx, job, (application) => (failing = application));
    if (job?.state === 'telling') return tellNext(tx, job);
    return job?.state === 'held' && beginTelling(tx, id, bulkHeldSeconds);
  };
  try {
    return await rerunning(catalogue).transaction(work, theService);
  } catch (error) {
    // What can't be reopened stays ended, and its adopter is told.
    if (failing === undefined || !(error instanceof AppError) || error.status >= 500) throw error;
    await catalogue.transaction(async (tx) => {
      const job = await lockBulkEnd(tx, id);
      if (job?.state === 'reopening' && failing !== undefined) await noteReopened(tx, id, failing, error.code);
    }, theService);
    return true;
  }
}

async function endNext(tx: Transaction, job: BulkEnd): Promise<boolean> {
  const next = await selectNextWaiting(tx, job);
  if (!next) {
    await moveBulkEnd(tx, job.id, 'held');
    return false;
  }
  await lockPetRows(tx, [next.petId]);
  const application = await lockApplication(tx, next.id);
  const isWaiting = application?.status === 'submitted' || application?.status === 'reviewing';
  const isInScope = isWaiting && (job.shelterId === null || application.shelterId === job.shelterId);
  if (isInScope) {
    const party: Party = { clientId: job.byClientId, keyId: null, personId: job.byPersonId, by: 'staff' };
    const end = { to: 'closed', closedReason: reason, why: whyClosed[reason], isToldLater: true } as const;
    await moveAndRecord(tx, party, [application], end);
  }
  await noteEnded(tx, job.id, next.id, isInScope);
  return true;
}

async function reopenNext(tx: CatalogueTransaction, job: BulkEnd, tries: (id: bigint) => void): Promise<boolean> {
  const next = await selectNextEnded(tx, job);
  if (!next) {
    await moveBulkEnd(tx, job.id, 'held');
    return false;
  }
  const { id, closedReason } = next;
  const isStillEnded = closedReason === reason;
  if (isStillEnded) {
    tries(id);
    const actor: Actor = { ...rightsOf(job), clientId: job.backClientId, keyId: null, personId: job.backPersonId, authority: null };
    await actOnApplication(tx, id, 'reopen', actor, { orderExpirySeconds: 0 });
  }
  await noteReopened(tx, job.id, id, isStillEnded ? null : 'application_state_conflict');
  return true;
}

/** What those who took it back might do themselves. */
const rightsOf = ({ shelterId }: BulkEnd): Pick<Actor, 'shelterId' | 'scopes'> => ({
  shelterId,
  scopes: [shelterId === null ? 'store:manage' : 'shelter:manage'],
});

async function tellNext(tx: Transaction, job: BulkEnd): Promise<boolean> {
  const ended = await selectToTell(tx, job, tellBatchMax);
  const last = ended.at(-1);
  if (!last) {
    await moveBulkEnd(tx, job.id, 'done');
    return false;
  }
  const stillEnded = ended.filter(({ status, closedReason }) => status === 'closed' && closedReason === reason);
  await tellOfStatus(tx, stillEnded, 'staff');
  await noteTold(tx, job.id, last.id);
  return true;
}

const audit = (
  tx: Transaction,
  by: AuditAuthor,
  act: 'applications.ended' | 'applications.taken_back',
  { id, clientId, petId, shelterId, count }: BulkScope & { readonly id: bigint; readonly count: number },
) =>
  recordAudit(tx, by, act, {
    targetId: clientId,
    shelterId,
    after: { job: String(id), animal: petId === null ? null : String(petId), applications: count },
  });

const alreadyAtIt = () =>
  new AppError(
    'application_state_conflict',
    'Applications of this client are being ended or reopened at this moment. Wait until that is done, and try again.',
  );
