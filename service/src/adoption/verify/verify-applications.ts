import {
  afterOrder,
  applicationStates,
  closedBy,
  closedReasonNames,
  isApplicationTransition,
  isApplicationUndoing,
  unconfirmed,
} from '../../domain/application-states.ts';
import type { Db, Snapshotter } from '../../platform/db/handles.ts';
import { int64Max } from '../../platform/db/int64.ts';
import {
  type ApplicationRow,
  type ApplicationState,
  selectApplicationHistory,
  selectApplicationStates,
} from './verify-application-queries.ts';
import { findMissingNames } from './verify-queries.ts';

export interface VerifiedApplications {
  readonly applications: number;
  readonly rows: number;
  /** The first violation; undefined if there is none. */
  readonly violation: string | undefined;
}

const applicationsPerRange = 1_000;
const rowsPerBatch = 10_000;

/**
 * Replays the history of every application, and compares each with its order and its animal. Ranges of applications are read like
 * those of animals, each in its own snapshot: an application is compared with its own rows only.
 */
export async function verifyApplications(db: Snapshotter, progress: (lastId: bigint) => void): Promise<VerifiedApplications> {
  let seen: VerifiedApplications = { applications: 0, rows: 0, violation: undefined };
  for (let afterId = 0n; ; ) {
    const range = await db.snapshot((tx) => verifyRange(tx, afterId));
    seen = { applications: seen.applications + range.applications, rows: seen.rows + range.rows, violation: range.violation };
    progress(range.lastId);
    if (range.violation || range.lastId === int64Max) return seen;
    afterId = range.lastId;
  }
}

interface Range extends VerifiedApplications {
  /** All applications up to this one were read. */
  readonly lastId: bigint;
}

/**
 * Verifies the applications after one: `applicationsPerRange`, or fewer if they have more than `rowsPerBatch` rows. One that alone has
 * more is read in batches: its history has as many rows as there were decisions on it, so its snapshot is not open for long either.
 */
async function verifyRange(tx: Db, afterId: bigint): Promise<Range> {
  const found = await selectApplicationStates(tx, afterId, applicationsPerRange);
  // The last range has all rows that follow, also those of applications that don't exist.
  const lastFoundId = found.length < applicationsPerRange ? int64Max : (found.at(-1)?.id ?? int64Max);
  let batch = await selectApplicationHistory(tx, { applicationId: afterId, id: int64Max }, lastFoundId, rowsPerBatch);
  const lastId = wholeUpTo(batch) ?? lastFoundId;
  const applications = found.filter(({ id }) => id <= lastId);
  const replays = new Map(applications.map(({ id }) => [id, new ApplicationReplay(id)]));
  let rows = 0;
  for (;;) {
    const read = batch.filter(({ applicationId }) => applicationId <= lastId);
    rows += read.length;
    const violation = replay(replays, read) ?? (await findMissingNames(tx, read, (row) => `application history row ${row}`));
    const last = read.at(-1);
    if (violation) return { applications: applications.length, rows, violation, lastId };
    if (!last || read.length < rowsPerBatch) break;
    batch = await selectApplicationHistory(tx, last, lastId, rowsPerBatch);
  }
  return { applications: applications.length, rows, violation: compare(replays, applications), lastId };
}

/** The last application whose rows a full batch has all of; or the only one of which it has rows. Undefined: the batch is not full. */
function wholeUpTo(batch: readonly ApplicationRow[]): bigint | undefined {
  const last = batch.at(-1);
  if (!last || batch.length < rowsPerBatch) return undefined;
  return batch[0]?.applicationId === last.applicationId ? last.applicationId : last.applicationId - 1n;
}

function replay(replays: ReadonlyMap<bigint, ApplicationReplay>, rows: readonly ApplicationRow[]): string | undefined {
  for (const row of rows) {
    const one = replays.get(row.applicationId);
    const violation = one ? one.apply(row) : `application history row ${row.id}: application ${row.applicationId} does not exist`;
    if (violation) return violation;
  }
  return undefined;
}

function compare(replays: ReadonlyMap<bigint, ApplicationReplay>, applications: readonly ApplicationState[]): string | undefined {
  for (const application of applications) {
    const violation = replays.get(application.id)?.compare(application);
    if (violation) return violation;
  }
  return undefined;
}

/** Says what an application and its order or its animal say differently; undefined: nothing. */
export function findDisagreement(application: ApplicationState): string | undefined {
  return (
    findMissing(application) ??
    compareReason(application) ??
    compareOrder(application) ??
    compareShelter(application) ??
    (application.hasOtherNote ? 'its note is not the newest of those that were added' : undefined) ??
    findUnsettled(application)
  );
}

function findMissing({ hasClient, clientId, petStatus, petId, hasShelter, shelterId, order, orderId }: ApplicationState) {
  if (!hasClient) return `client ${clientId} does not exist`;
  if (petStatus === null) return `animal ${petId} does not exist`;
  if (!hasShelter) return `shelter ${shelterId} does not exist`;
  return orderId !== null && order === null ? `order ${orderId} does not exist` : undefined;
}

function compareReason({ status, closedReason }: ApplicationState): string | undefined {
  if (status !== 'closed')
    return closedReason === null ? undefined : `it is ${status}, but has the reason ${closedReason} for being closed`;
  if (closedReason === null) return 'it is closed without a reason';
  return (closedReasonNames as readonly string[]).includes(closedReason)
    ? undefined
    : `there is no reason ${closedReason} for being closed`;
}

function compareOrder({ id, status, orderId, order, petId, clientId }: ApplicationState): string | undefined {
  if (order === null) return status === 'accepted' || status === 'completed' ? `it is ${status} without an order` : undefined;
  if (order.applicationId !== id) return `it names order ${orderId}, which was not placed for it`;
  if (order.petId !== petId) return `it asks for animal ${petId}, but order ${orderId} for animal ${order.petId}`;
  if (order.clientId !== clientId) return `it is of client ${clientId}, but order ${orderId} of client ${order.clientId}`;
  const after = afterOrder(order.status)?.to ?? 'accepted';
  // The accepted one may still have to follow its order: findUnsettled decides.
  const agrees = status === 'accepted' || (after === 'closed' ? status !== 'completed' : status === after);
  return agrees ? undefined : `it is ${status}, but its order ${orderId} is ${order.status}`;
}

function compareShelter({ status, shelterId, petId, petShelterId }: ApplicationState): string | undefined {
  // One that has ended stays with the shelter that has decided.
  if (applicationStates[status].phase === 'ended' || shelterId === petShelterId) return undefined;
  return `it belongs to shelter ${shelterId}, but animal ${petId} to shelter ${petShelterId}`;
}

/** It is open, and its order or its animal no longer is. */
function findUnsettled(application: ApplicationState): string | undefined {
  const { status } = application;
  const ended = applicationStates[status].phase === 'open' ? whatEnded(application) : undefined;
  return ended && `it is still ${status}, but ${ended}`;
}

function whatEnded({ status, order, orderId, petId, petStatus }: ApplicationState): string | undefined {
  if (status === 'accepted') return order && afterOrder(order.status) ? `its order ${orderId} is ${order.status}` : undefined;
  return closedBy[petStatus as keyof typeof closedBy] && `animal ${petId} is ${petStatus}`;
}

const dayMs = 86_400_000;
/** A row's time is later than the beginning of its transaction, which decides. */
const toleranceMs = 60_000;

/** Replays the history of one application, row by row. The methods return what is wrong as a sentence, or undefined. */
export class ApplicationReplay {
  readonly #id: bigint;
  #status: string | null = null;
  #orderId: bigint | null = null;
  #by = '';
  #at = new Date(0);

  constructor(id: bigint) {
    this.#id = id;
  }

  apply({ id, from, to, by, at, orderId, isUndoing }: ApplicationRow): string | undefined {
    const violation = this.#step(from, to, at, isUndoing);
    this.#status = to;
    this.#by = by;
    this.#at = at;
    this.#orderId = orderId;
    return violation && `application history row ${id} (application ${this.#id}): ${violation}`;
  }

  /** Compares the end of the history with the current row, and that with its order and its animal. */
  compare(application: ApplicationState): string | undefined {
    const violation = this.#compareEnd(application) ?? findDisagreement(application);
    return violation && `application ${this.#id}: ${violation}`;
  }

  #step(from: string | null, to: string, at: Date, isUndoing: boolean): string | undefined {
    if (from !== this.#status) return `the application changes from ${named(from)} to ${to}, but its status was ${named(this.#status)}`;
    if (isUndoing)
      return isApplicationUndoing(from, to) ? undefined : `what led an application from ${to} to ${named(from)} can't be undone`;
    const days = (at.getTime() - this.#at.getTime() - toleranceMs) / dayMs;
    return isApplicationTransition(from, to, { by: this.#by, days })
      ? undefined
      : `an application can't change from ${named(from)} to ${to}`;
  }

  #compareEnd({ status, orderId }: ApplicationState): string | undefined {
    // An unconfirmed one has no history.
    if (this.#status !== (status === unconfirmed ? null : status))
      return `its history ends with ${named(this.#status)}, but its status is ${status}`;
    if (this.#orderId !== orderId) return `its history ends with ${order(this.#orderId)}, but it names ${order(orderId)}`;
    return undefined;
  }
}

const named = (status: string | null): string => status ?? 'nothing';
const order = (id: bigint | null): string => (id === null ? 'no order' : `order ${id}`);
