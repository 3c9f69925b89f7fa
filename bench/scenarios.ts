import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { perCpuSecond, type Sample } from './rounds.ts';

export type HttpContender =
  | 'homeward'
  | 'homeward-uncached'
  | 'homeward-unguarded'
  | 'bare-http'
  | 'bare-fastify'
  | 'express'
  | 'nest'
  | 'fastify';
export type Contender = HttpContender | 'pgbench';

/** What is requested: pages, pages that the caller already has, or adding an animal. */
export type Load = 'list' | 'not-modified' | 'create';

export interface RatioSpec {
  readonly key: string;
  readonly of: Contender;
  /** If there are several, the fastest counts: the one with the highest median of `speed`. */
  readonly to: readonly Contender[];
  /** Undefined: requests per second. */
  readonly speed?: (sample: Sample) => number;
  /** The ratio of two samples of the same round. */
  divide(of: Sample, to: Sample): number;
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  readonly load: Load;
  readonly contenders: readonly Contender[];
  readonly ratios: readonly RatioSpec[];
  /** The reason why it can't be measured here; undefined if it can. */
  missing(): string | undefined;
}

export const unguardedScript = fileURLToPath(new URL('./serve-unguarded.ts', import.meta.url));

const peers = ['express', 'nest', 'fastify'] as const;
const speed = (of: Sample, to: Sample) => of.perSecond / to.perSecond;
const cpuSpeed = (of: Sample, to: Sample) => perCpuSecond(of) / perCpuSecond(to);
const ownCpu = (of: Sample, to: Sample) => (of.cpuUs?.own ?? Number.NaN) / (to.cpuUs?.own ?? Number.NaN);
const redisCpu = (of: Sample, to: Sample) => (of.cpuUs?.redis ?? Number.NaN) / (to.cpuUs?.own ?? Number.NaN);
const nothing = () => undefined;

export const scenarios: readonly Scenario[] = [
  {
    name: 'list',
    about: 'GET /v1/pets: Homeward, constant bytes from bare node:http and bare Fastify, and the peers',
    load: 'list',
    contenders: ['homeward', 'bare-http', 'bare-fastify', ...peers],
    ratios: [
      { key: 'list_vs_bare_fastify', of: 'homeward', to: ['bare-fastify'], divide: speed },
      { key: 'list_cpu_vs_bare_fastify', of: 'homeward', to: ['bare-fastify'], divide: ownCpu },
      { key: 'redis_cpu_vs_bare_fastify', of: 'homeward', to: ['bare-fastify'], divide: redisCpu },
      { key: 'list_vs_fastest_peer', of: 'homeward', to: peers, divide: speed },
    ],
    missing: nothing,
  },
  {
    name: 'not-modified',
    about: 'the same with If-None-Match: 304 by Homeward, the whole page by bare Fastify',
    load: 'not-modified',
    contenders: ['homeward', 'bare-fastify'],
    ratios: [{ key: 'not_modified_vs_bare_fastify', of: 'homeward', to: ['bare-fastify'], divide: speed }],
    missing: nothing,
  },
  {
    name: 'list-miss',
    about: 'GET /v1/pets, every page read from PostgreSQL: Homeward without its page cache, and the peers',
    load: 'list',
    contenders: ['homeward-uncached', ...peers],
    ratios: [
      { key: 'list_miss_per_cpu_vs_fastest_peer', of: 'homeward-uncached', to: peers, speed: perCpuSecond, divide: cpuSpeed },
      { key: 'list_miss_vs_fastest_peer', of: 'homeward-uncached', to: peers, divide: speed },
    ],
    missing: nothing,
  },
  {
    name: 'guard',
    about: 'GET /v1/pets: Homeward, and the same without authentication and limits',
    load: 'list',
    contenders: ['homeward', 'homeward-unguarded'],
    ratios: [{ key: 'list_guarded_vs_unguarded', of: 'homeward', to: ['homeward-unguarded'], divide: speed }],
    missing: () => (existsSync(unguardedScript) ? undefined : 'there is no bench/serve-unguarded.ts'),
  },
  {
    name: 'create',
    about: "POST /v1/pets: Homeward, the peers, and pgbench with Homeward's statement",
    load: 'create',
    contenders: ['homeward', ...peers, 'pgbench'],
    ratios: [
      { key: 'create_per_cpu_vs_fastest_peer', of: 'homeward', to: peers, speed: perCpuSecond, divide: cpuSpeed },
      { key: 'create_vs_fastest_peer', of: 'homeward', to: peers, divide: speed },
      { key: 'create_vs_pgbench', of: 'homeward', to: ['pgbench'], divide: speed },
    ],
    missing: nothing,
  },
];

export const labels: Record<Contender, string> = {
  homeward: 'Homeward',
  'homeward-uncached': 'Homeward, no page cache',
  'homeward-unguarded': 'Homeward, no keys or limits',
  'bare-http': 'node:http, constant bytes',
  'bare-fastify': 'Fastify, constant bytes',
  express: 'Express, pg',
  nest: 'NestJS, TypeORM',
  fastify: 'Fastify, pg',
  pgbench: 'pgbench, the statement alone',
};
