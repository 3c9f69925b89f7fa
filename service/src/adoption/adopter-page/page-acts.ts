import { getBounds } from '../../access/clients/clients.ts';
import type { Catalogue } from '../../animals/list-cache/catalogue.ts';
import { theService } from '../../domain/actor.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { normalizeEmail } from '../../platform/email-addresses.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import {
  type AdopterAct,
  type AdopterLink,
  type AskState,
  askForLink,
  isLinkLive,
  readAsked,
  requireLink,
} from '../applications/adopter-links.ts';
import { eraseApplicant } from '../applications/applicants.ts';
import { rerunning } from '../applications/application-errors.ts';
import { withdrawByAdopter } from '../applications/applications.ts';
import { confirmByAdopter } from '../applications/submissions.ts';
import type { Answer } from '../questions/question-schemas.ts';
import { findAnswers, findPageFacts, type PageFacts } from './page-queries.ts';

/** What an adopter's page shows and does. An act by a `link` uses that up; LinkEnded if it is no longer live. */
export interface PageActs {
  find(id: bigint): Promise<PageFacts | undefined>;
  confirm(id: bigint): Promise<unknown>;
  withdraw(id: bigint, link?: AdopterLink): Promise<unknown>;
  /** Withdraws the application first if it is open. */
  erase(id: bigint, link?: AdopterLink): Promise<unknown>;
  isLive(link: AdopterLink): Promise<boolean>;
  /** Has a link mailed that does this. */
  ask(facts: PageFacts, act: AdopterAct): Promise<unknown>;
  readAsked(id: bigint, act: AdopterAct): Promise<AskState>;
  /** Undefined: this is not the address of the adopter, or the answers were erased. */
  readAnswers(id: bigint, email: string): Promise<readonly Answer[] | undefined>;
}

export const pageActs = (db: Transactor, catalogue: Catalogue, journal: Journal): PageActs => ({
  find: (id) => findPageFacts(db, id),
  confirm: (id) => db.transaction((tx) => confirmByAdopter(tx, id, getBounds), theService),
  withdraw: (id, link) =>
    rerunning(catalogue).transaction(async (tx) => {
      await withdrawByAdopter(tx, id);
      if (link) await requireLink(tx, link);
    }, theService),
  erase: (id, link) => eraseApplicant({ db, catalogue }, journal, id, 'adopter', link),
  isLive: (link) => isLinkLive(db, link),
  ask: ({ id, linkNumber }, act) => askForLink(db, { id, act, linkNumber }),
  readAsked: (id, act) => readAsked(db, id, act),
  readAnswers: async (id, email) => {
    const found = await findAnswers(db, id);
    return found && normalizeEmail(found.email) === normalizeEmail(email.trim()) ? found.answers : undefined;
  },
});
