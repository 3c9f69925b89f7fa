// What it costs a worker to find the endpoints that want an event, without PostgreSQL. Its input is a MatchingTask, its output a MatchingCost.
import { text } from 'node:stream/consumers';
import { Endpoint } from '../../service/src/changes/delivery/endpoint.ts';
import { Endpoints } from '../../service/src/changes/delivery/endpoints.ts';
import type { EventRow } from '../../service/src/changes/events/events.ts';

export interface MatchingTask {
  readonly endpoints: number;
  /** Each endpoint wants one of them. */
  readonly shelters: number;
  /** But for these, which want every one. */
  readonly unfiltered: number;
  readonly events: number;
}

export interface MatchingCost {
  /** For each event. */
  readonly cpuUs: number;
  readonly megabytes: number;
  /** Endpoints that were missed or found wrongly, for some of the events. */
  readonly wrong: number;
}

const { endpoints: count, shelters, unfiltered, events: eventCount } = JSON.parse(await text(process.stdin)) as MatchingTask;
const comparedMax = 20;

const before = heapMegabytes();
const endpoints = new Endpoints();
const all = Array.from({ length: count }, (_, i) => endpointOf(i));
for (const endpoint of all) endpoints.add(endpoint);
const megabytes = heapMegabytes() - before;

const events = Array.from({ length: eventCount }, (_, i) => eventOf(i));
let found = 0;
const cpuBefore = process.cpuUsage();
for (const event of events) for (const _ of endpoints.matching(event)) found += 1;
const { user, system } = process.cpuUsage(cpuBefore);

let wrong = found > 0 ? 0 : 1;
for (const event of events.slice(0, comparedMax)) {
  const matching = new Set(endpoints.matching(event));
  for (const endpoint of all) if (endpoint.isWanted(event) !== matching.has(endpoint)) wrong += 1;
}
const cost: MatchingCost = { cpuUs: (user + system) / eventCount, megabytes, wrong };
console.log(JSON.stringify(cost));

function endpointOf(i: number): Endpoint {
  const row = {
    id: BigInt(i + 1),
    clientId: BigInt(1 + Math.floor(i / 20)),
    shelterId: null,
    shard: BigInt(1 + (i % 256)),
    revision: 1n,
    isServed: true,
    isVerified: true,
    url: `https://partner-${i}.example.org/hooks`,
    types: [],
    shelterIds: i < unfiltered ? [] : [BigInt(1 + (i % shelters))],
    categoryIds: [],
    mayReadPublic: true,
    mayReadPrivate: true,
    isFailing: false,
    position: null,
    skipped: '{}',
    replayPosition: null,
    replayUpTo: null,
    replayCreatedAt: null,
  };
  return new Endpoint(row, 0n);
}

function eventOf(i: number): EventRow {
  const shelterId = BigInt(1 + ((i * 7_919) % shelters));
  return {
    position: BigInt(i + 1),
    type: i % 5 === 0 ? 'pet.moved' : 'pet.updated',
    at: new Date(0),
    publishedAt: new Date(0),
    petId: BigInt(i),
    clientId: null,
    shelterId,
    previousShelterId: i % 5 === 0 ? BigInt((Number(shelterId) % shelters) + 1) : null,
    categoryId: 1n,
    previousCategoryId: null,
    data: '{}',
    finalAt: null,
    undoes: null,
  };
}

function heapMegabytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}
