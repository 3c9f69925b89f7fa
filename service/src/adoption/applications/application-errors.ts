import type { Bounds } from '../../access/rate-limit/plans.ts';
import { petNotFound } from '../../animals/pets/pet-locks.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import {
  type ApplicationCallerAction,
  type ApplicationStatus,
  applicationActions,
  applicationActionsFrom,
  closedBy,
  type Standing,
} from '../../domain/application-states.ts';
import { explainStateConflict } from '../../domain/state-conflicts.ts';
import type { Transaction, Transactions } from '../../platform/db/handles.ts';
import { AppError, retryLater } from '../../platform/errors.ts';
import type { Application } from './application-schemas.ts';
import type { Added, ApplicationCounts } from './count-queries.ts';

export const applicationNotFound = (id: string) =>
  new AppError('application_not_found', `You have no application with id ${id.slice(0, 40)}.`);

/** Throws unless somebody may apply for the animal. Undefined: it does not exist, or was removed. */
export function requireAnimal(pet: Pet | undefined, petId: bigint): asserts pet is Pet {
  if (!pet) throw petNotFound(String(petId));
  if (closedBy[pet.status]) {
    throw new AppError('pet_not_available', `${named(pet)} is ${pet.status}. Adopters can apply only for an available or pending animal.`);
  }
}

export const notAvailable = (pet: Pet) =>
  new AppError('pet_not_available', `${named(pet)} is ${pet.status}. An application can be accepted only while the animal is available.`);

/** The animal was moved after the application had ended, which stays with the shelter that decided. */
export const decidedElsewhere = (pet: Pet, { id, status }: Application) =>
  new AppError(
    'application_state_conflict',
    `Application ${id} is ${status}, and ${named(pet)} belongs to another shelter since then, so it can't be reopened. The adopter can apply again.`,
  );

/** `next` is what can be done about it. */
export const applicationExists = (pet: Pet, id: bigint, next: string) =>
  new AppError('application_exists', `Application ${id} of this adopter's e-mail address for ${named(pet)} is still open. ${next}`);

export const allPlacesTaken = (pet: Pet, { open, max }: { open: number; max: number }) =>
  new AppError(
    'applications_full',
    `${named(pet)} has ${open} open applications; its shelter takes ${max}. Retry when some have ended, or choose another animal.`,
  );

export const shareTaken = (pet: Pet, { own, share, max }: { own: number; share: number; max: number }) =>
  new AppError(
    'applications_full',
    `This client has ${own} open applications for ${named(pet)}. Its shelter takes ${max}, at most ${share} of one client. Retry when some of yours have ended, or choose another animal.`,
  );

export const entryPlacesTaken = (pet: Pet, { entered, max }: { entered: number; max: number }) =>
  new AppError(
    'applications_full',
    `Staff have entered ${entered} applications for ${named(pet)} that are still open; ${max} are allowed. Decide on some of them first.`,
  );

export const tooManyOfAdopter = (open: number, { openApplicationsOfAdopter: max }: Bounds) =>
  limit(`This client has ${open} open applications of this adopter's e-mail address; ${max} are allowed.`);

/** Only what this client has submitted counts. Deleted ones do not. */
export const tooManyUnconfirmed = (max: number) =>
  new AppError(
    'open_application_limit',
    `This client has ${max} applications of this adopter's e-mail address that are not confirmed; ${max} are allowed. The adopter has mail, or will have it tomorrow, to confirm each. Each is deleted after 72 hours unless it is confirmed.`,
  );

/** Says which of the client's counts has reached its bound. Undefined: none. */
export function findExceeded(counts: ApplicationCounts, { openApplications: max }: Bounds, added: Added): AppError | undefined {
  if (counts.open >= max) return limit(`This client has ${counts.open} open applications; ${max} are allowed.`);
  if (added === 'unconfirmed' && counts.unconfirmed >= max) {
    return new AppError(
      'open_application_limit',
      `This client has ${counts.unconfirmed} applications that their adopters have not confirmed; ${max} are allowed. Each is deleted after 72 hours unless it is confirmed. If strangers fill in your form, protect it.`,
    );
  }
  if (added === 'open' || counts.confirmations < max) return undefined;
  return new AppError(
    'open_application_limit',
    `This client has caused mail to ${counts.confirmations} addresses today (UTC) that nobody had confirmed; ${max} are allowed. Submit more after midnight UTC.`,
  );
}

const limit = (what: string) =>
  new AppError('open_application_limit', `${what} Wait until the store has decided on some, or withdraw some.`);

const named = ({ id, name }: Pet) => `${name} (id ${id})`;

const actionOf = (name: string) => applicationActions[name as ApplicationCallerAction];

/** Says why the status of an application does not allow an action, and what can be done instead. */
export const explainApplicationConflict = (id: bigint, standing: Standing, name: ApplicationCallerAction): string =>
  explainStateConflict(`Application ${id}`, standing.status, name, {
    actionsFrom: (status) =>
      applicationActionsFrom(status === standing.status ? standing : { status: status as ApplicationStatus, isReopenable: false }),
    statusAfter: (action) => actionOf(action).to,
    doneWord: (action) => actionOf(action).done,
    first: 'submitted' satisfies ApplicationStatus,
  });

const triesMax = 3;

/** The application has changed between the first look at it and its lock, so that other rows must be locked first. Nothing was changed. */
export class MovedMeanwhile extends Error {}

/** Runs a transaction again if an application has moved meanwhile. */
export const rerunning = <Tx extends Transaction>(db: Transactions<Tx>): Transactions<Tx> => ({
  transaction: async (work, by) => {
    for (let tries = 1; ; tries++) {
      try {
        return await db.transaction(work, by);
      } catch (error) {
        if (!(error instanceof MovedMeanwhile)) throw error;
        if (tries === triesMax) throw retryLater('The application is being changed by others. Retry in 1 s.', error);
      }
    }
  },
});
