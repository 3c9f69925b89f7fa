import { type AuditAuthor, recordAudit } from '../../access/audit/audit.ts';
import type { CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { lockFreePetRows, lockPetRows } from '../../animals/pets/pets.ts';
import { type Actor, theService } from '../../domain/actor.ts';
import { type ApplicationParty, endedApplicationStatuses, isOpenApplication, unconfirmed } from '../../domain/application-states.ts';
import type { Transaction, Transactions, Transactor } from '../../platform/db/handles.ts';
import { normalizeEmail } from '../../platform/email-addresses.ts';
import { AppError } from '../../platform/errors.ts';
import type { ErasureExtent, Journal } from '../../platform/journal/journal.ts';
import {
  type EraseApplicants,
  eraseAdopterByEmail,
  eraseAdopterOf,
  eraseLockedOrders,
  lockOrdersOfApplication,
} from '../orders/adopters.ts';
import { type AdopterLink, requireLink } from './adopter-links.ts';
import {
  type Addressee,
  findApplicantOfOrder,
  lockApplicants,
  lockEnded,
  lockOfOrders,
  lockOld,
  selectEnded,
  selectFromBefore,
  selectOld,
  selectOpen,
  selectOtherSpellings,
} from './applicant-queries.ts';
import { applicationNotFound, MovedMeanwhile, rerunning } from './application-errors.ts';
import { awaitAdopterMail, cancelFarewells } from './application-mail.ts';
import { moveAndRecord } from './application-records.ts';
import type { Application } from './application-schemas.ts';
import { getApplication, withdrawByAdopter } from './applications.ts';
import { tellAdopter } from './link-mail.ts';
import { type ErasedApplications, eraseLocked } from './settling.ts';
import { findParts, lockApplication } from './transition-queries.ts';

const shownMax = 1_000;
const endedStatuses = endedApplicationStatuses.map(({ status }) => status);

/**
 * Erases a batch of adopters after the retention period: of applications that ended with an adoption all but name and e-mail address, which
 * go with their order. An animal that is locked is left for the next batch. Returns how many.
 */
export async function eraseOldApplicants(db: Transactor, journal: Journal, retentionDays: number, batchSizeMax: number): Promise<number> {
  let count = 0;
  for (const { status, end } of endedApplicationStatuses) {
    // Found outside a transaction: a worker without work makes small statements.
    const found = count < batchSizeMax ? await selectOld(db, status, retentionDays, batchSizeMax - count) : [];
    if (found.length === 0) continue;
    count += await db.transaction(async (tx) => {
      const petIds = await lockFreePetRows(tx, petIdsOf(found));
      const ids = found.map(({ id }) => id);
      const locked = await lockOld(tx, { status, retentionDays, ids, petIds });
      return (await eraseLocked(tx, journal, locked, end === 'with adoption' ? 'answers' : 'all')).applications;
    }, theService);
  }
  return count;
}

/** For the retention of orders: the name and the e-mail address of a completed application go with those of its order. */
export const eraseCompletedWith =
  (journal: Journal): EraseApplicants =>
  async (tx, orderIds) =>
    (await eraseLocked(tx, journal, await lockOfOrders(tx, orderIds, ['completed']), 'all')).responses;

/** What is erased of an order on request is erased of its application too, unless that is being considered again. */
const eraseLastWith =
  (journal: Journal, by: AuditAuthor, erased: (ids: readonly bigint[]) => void, shelterId: bigint | null = null): EraseApplicants =>
  async (tx, orderIds) => {
    const locked = await lockOfOrders(tx, orderIds, ['accepted', ...endedStatuses]);
    // An animal takes its orders along to another shelter, and leaves applications that have ended.
    const found = locked.filter((one) => shelterId === null || one.shelterId === shelterId);
    erased(found.map(({ id }) => id));
    await recordErasure(tx, by, { orders: orderIds, applications: found.map(({ id }) => id) }, shelterId);
    return (await eraseLocked(tx, journal, found, 'all')).responses;
  };

export interface ErasedOfOrder {
  /** Stored responses that contained the adopter's data. */
  readonly responses: number;
  /** The application from which the adopter was erased too. */
  readonly applicationId: bigint | undefined;
  /** The application that the order was placed for, if it still has its adopter: it is being considered again. */
  readonly keptApplicationId: bigint | undefined;
}

/** Erases the adopter of one order and of its application, whatever their statuses. Undefined if the order does not exist. */
export async function eraseOrderAndApplicant(
  db: Transactor,
  journal: Journal,
  by: AuditAuthor,
  orderId: bigint,
): Promise<ErasedOfOrder | undefined> {
  let ids: readonly bigint[] = [];
  const erased = await eraseAdopterOf(
    db,
    journal,
    orderId,
    eraseLastWith(journal, by, (found) => (ids = found)),
  );
  if (!erased) return undefined;
  await awaitAdopterMail(db, ids);
  return { responses: erased.responses, applicationId: ids[0], keptApplicationId: await findApplicantOfOrder(db, orderId) };
}

export interface ErasedByEmail {
  readonly orders: number;
  readonly applications: number;
  /** Applications that the adopter had not confirmed. */
  readonly deleted: number;
  readonly responses: number;
  readonly openOrders: readonly bigint[];
  readonly openApplications: readonly bigint[];
  /** Of other applications: addresses that differ by a tag alone, as in `ada+dogs@example.org`. */
  readonly otherSpellings: readonly string[];
}

/**
 * Erases the adopter from every order and application with this e-mail address, except open ones: the store must be able to contact the
 * adopter. Unconfirmed applications are deleted. Addresses with another tag are reported and left: they may be another person's.
 */
export async function eraseByEmail(
  db: Transactor,
  journal: Journal,
  by: AuditAuthor,
  email: string,
  batchSizeMax: number,
  /** Only in what is of this shelter; null: in the whole store. */
  shelterId: bigint | null = null,
): Promise<ErasedByEmail> {
  const addressee = { email, address: normalizeEmail(email), shelterId };
  const total = { orders: 0, applications: 0, deleted: 0, responses: 0 };
  const withOrders: bigint[] = [];
  for (;;) {
    const ofOrders = await eraseAdopterByEmail(
      db,
      journal,
      addressee,
      batchSizeMax,
      eraseLastWith(journal, by, (ids) => withOrders.push(...ids), shelterId),
    );
    const batch = await eraseBatch(db, journal, by, addressee, batchSizeMax);
    total.orders += ofOrders.orders;
    total.responses += ofOrders.responses + batch.responses;
    total.applications += batch.applications;
    total.deleted += batch.deleted;
    // An application ends with its order: as long as one is found, orders may have ended meanwhile.
    if (batch.found > 0) continue;
    await awaitAdopterMail(db, withOrders);
    return {
      ...total,
      applications: total.applications + withOrders.length,
      openOrders: ofOrders.open,
      openApplications: await selectOpen(db, addressee, shownMax),
      otherSpellings: await selectOtherSpellings(db, addressee, shownMax),
    };
  }
}

async function eraseBatch(
  db: Transactor,
  journal: Journal,
  by: AuditAuthor,
  addressee: Addressee,
  batchSizeMax: number,
): Promise<ErasedApplications & { readonly found: number }> {
  const found = await selectEnded(db, addressee, batchSizeMax);
  const total = { applications: 0, deleted: 0, responses: 0 };
  // Those of each animal in their own transaction: one that waits for several animals could deadlock with another.
  for (const [petId, applications] of Map.groupBy(found, (one) => one.petId)) {
    const ids = applications.map(({ id }) => id);
    const erased = await db.transaction(async (tx) => {
      await lockPetRows(tx, [petId]);
      const locked = await lockEnded(tx, addressee, ids);
      if (locked.length > 0) {
        const erased = { orders: [], applications: locked.map(({ id }) => id) };
        await recordErasure(tx, by, erased, addressee.shelterId);
      }
      return eraseLocked(tx, journal, locked, 'all');
    }, theService);
    total.applications += erased.applications;
    total.deleted += erased.deleted;
    total.responses += erased.responses;
  }
  await awaitAdopterMail(
    db,
    found.map(({ id }) => id),
  );
  return { ...total, found: found.length };
}

interface Parts {
  readonly db: Transactor;
  /** Withdrawing an accepted application releases its animal. */
  readonly catalogue: Transactions<CatalogueTransaction>;
}

/**
 * Erases the adopter of one application and of its orders, as the adopter asks on its page. Withdraws it first if it is open, and deletes it
 * if it is unconfirmed. Rejected once the animal was adopted: the shelter must be able to contact its adopters, so it decides.
 *
 * Once this has returned, no message to the adopter begins to be sent, but for the one that says so to who has used a `link`.
 */
export async function eraseApplicant(
  { db, catalogue }: Parts,
  journal: Journal,
  id: bigint,
  by: AuditAuthor | 'adopter',
  link?: AdopterLink,
): Promise<ErasedApplications> {
  const erased = await rerunning(catalogue).transaction((tx) => eraseOne(tx, journal, id, by, link), theService);
  await awaitAdopterMail(db, [id]);
  return erased;
}

async function eraseOne(
  tx: CatalogueTransaction,
  journal: Journal,
  id: bigint,
  by: AuditAuthor | 'adopter',
  link: AdopterLink | undefined,
): Promise<ErasedApplications> {
  const found = await findParts(tx, id);
  if (!found) throw applicationNotFound(String(id));
  const orders = await lockOrdersOfApplication(tx, { id, petId: found.petId });
  if (isOpenApplication(found.status)) await withdraw(tx, id, by === 'adopter' ? by : 'staff');
  else await lockPetRows(tx, [found.petId]);
  const application = await lockApplication(tx, id);
  if (!application) throw applicationNotFound(String(id));
  if (application.status === 'completed') throw adopted(id);
  // Reopened or confirmed meanwhile; another order was placed for it.
  if (isOpenApplication(application.status) || application.orderId !== found.orderId) throw new MovedMeanwhile();
  // Before anything is in the journal, which would erase it again after a restore.
  if (link) await requireLink(tx, link);
  const erased = await eraseLocked(tx, journal, [application], 'all');
  if (link && application.adopter) await tellAdopter(tx, 'erased', id, application.adopter.email);
  if (by !== 'adopter') await recordErasure(tx, by, { orders: orders.map((order) => order.id), applications: [id] });
  const { responses } = await eraseLockedOrders(tx, journal, orders);
  return { ...erased, responses: erased.responses + responses };
}

/** A client deletes what its adopter has not confirmed, as when the address was wrong. Nobody else has seen it, so it is not audited either. */
export async function deleteUnconfirmed(db: Transactor, journal: Journal, id: bigint, actor: Actor): Promise<void> {
  await db.transaction(async (tx) => {
    const { petId } = await getApplication(tx, actor, id);
    await lockPetRows(tx, [petId]);
    const application = await lockApplication(tx, id);
    if (!application) throw applicationNotFound(String(id));
    if (application.status !== unconfirmed) throw confirmed(application);
    await eraseLocked(tx, journal, [application], 'all');
  }, actor);
  await awaitAdopterMail(db, [id]);
}

/** The audit names what was erased by ids: it must not have what was erased. Adopters who do so themselves are not audited. */
const recordErasure = (
  tx: Transaction,
  by: AuditAuthor,
  erased: { orders: readonly bigint[]; applications: readonly bigint[] },
  shelterId: bigint | null = null,
) =>
  recordAudit(tx, by, 'adopter.erased', {
    shelterId,
    after: { orders: erased.orders.map(String), applications: erased.applications.map(String) },
  });

async function withdraw(tx: CatalogueTransaction, id: bigint, by: ApplicationParty): Promise<void> {
  try {
    await withdrawByAdopter(tx, id, by);
  } catch (error) {
    // It has ended since.
    if (error instanceof AppError && error.code === 'application_state_conflict') throw new MovedMeanwhile();
    throw error;
  }
}

/**
 * Erases again, after a restore, what was erased at `at`. An application that is open in the backup is withdrawn. False if none exists, or
 * all were submitted later.
 */
export async function reapplyApplicantErasure(tx: Transaction, ids: readonly bigint[], extent: ErasureExtent, at: Date): Promise<boolean> {
  const found = await selectFromBefore(tx, ids, at);
  await lockPetRows(tx, petIdsOf(found));
  const locked = await lockApplicants(
    tx,
    found.map(({ id }) => id),
  );
  await cancelFarewells(
    tx,
    locked.map(({ id }) => id),
  );
  const considered = locked.filter(({ status }) => status === 'submitted' || status === 'reviewing');
  const party = { clientId: null, keyId: null, personId: null, by: 'service' } as const;
  await moveAndRecord(tx, party, considered, { to: 'withdrawn', why: 'its adopter was erased before the store was restored' });
  const keepsAddress = ({ status }: Application) => extent === 'answers' && status === 'completed';
  await eraseLocked(tx, () => true, locked.filter(keepsAddress), 'answers');
  await eraseLocked(
    tx,
    () => true,
    locked.filter((application) => !keepsAddress(application)),
    'all',
  );
  return found.length > 0;
}

const petIdsOf = (found: ReadonlyArray<{ readonly petId: bigint }>) => found.map(({ petId }) => petId);

const adopted = (id: bigint) =>
  new AppError(
    'application_state_conflict',
    `Application ${id} is completed: the animal was adopted, so its shelter decides when the adopter's data is erased. Contact the shelter.`,
  );

const confirmed = ({ id, status }: Application) =>
  new AppError(
    'application_state_conflict',
    `Application ${id} is ${status}, and only an unconfirmed one can be deleted. Withdraw it if it is open. Its adopter can have their data erased on its page.`,
  );
