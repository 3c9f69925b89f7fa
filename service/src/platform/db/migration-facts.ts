/** What the first lines of a migration say of it. `npm run check -- --only migrations` requires them; tools/migrations-lint.ts has the rules. */
export interface MigrationFacts {
  /** The release that it came with. */
  readonly release: string;
  /** expand: it adds. contract: it takes away what the release before does not use any more. */
  readonly change: 'expand' | 'contract';
  /** What waits while it runs. Undefined: it runs beside requests, and none waits for long. */
  readonly waits: string | undefined;
  /** The oldest release whose processes run on the schema that it makes. */
  readonly runsWith: string;
  /** Why earlier ones don't. Undefined: there are none. */
  readonly reason: string | undefined;
}

const shapes = {
  release: { value: /^(\d+\.\d+\.\d+)$/, example: '1.1.0' },
  change: { value: /^(expand|contract)$/, example: 'expand' },
  online: { value: /^yes$|^no, (.+)$/, example: "yes', or 'no, orders wait while it runs" },
  'runs with': { value: /^(\d+\.\d+\.\d+)(?:, (.+))?$/, example: "1.0.0', or '1.1.0, 1.0.0 still writes the table" },
} as const;

/** Returns what is missing or wrong as sentences, if anything is. */
export function readFacts(name: string, sql: string): MigrationFacts | readonly string[] {
  const problems: string[] = [];
  const read = (key: keyof typeof shapes): readonly (string | undefined)[] => {
    const { value, example } = shapes[key];
    const text = new RegExp(`^-- ${key}: (.*)$`, 'm').exec(sql)?.[1];
    const found = text === undefined ? undefined : value.exec(text);
    if (!found)
      problems.push(
        `${name}: ${text === undefined ? 'it has no' : `"${text}" is not a valid`} '${key}'. Write a line such as '-- ${key}: ${example}'.`,
      );
    return found ?? [];
  };
  const [, release = ''] = read('release');
  const [, change] = read('change');
  const [, waits] = read('online');
  const [, runsWith = '', reason] = read('runs with');
  if (problems.length > 0) return problems;
  return { release, change: change as MigrationFacts['change'], waits, runsWith, reason };
}

/** Negative if `a` is the earlier release. */
export function compareReleases(a: string, b: string): number {
  const [partsA, partsB] = [a, b].map((release) => release.split('.').map(Number)) as [number[], number[]];
  const differing = partsA.findIndex((part, i) => part !== partsB[i]);
  return differing === -1 ? 0 : (partsA[differing] ?? 0) - (partsB[differing] ?? 0);
}

export const latestRelease = (releases: readonly string[]): string | undefined => releases.toSorted(compareReleases).at(-1);
