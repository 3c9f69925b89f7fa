import type { Db } from './handles.ts';

export const versionMin = 15;

/** PostgreSQL is older than what the store was tested with. Its message is for the operator. */
export class OldPostgres extends Error {
  constructor(version: string) {
    super(`it is version ${version}. Upgrade PostgreSQL to ${versionMin} or newer.`);
  }
}

export async function requireSupportedVersion(db: Db): Promise<void> {
  const { rows } = await db.query<{ number: number; version: string }>({
    text: `select current_setting('server_version_num')::int as number, current_setting('server_version') as version`,
  });
  const { number = 0, version = 'unknown' } = rows[0] ?? {};
  requireSupported(number, version);
}

/** `number` is 150004 for 15.4. */
export function requireSupported(number: number, version: string): void {
  if (number < versionMin * 10_000) throw new OldPostgres(version);
}
