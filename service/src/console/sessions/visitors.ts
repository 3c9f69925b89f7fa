import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Person } from '../../access/people/people.ts';
import { findSession, openSession, type Session, type SignInMethod, sessionDays } from '../../access/people/sessions.ts';
import { type PersonCaller, personCaller, SignedOut } from '../../access/principals/principals.ts';
import { getShelter } from '../../adoption/shelters/shelters.ts';
import type { Db, ServiceDb, Transaction } from '../../platform/db/handles.ts';
import { zoneOf } from '../frame/times.ts';
import type { Cookies, Seals } from './cookies.ts';

/** Who looks at a page. */
export interface Visitor {
  readonly session: Session;
  readonly person: Person;
  /** For operations: they know people as they know keys. */
  readonly caller: PersonCaller;
  readonly workplace: Workplace;
  /** The client of the shelter is suspended, and its people with it. */
  readonly isSuspended: boolean;
  /** Of the forms of this session. */
  readonly formToken: string;
}

interface Parts {
  readonly db: ServiceDb;
  readonly seals: Seals;
  readonly cookies: Cookies;
}

const cookie = 'session';

/** Who is signed in, by the cookie of a session. */
export class Visitors {
  readonly #parts: Parts;
  readonly #workplaces: Workplaces;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#workplaces = new Workplaces(parts.db);
  }

  /** One query. None for a cookie that the console has not sealed. */
  async find(request: FastifyRequest): Promise<Visitor | undefined> {
    const { db, seals } = this.#parts;
    const token = this.tokenOf(request);
    const signedIn = token === undefined ? undefined : await findSession(db, token);
    if (token === undefined || !signedIn) return undefined;
    const { session, person, isSuspended } = signedIn;
    const workplace = await this.#workplaces.get(person.shelterId);
    const caller = personCaller(signedIn, request.ip);
    return { session, person, caller, workplace, isSuspended, formToken: seals.formToken(token) };
  }

  /**
   * After something was read for a visitor: the session may have ended since, above all if a body or a turn was waited for. Throws then, as a
   * transaction does that acts for them.
   */
  async confirm(request: FastifyRequest, { person }: Visitor): Promise<void> {
    const token = this.tokenOf(request);
    const now = token === undefined ? undefined : await findSession(this.#parts.db, token);
    if (!now) throw new SignedOut('ended');
    if (now.isSuspended) throw new SignedOut('suspended');
    if (now.person.role !== person.role || now.person.shelterId !== person.shelterId) throw new SignedOut('changed');
  }

  hasCookie(request: FastifyRequest): boolean {
    return this.#parts.cookies.read(request, cookie) !== undefined;
  }

  /**
   * Opens a session for the browser, with a token of its own. The one that the browser had until then ends: `given`, where the browser could
   * not send its cookie. `signedInAt`: when the person has shown who it is; undefined: now. Returns what `start` needs.
   */
  async open(
    tx: Transaction,
    request: FastifyRequest,
    personId: bigint,
    method: SignInMethod,
    { given, signedInAt }: { given?: Pick<Session, 'id' | 'personId'> | undefined; signedInAt?: Date | undefined } = {},
  ): Promise<string> {
    const before = this.tokenOf(request);
    const replaces = given ?? (before === undefined ? undefined : (await findSession(tx, before))?.session);
    return (await openSession(tx, personId, { from: request.ip, method, replaces, signedInAt })).token;
  }

  /** Gives the browser its session, once the transaction that has opened it is committed. */
  start(reply: FastifyReply, token: string): void {
    const { cookies, seals } = this.#parts;
    cookies.write(reply, cookie, seals.seal('session', token), { seconds: sessionDays * 86_400 });
  }

  forget(reply: FastifyReply): void {
    this.#parts.cookies.forget(reply, cookie);
  }

  /** Of the session that its browser was given. Undefined: it has none that the console has sealed. */
  tokenOf(request: FastifyRequest): string | undefined {
    const { seals, cookies } = this.#parts;
    return seals.open('session', cookies.read(request, cookie));
  }
}

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
