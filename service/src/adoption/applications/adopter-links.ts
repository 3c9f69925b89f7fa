import { randomInt } from 'node:crypto';
import { theService } from '../../domain/actor.ts';
import type { Db, Transaction, Transactor } from '../../platform/db/handles.ts';
import {
  type AdopterAct,
  type AdopterLink,
  countAsked,
  insertAdopterLink,
  isLinkLive,
  lockAsked,
  useAdopterLink,
} from './adopter-link-queries.ts';
import { linkKindOf, tellAdopter } from './link-mail.ts';
import { linkNumberMax } from './page-tokens.ts';

export type { AdopterAct, AdopterLink } from './adopter-link-queries.ts';
export { isLinkLive };

/** Of an application, for a UTC day: who has its status link can't flood the adopter. */
export const asksMax = 3;

export interface AskState {
  /** When a link for this act was last asked for today; null: it was not. */
  readonly lastAt: Date | null;
  readonly left: number;
  /** When there are `asksMax` again. */
  readonly resetAt: Date;
}

export async function readAsked(db: Db, id: bigint, act: AdopterAct): Promise<AskState> {
  const { count, ...rest } = await countAsked(db, id, act);
  return { ...rest, left: Math.max(0, asksMax - count) };
}

/** Queues mail with a link that does this, to the confirmed address. Does nothing for who may not ask, or not again today. */
export const askForLink = (db: Transactor, { id, act, linkNumber }: { id: bigint; act: AdopterAct; linkNumber: bigint }): Promise<void> =>
  db.transaction(async (tx) => {
    if (!(await lockAsked(tx, id, linkNumber)) || (await readAsked(tx, id, act)).left === 0) return;
    await insertAdopterLink(tx, { id, act, number: BigInt(randomInt(1, linkNumberMax)) });
    await tellAdopter(tx, linkKindOf[act], id);
  }, theService);

/** The link was used, has ended, or was ended meanwhile. Nothing was changed. */
export class LinkEnded extends Error {}

/** The last of what makes an act by a link true, in its transaction. Requires the lock of the application. */
export async function requireLink(tx: Transaction, link: AdopterLink): Promise<void> {
  if (!(await useAdopterLink(tx, link))) throw new LinkEnded();
}
