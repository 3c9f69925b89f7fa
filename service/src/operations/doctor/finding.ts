/** From the worst on, which is the order of the output. `skipped`: it could not be checked, for a reason that is reported elsewhere. */
export const severities = ['broken', 'warning', 'note', 'skipped', 'ok'] as const;
export type Severity = (typeof severities)[number];

/** In the order of causes: what is earlier may be the reason for what is later. Among findings of one severity the earlier come first. */
export const checkNames = [
  'configuration',
  'postgres-hosts',
  'postgres',
  'postgres-connections',
  'postgres-settings',
  'postgres-migrations',
  'postgres-role',
  'environment',
  'postgres-schema',
  'postgres-sequences',
  'postgres-writes',
  'postgres-server',
  'postgres-locks',
  'postgres-snapshots',
  'postgres-replication',
  'postgres-vacuum',
  'postgres-durability',
  'postgres-archiving',
  'postgres-sessions',
  'redis',
  'redis-sentinels',
  'redis-replicas',
  'redis-role',
  'redis-latency',
  'redis-memory',
  'redis-eviction',
  'redis-persistence',
  'redis-commands',
  'clock',
  'disk',
  'photos',
  'images',
  'mail',
  'port',
  'console',
  'provider',
  'worker',
  'feed',
  'endpoints',
  'url',
] as const;
export type CheckName = (typeof checkNames)[number];

/** What a check says. */
export interface Judgement {
  readonly severity: Severity;
  /** A sentence with the value. */
  readonly found: string;
  /** What to do. Absent if there is nothing to do. */
  readonly fix?: string;
}

export interface Finding extends Judgement {
  readonly check: CheckName;
}

export const ok = (found: string): Judgement => ({ severity: 'ok', found });
export const note = (found: string, fix: string): Judgement => ({ severity: 'note', found, fix });
export const warning = (found: string, fix: string): Judgement => ({ severity: 'warning', found, fix });
export const broken = (found: string, fix: string): Judgement => ({ severity: 'broken', found, fix });
export const findingOf = (check: CheckName, judgement: Judgement): Finding => ({ check, ...judgement });
export const skipped = (check: CheckName, because: string): Finding => ({ check, severity: 'skipped', found: `Not checked: ${because}` });

/** The worst first, and of those the likely cause. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const rank = ({ severity, check }: Finding) => severities.indexOf(severity) * checkNames.length + checkNames.indexOf(check);
  return findings.toSorted((a, b) => rank(a) - rank(b));
}

/** What a store as a whole is: broken, or with warnings, or well. */
export function overall(findings: readonly Finding[]): 'broken' | 'warning' | 'ok' {
  const has = (severity: Severity) => findings.some((finding) => finding.severity === severity);
  return has('broken') ? 'broken' : has('warning') ? 'warning' : 'ok';
}

/** What a check returns or throws, in its name unless it is a finding of another. A check that fails by itself must not hide the others. */
export async function guarded(check: CheckName, work: () => Promise<Judgement | readonly Judgement[]>): Promise<readonly Finding[]> {
  try {
    return [await work()].flat().map((judgement) => findingOf(check, judgement));
  } catch (error) {
    const { code = '', message } = error instanceof Error ? (error as Error & { code?: string }) : { message: String(error) };
    if (code === lockTimeout) return [skipped(check, lockedTable)];
    return [
      findingOf(check, warning(`It could not be checked: ${message}.`, 'Run it again; if it fails again, look at the log of the server.')),
    ];
  }
}

const lockTimeout = '55P03';
const lockedTable = 'a table that it reads is locked.';

/** Whether a check met a lock. */
export const isLocked = ({ severity, found }: Finding): boolean => severity === 'skipped' && found.endsWith(lockedTable);

/** Rejects after the time. The work itself goes on, and its result is ignored. */
export async function within<T>(timeoutMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs / 1_000} s`)), timeoutMs);
  });
  work.catch(() => {});
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/** 3 endpoints, 1 endpoint. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** 90 s, 12 min, 5 h, 3 days: as precise as an operator needs it. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** 512 MiB, 1.4 GiB. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.max(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), 0), units.length - 1);
  const value = bytes / 1_024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}
