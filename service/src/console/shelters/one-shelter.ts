import { requireEtag } from '../../access/admission/admission-hook.ts';
import { shelterEtag } from '../../adoption/shelters/shelter-json.ts';
import type { Shelter, ShelterChanges } from '../../adoption/shelters/shelter-schemas.ts';
import { changeShelter, getShelter, getWaiting, isStoreStaff } from '../../adoption/shelters/shelters.ts';
import type { Db, Transactor } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import { type Html, type HtmlValue, html } from '../../platform/html.ts';
import type { FormOutcome } from '../forms/form-runner.ts';
import { icon } from '../frame/elements.ts';
import { FormError, notFound } from '../screens/page-error.ts';
import type { Needs, Submission } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';

export interface ShelterParts {
  readonly db: Transactor & Db;
  /** Mail is on: e-mail addresses are confirmed by links. */
  readonly mails: boolean;
}

/** An admin, for the own shelter; staff of the store, for all. */
export const toSettle: Needs = 'shelter:settings';
export const shelterPath = '/shelters/:shelterId';
export const shelterPathOf = ({ id }: Pick<Shelter, 'id'>): string => `/shelters/${id}`;

/** The shelter of the page. Another one is not found, like one that there is not. */
export async function getSettled(db: Db, visit: Visit, id = visit.id('shelterId')): Promise<Shelter> {
  const own = visit.caller.shelterId;
  if (own !== null && own !== id) throw noShelter();
  return getShelter(db, id).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'shelter_not_found' ? noShelter() : error;
  });
}

const noShelter = () => notFound('There is no such shelter here.');

/** The top of each page about one shelter. */
export const shelterHead = (shelter: Shelter, title: HtmlValue): Html =>
  html`<a class="crumb" href="${shelterPathOf(shelter)}">${icon('back')}<bdi>${shelter.name}</bdi></a>
<h1>${title}</h1>`;

export const explainSettings = async (): Promise<string> => 'Somebody else has changed the shelter meanwhile.';

/** Stores changes of the shelter that the page has shown. What its people write waits for the staff of the store, and the page says so. */
export async function settle(
  { visit, joined, version }: Pick<Submission<unknown>, 'visit' | 'joined' | 'version'>,
  changes: ShelterChanges,
  { mails, done, to }: { readonly mails: boolean; readonly done: string; readonly to?: string },
): Promise<FormOutcome> {
  const { caller } = visit;
  const { id, email: before } = await getSettled(joined, visit);
  const changed = await changeShelter(joined, id, changes, {
    key: caller,
    by: caller,
    mails,
    expect: (now) => requireEtag(version, shelterEtag(now), now.name),
  }).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'invalid_body' ? new FormError(error.message) : error;
  });
  const { waiting } = await getWaiting(joined, id, { mails });
  const isNew = waiting.some((field) => changes[field] !== undefined && field !== 'email');
  const confirms =
    isNew && !isStoreStaff(caller) ? ' Everybody sees it now; mail to adopters has it once the staff of the store have confirmed it.' : '';
  const mailed =
    changed.email !== before && waiting.includes('email')
      ? ` A link is mailed to ${changed.email}: the address counts once somebody has followed it.`
      : '';
  return { to: to ?? shelterPathOf(changed), done: `${done}${confirms}${mailed}` };
}
