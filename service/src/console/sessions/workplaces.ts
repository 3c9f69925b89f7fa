import { LRUCache } from 'lru-cache';
import type { Db } from '../../platform/db/handles.ts';
import { getShelter } from '../../store/shelters/shelters.ts';
import { zoneOf } from '../frame/times.ts';

/** The shelter of a person, or the store. */
export interface Workplace {
  readonly name: string;
  /** The time zone in which its people read times. */
  readonly zone: string;
}

const theStore: Workplace = { name: 'Whole store', zone: 'UTC' };
const cachedMs = 60_000;
const cachedMax = 1_000;

/** Names and time zones of shelters, as they were up to a minute ago: a page needs no query for them. */
export class Workplaces {
  readonly #cached = new LRUCache<bigint, Workplace>({ max: cachedMax, ttl: cachedMs });
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async get(shelterId: bigint | null): Promise<Workplace> {
    if (shelterId === null) return theStore;
    const cached = this.#cached.get(shelterId);
    if (cached) return cached;
    const { name, timezone } = await getShelter(this.#db, shelterId);
    const found = { name, zone: zoneOf(timezone) };
    this.#cached.set(shelterId, found);
    return found;
  }
}
