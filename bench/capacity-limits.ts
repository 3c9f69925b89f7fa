// What a store has of each kind, and so what breaks first when a load grows.
import type { Facts } from './capacity-facts.ts';
import type { Load, Prediction } from './capacity-model.ts';

interface Limit {
  readonly name: string;
  /** What a load needs, as a multiple of what there is. */
  need(prediction: Prediction, load: Load, facts: Facts): number;
  /** What there is, for the reader. */
  readonly has: string;
  /** The command that has measured it. */
  readonly evidence: string;
}

const postgresCores = 32;
const connections = 500;
const historyGigabytesPerYear = 1_000;
const usageGigabytes = 1_000;
/** What two machines of 16 cores decode. */
const workerCores = 32;

export const limits: readonly Limit[] = [
  {
    name: 'Redis, which is one core',
    need: ({ cores }) => cores.redis,
    has: '1 core',
    evidence: 'bench -- capacity (list: redis)',
  },
  {
    name: '`serve` processes, one core each',
    need: ({ cores }, { processes }) => cores.serve / processes,
    has: 'their cores',
    evidence: 'bench -- capacity (list, miss, search: serve)',
  },
  {
    name: 'PostgreSQL without searches',
    need: (prediction, _, facts) => (prediction.cores.postgres - searchCores(prediction, facts)) / postgresCores,
    has: `${postgresCores} cores`,
    evidence: 'bench -- capacity (miss, create, usageRow: postgres)',
  },
  {
    name: 'PostgreSQL for searches',
    need: (prediction, _, facts) => searchCores(prediction, facts) / postgresCores,
    has: `${postgresCores} cores`,
    evidence: 'bench -- capacity (search: postgres)',
  },
  {
    name: 'connections for searches',
    need: ({ searchSlots }) => searchSlots,
    has: 'all of their time',
    evidence: 'bench -- capacity (search), searchConnections of platform/db/pool.ts',
  },
  {
    name: 'connections to PostgreSQL',
    need: (prediction) => sumOf(prediction.connections) / connections,
    has: String(connections),
    evidence: 'bench -- capacity --measure (connections)',
  },
  {
    name: 'workers that send webhooks',
    need: ({ workers }, _, { shards }) => workers / shards,
    has: '256, one for each shard',
    evidence: 'prove -- many-endpoints, subscriptions',
  },
  {
    name: 'workers that make pictures',
    need: ({ rates }, _, { cpuUs }) => (rates.photo * (cpuUs.photo.worker ?? 0)) / 1e6 / workerCores,
    has: `${workerCores} cores`,
    evidence: 'bench -- capacity (photo: worker)',
  },
  {
    name: 'history, a year',
    need: ({ stored }) => stored.history / 1e9 / historyGigabytesPerYear,
    has: `${historyGigabytesPerYear} GB`,
    evidence: 'bench -- writes (bytes of a row)',
  },
  {
    name: 'usage, while it is kept',
    need: ({ stored }) => stored.usage / 1e9 / usageGigabytes,
    has: `${usageGigabytes} GB`,
    evidence: 'prove -- usage',
  },
];

const searchCores = ({ rates }: Prediction, { cpuUs }: Facts) => (rates.search * (cpuUs.search.postgres ?? 0)) / 1e6;

export const sumOf = ({ serve, workers }: Prediction['connections']) => serve + workers;

/** The scarcest first. */
export const byScarcity = (prediction: Prediction, load: Load, facts: Facts) =>
  limits
    .map(({ name, need, has, evidence }) => ({ name, need: need(prediction, load, facts), has, evidence }))
    .sort((a, b) => b.need - a.need);
