import { type ActingKey, requireStaff } from '../../access/admission/access.ts';
import type { ApplicationStatus, ConfirmedStatus } from '../../domain/application-states.ts';
import type { Db } from '../../platform/db/handles.ts';
import { toldKinds } from './application-mail.ts';
import { countOfPet } from './count-queries.ts';
import {
  type ApplicationMoment,
  countListedApplications,
  findListedApplication,
  type ListedApplication,
  type OpenApplicant,
  type StaffApplicationPage,
  selectApplicationMoments,
  selectApplicationsById,
  selectListedApplications,
  selectOpenApplicants,
  selectUntold,
  selectWaitingApplications,
  type WaitingApplication,
} from './staff-queries.ts';

export type { ApplicationMoment, ListedApplication, WaitingApplication };

/** What staff read to decide: those of a shelter see what is its own, and nobody sees what an adopter has not confirmed. */
export const listApplicationsForStaff = (db: Db, staff: ActingKey, page: StaffApplicationPage): Promise<ListedApplication[]> =>
  selectListedApplications(db, requireStaff(staff, 'manageOrders'), page);

export const listApplicationsById = (db: Db, staff: ActingKey, ids: readonly bigint[]): Promise<ListedApplication[]> =>
  selectApplicationsById(db, requireStaff(staff, 'manageOrders'), ids);

/** Of an animal, or of all. At most `max` of each status. */
export const countApplicationsForStaff = (
  db: Db,
  staff: ActingKey,
  petId: bigint | undefined,
  max: number,
): Promise<ReadonlyMap<ApplicationStatus, number>> => countListedApplications(db, requireStaff(staff, 'manageOrders'), petId, max);

export const findApplicationForStaff = (db: Db, staff: ActingKey, id: bigint): Promise<ListedApplication | undefined> =>
  findListedApplication(db, requireStaff(staff, 'manageOrders'), id);

/** Of an application that the reader has found, the last `limit` steps, newest first. */
export const listApplicationMoments = (db: Db, id: bigint, limit: number): Promise<ApplicationMoment[]> =>
  selectApplicationMoments(db, id, limit);

/** The open ones for an animal that the staff may decide on, by number: whom an act concerns. */
export const listOpenApplicants = (db: Db, staff: ActingKey, petId: bigint, limit: number): Promise<OpenApplicant[]> =>
  selectOpenApplicants(db, requireStaff(staff, 'manageOrders'), petId, limit);

/** How many want an animal. */
export const countOpen = (db: Db, petId: bigint): Promise<number> => countOfPet(db, petId);

/** Those that have had this status for `days` without an act, oldest first. */
export const listWaitingApplications = (
  db: Db,
  staff: ActingKey,
  { status, days, limit }: { readonly status: ConfirmedStatus; readonly days: number; readonly limit: number },
): Promise<WaitingApplication[]> => selectWaitingApplications(db, requireStaff(staff, 'manageOrders'), { status, days }, limit);

/** Those whose adopters don't know where they stand, since the message about that has failed within `days`. */
export const listUntold = (
  db: Db,
  staff: ActingKey,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<WaitingApplication[]> => selectUntold(db, requireStaff(staff, 'manageOrders'), { told: toldKinds, days }, limit);
