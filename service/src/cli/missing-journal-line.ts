import type { Config } from '../platform/config.ts';
import { printProblem } from './output.ts';

/** A change was made on a full disk, without its line in the journal. The exit status is 1, although the change took effect. */
export function reportMissingLine({ journalFile }: Pick<Config, 'journalFile'>): void {
  const [where, fix] = journalFile
    ? [journalFile, `Make room, then append the line above to it`]
    : ['the log', 'Make room, then run the command again'];
  printProblem(`The change is made, but the disk is full and ${where} lacks its line: restoring a backup would undo the change. ${fix}.`);
  process.exitCode = 1;
}
