// Logical dumps of a database, to search for what must not be in it.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { postgresFolder } from './servers.ts';

const dumpBytesMax = 256 * 1_048_576;

export const dumpDatabase = (url: string): Promise<string> => runPostgresTool('pg_dump', url);

/** Lines that contain one of the texts, in any case of letters. */
export function linesWith(dump: string, texts: readonly string[]): string[] {
  const needles = texts.map((text) => text.toLowerCase());
  return dump.split('\n').filter((line) => needles.some((needle) => line.toLowerCase().includes(needle)));
}

/** Runs one of PostgreSQL's programs; returns what it printed. */
export async function runPostgresTool(name: string, ...args: string[]): Promise<string> {
  const bin = postgresFolder();
  if (!bin) throw new Error('PostgreSQL is not installed');
  const { stdout } = await promisify(execFile)(path.join(bin, name), args, { encoding: 'utf8', maxBuffer: dumpBytesMax });
  return stdout;
}
