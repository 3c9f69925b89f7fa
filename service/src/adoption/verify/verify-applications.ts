import type { Db, Snapshotter } from '../../platform/db/handles.ts';
import { int64Max } from '../../platform/db/int64.ts';
import { ApplicationReplay } from './application-replay.ts';
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
