import { setTimeout as sleep } from 'node:timers/promises';
import { type FeedGap, leaveGap, storeFeedServer } from '../../changes/events/events.ts';
import { ConfigError } from '../../platform/config.ts';
import { readServer, readStoredServer } from '../../platform/db/deployment.ts';
import type { Db, Transaction } from '../../platform/db/handles.ts';
import { type OwnerConnection, transactAsOwner } from '../../platform/db/owner-connection.ts';
import {
  type Connected,
  endAllSignIns,
  expireCursors,
  findConnected,
  isInRecovery,
  lockDeployment,
  mayRestore,
  moveShardsOn,
  replaceDeploymentId,
  skipAssignedIds,
  storeServer,
} from './restore-queries.ts';

/** The store can't be made ready, for a reason that the operator can remove. */
class NotRestorable extends Error {}

/** What an operator knows and PostgreSQL doesn't tell. */
export type WhatHappened =
  /** Nothing: the server tells by its identity whether the store was restored. */
  | 'nothing'
  /** The disk was restored from a snapshot. PostgreSQL can't tell that from a restart. */
  | 'from-snapshot'
  /** A standby that had every write has taken over. */
  | 'nothing-lost';

type Moved = (FeedGap & { readonly endpoints: number }) | undefined;

export interface Readied {
  /** Undefined: the positions were assigned on this server, or moved on before. */
  readonly moved: Moved;
  /** The id that named everything in Redis before; undefined if it still does. */
  readonly formerId: string | undefined;
  /** Null: PostgreSQL doesn't tell. */
  readonly server: string | null;
}

const connectedTriesMax = 10;
const connectedIntervalMs = 200;
const lockTimeoutMs = 10_000;
const namedMax = 5;

/**
 * Makes the database of a restored store ready, in one transaction: moves the feed on, and gives the deployment another id, so that
 * nothing is used that Redis has stored in the time that was lost. `owner` is a connection of the tables' owner.
 *
 * It is done once per restore, because `recordServer` is called when the journal is applied too. If the command ends before, everything is
 * done again, which is harmless while nobody is connected. A backup has the server of its own time, so whenever it is restored, it differs
 * again.
 */
export async function readyDatabase(owner: OwnerConnection, told: WhatHappened): Promise<Readied> {
  if (!(await mayRestore(owner)))
    throw new ConfigError(
      "The user in DATABASE_URL may not change the table deployment. Use the address of the owner, as for 'homeward migrate'.",
    );
  const server = await readServer(owner).catch((error: unknown) => {
    if (told !== 'nothing') return null;
    throw new NotRestorable(
      `PostgreSQL does not tell which server it is (${error instanceof Error ? error.message : error}). Say what happened with --from-snapshot or --nothing-lost.`,
    );
  });
  // Not in the transaction, in which PostgreSQL would show the same connections each time.
  if (isRestored(await readStoredServer(owner), server, told)) await untilNobodyIsConnected(owner);
  return transactAsOwner(owner, lockTimeoutMs, (tx) => readyWithin(tx, server, told));
}

/** From now on the store is not restored any more, and nothing warns. */
export async function recordServer(owner: OwnerConnection, { server }: Readied): Promise<void> {
  await transactAsOwner(owner, lockTimeoutMs, async (tx) => {
    await storeServer(tx, server);
    await storeFeedServer(tx, server);
  });
}

async function readyWithin(tx: Transaction, server: string | null, told: WhatHappened): Promise<Readied> {
  const before = await lockDeployment(tx);
  if (!isRestored(before.server, server, told)) return { moved: undefined, formerId: undefined, server };
  const moved = await leaveGap(tx);
  await expireCursors(tx);
  const endpoints = await moveShardsOn(tx, moved);
  await replaceDeploymentId(tx);
  await skipAssignedIds(tx, server);
  await endAllSignIns(tx);
  return { moved: { ...moved, endpoints }, formerId: before.id, server };
}

function isRestored(stored: string | null, server: string | null, told: WhatHappened): boolean {
  return told === 'from-snapshot' || (told === 'nothing' && stored !== server);
}

/** A backup may be in recovery for long, and by default it then waits for the operator. */
export async function assertOutOfRecovery(db: Db): Promise<void> {
  if (await isInRecovery(db))
    throw new NotRestorable(
      'PostgreSQL is still in recovery. If it has reached its target and waits there, call pg_wal_replay_resume() as a superuser. If it is a standby, use the address of the primary.',
    );
}

/**
 * What runs meanwhile would assign positions, and use an id of the deployment that is replaced. PostgreSQL notices a little later that
 * a process has ended.
 */
export async function untilNobodyIsConnected(db: Db): Promise<void> {
  let connected: readonly Connected[] = [];
  for (let tries = 0; tries < connectedTriesMax; tries += 1) {
    if (tries > 0) await sleep(connectedIntervalMs);
    connected = await findConnected(db);
    if (connected.length === 0) return;
  }
  throw new NotRestorable(
    `Processes of the store are connected: ${describe(connected)}. Stop every serve, worker and other command, and run this again. Nothing was changed.`,
  );
}

function describe(connected: readonly Connected[]): string {
  const named = connected
    .slice(0, namedMax)
    .map(({ pid, user, address }) => `process ${pid} of PostgreSQL, as ${user}${address === null ? '' : ` from ${address}`}`);
  const more = connected.length - named.length;
  return named.join('; ') + (more > 0 ? `; and ${more} more` : '');
}
