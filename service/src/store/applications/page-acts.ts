import { getBounds } from '../../partners/clients/clients.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import { withdrawByAdopter } from './applications.ts';
import { rerunning } from './moved-meanwhile.ts';
import { findPageFacts, type PageFacts } from './page-queries.ts';
import { confirmByAdopter } from './submissions.ts';

/** What an adopter's page shows and does. */
export interface PageActs {
  find(id: bigint): Promise<PageFacts | undefined>;
  confirm(id: bigint): Promise<unknown>;
  withdraw(id: bigint): Promise<unknown>;
  /** Withdraws the application first if it is open. */
  erase(id: bigint): Promise<unknown>;
}

export const pageActs = (db: Transactor, catalogue: Catalogue, erase: PageActs['erase']): PageActs => ({
  find: (id) => findPageFacts(db, id),
  confirm: (id) => db.transaction((tx) => confirmByAdopter(tx, id, getBounds)),
  withdraw: (id) => rerunning(catalogue).transaction((tx) => withdrawByAdopter(tx, id)),
  erase,
});
