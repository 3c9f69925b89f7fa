import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Verification, verifyHistory } from '../../adoption/verify/verify.ts';
import { NotMigrated, openDependencies } from '../../dependencies.ts';
import { type Applied, applyJournal } from '../../operations/recovery/apply-journal.ts';
import { readJournalFiles } from '../../operations/recovery/journal-files.ts';
import {
  assertOutOfRecovery,
  type Readied,
  readyDatabase,
  recordServer,
  type WhatHappened,
} from '../../operations/recovery/restored-store.ts';
import type { Config, ReadConfig } from '../../platform/config.ts';
import { settledMs } from '../../platform/db/change-watch.ts';
import { findPendingMigrations } from '../../platform/db/migrate.ts';
import { connectAsOwner } from '../../platform/db/owner-connection.ts';
import type { JournalLine } from '../../platform/journal/journal.ts';
import { journalPlaceOf } from '../../platform/journal-place.ts';
import { lastingKeysOf, type RedisLink, redisKeysOf } from '../../platform/redis/redis-link.ts';
import { describePostgres } from '../../platform/server-urls.ts';
import { type ConfirmOptions, confirm, drawBar, endProgress, printJson, printLines, UsageError } from '../terminal/output.ts';
import { yesOption } from '../terminal/store-command.ts';
import { describeLines, unreadable } from './journal.ts';

interface Options extends ConfirmOptions {
  /** False with --no-journal. */
  readonly journal: boolean;
  readonly fromSnapshot?: boolean;
  readonly nothingLost?: boolean;
  readonly skipUnreadable?: boolean;
}

export function addRestoreCheckCommand(program: Command, config: ReadConfig): void {
  program
    .command('restore-check')
    .description(
      'make a restored store ready, before serve and worker are started: move the feed on, apply the journal, forget what Redis knows, and verify; safe to run again',
    )
    .argument('[file...]', "logs with the journal, or its directory; '-' reads standard input; without any, those of HOMEWARD_JOURNAL")
    .option('--no-journal', 'apply no journal, although what was revoked, suspended or erased since the backup then is not any more')
    .option('--from-snapshot', 'the disk was restored from a snapshot, which PostgreSQL takes for a restart')
    .option('--nothing-lost', 'a standby that had every write has taken over: only record the new server, and verify')
    .option('--skip-unreadable', 'skip journal lines that were cut off, and print them')
    .option(...yesOption)
    .option('--json', 'print one JSON object')
    .action((files: string[], options: Options) => restoreCheck(config(), files, options));
}

async function restoreCheck(config: Config, files: readonly string[], options: Options): Promise<void> {
  const told = readTold(options);
  const journalFiles = chooseFiles(files, config, options);
  // First, so that nothing is changed if the journal can't be read.
  const lines = journalFiles.length > 0 ? await readJournalFiles(journalFiles, unreadable(options.skipUnreadable ?? false)) : [];
  const say = (...text: string[]) => options.json || printLines(...text);

  await using owner = await connectAsOwner(config.databaseUrl, 'homeward restore-check');
  await assertOutOfRecovery(owner);
  const pending = await findPendingMigrations(owner);
  if (pending.length > 0) throw new NotMigrated(`The database lacks ${pending.join(', ')}. Run 'homeward migrate' first.`);
  const target = `${describePostgres(config.databaseUrl)}${lines.length > 0 ? `, with ${describeLines(lines)}` : ''}`;
  const question = told === 'nothing-lost' ? 'Record this server as the one of the store?' : 'Make this restored store ready?';
  await confirm(target, question, { yes: options.yes || journalFiles.includes('-'), json: options.json });
  const readied = await readyDatabase(owner, told);
  say('PostgreSQL: out of recovery, with every migration.', describeFeed(readied, told));

  await using dependencies = await openDependencies(config);
  const { db, redis } = dependencies;
  const isRedisClean = readied.formerId === undefined || (await forget(redis, readied.formerId));
  say(describeRedis(readied, isRedisClean));
  const applied = await apply(db, lines);
  // Only now: until the journal is applied, serve and worker warn at their start.
  await recordServer(owner, readied);
  say(describeJournal(lines, applied, told));
  const verified = await verifyHistory(db, drawBar);
  endProgress();
  say(`History: rows ${verified.rows}, animals ${verified.animals}, orders ${verified.orders}, applications ${verified.applications}.`);

  const isReady = verified.violation === undefined;
  if (options.json) printJson(resultOf(readied, lines, applied, verified));
  else printLines(isReady ? 'The store is ready. Start the worker and serve.' : `VIOLATION: ${verified.violation}`);
  if (!isReady) process.exitCode = 1;
}

function readTold({ fromSnapshot, nothingLost }: Options): WhatHappened {
  if (fromSnapshot && nothingLost) throw new UsageError('--from-snapshot and --nothing-lost exclude each other.');
  if (fromSnapshot) return 'from-snapshot';
  return nothingLost ? 'nothing-lost' : 'nothing';
}

function chooseFiles(files: readonly string[], config: Config, { journal, nothingLost }: Options): readonly string[] {
  if ((!journal || nothingLost) && files.length > 0)
    throw new UsageError(
      `With ${nothingLost ? '--nothing-lost' : '--no-journal'} no journal is applied, but ${files.join(', ')} was given.`,
    );
  if (!journal || nothingLost) return [];
  if (files.length > 0) return files;
  if (journalPlaceOf(config)) return [journalPlaceOf(config)];
  throw new UsageError(
    'There is no journal: name its files, or set HOMEWARD_JOURNAL. Without it, keys that were revoked since the backup work again. If nothing was revoked, suspended or erased, use --no-journal.',
  );
}

async function apply(db: Parameters<typeof applyJournal>[0], lines: readonly JournalLine[]): Promise<Applied> {
  if (lines.length === 0) return { applied: 0, skipped: 0 };
  const applied = await applyJournal(db, lines, drawBar);
  endProgress();
  // If the command runs again beside the store, every process has read the changes by then.
  await sleep(settledMs);
  return applied;
}

/** Deletes what would never expire. False if Redis does not reply: what is left there is not read any more. */
async function forget(redis: RedisLink, formerId: string): Promise<boolean> {
  return redis
    .call((client) => client.unlink(...lastingKeysOf(redisKeysOf(formerId))))
    .then(
      () => true,
      () => false,
    );
}

function describeFeed({ moved }: Readied, told: WhatHappened): string {
  if (moved) {
    const waiting = moved.endpoints > 0 ? ` ${moved.endpoints} webhook endpoints first get what was published before.` : '';
    return `Feed: positions moved on from ${moved.from} to ${moved.to}. Every cursor from before is 410.${waiting}`;
  }
  if (told === 'nothing-lost') return 'Feed: unchanged. This server is recorded as the one of the store.';
  return 'Feed: nothing to do. Its positions are of this server, or were moved on before. (After a disk snapshot, use --from-snapshot.)';
}

function describeRedis({ formerId }: Readied, isClean: boolean): string {
  if (formerId === undefined) return 'Redis: nothing to do.';
  const what = 'Redis: the store has a new id, so nothing from before is read. Counts and bans begin again.';
  return isClean ? what : `${what} It does not reply, so two keys of hw:${formerId} remain in it.`;
}

function describeJournal(lines: readonly JournalLine[], { applied, skipped }: Applied, told: WhatHappened): string {
  if (told === 'nothing-lost') return 'Journal: not needed.';
  if (lines.length === 0) return 'Journal: none, as --no-journal says.';
  return `Journal: lines ${lines.length}, applied ${applied}, skipped ${skipped} (not in this backup, or changed after the line was written).`;
}

function resultOf({ moved, formerId }: Readied, lines: readonly JournalLine[], applied: Applied, verified: Verification): object {
  return {
    ready: verified.violation === undefined,
    feed: { moved: moved !== undefined, ...moved },
    redis: { replacedId: formerId !== undefined },
    journal: { lines: lines.length, ...applied },
    verify: { holds: verified.violation === undefined, ...verified },
  };
}
