// People of every role, signed in to a console, and the forms that they send as a browser sends them.

import { randomBytes } from 'node:crypto';
import { useInvitation } from '../../service/src/access/people/links.ts';
import { invitePerson, type Manager, type Person } from '../../service/src/access/people/people.ts';
import { openSession } from '../../service/src/access/people/sessions.ts';
import { Seals } from '../../service/src/console/sessions/cookies.ts';
import { type Dependencies, openDependencies } from '../../service/src/dependencies.ts';
import { theService } from '../../service/src/domain/actor.ts';
import { type Role, rightsOf } from '../../service/src/domain/roles.ts';
import { loadConfig } from '../../service/src/platform/config.ts';
import type { Store } from '../../testkit/store.ts';

const timeoutMs = 10_000;

const operator: Manager = {
  clientId: null,
  keyId: null,
  personId: null,
  shelterId: null,
  acts: rightsOf('admin', null)?.acts ?? [],
  origin: { login: 'operator', host: 'store-1' },
};

export interface Received {
  readonly status: number;
  readonly location: string;
  readonly text: string;
}

export interface SignedIn {
  readonly person: Person;
  /** The header of its requests. */
  readonly cookie: string;
  /** What its forms send besides their fields. */
  readonly token: string;
  get(url: string): Promise<Received>;
  post(url: string, values: Readonly<Record<string, string>>): Promise<Received>;
}

export class ConsolePeople implements AsyncDisposable {
  readonly #dependencies: Dependencies;
  readonly #seals: Seals;
  #joined = 0;

  private constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.#seals = new Seals(dependencies.secret);
  }

  static async open(store: Store): Promise<ConsolePeople> {
    const config = loadConfig({ DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url, LOG_LEVEL: 'silent' });
    return new ConsolePeople(await openDependencies(config));
  }

  /** Somebody who has joined and has just signed in. */
  async signIn(role: Role, shelterId: bigint | null): Promise<SignedIn> {
    const { db } = this.#dependencies;
    this.#joined += 1;
    const email = `joined-${this.#joined}@example.org`;
    const { token: invitation } = await db.transaction((tx) => invitePerson(tx, operator, { email, role, shelterId }), theService);
    const person = await db.transaction((tx) => useInvitation(tx, invitation, { network: 'unknown' }), theService);
    const { token } = await db.transaction((tx) => openSession(tx, person.id, { from: '192.0.2.7', method: 'link' }), theService);
    const cookie = `session=${this.#seals.seal('session', token)}`;
    const send = async (url: string, init: RequestInit): Promise<Received> => {
      const headers = { cookie, 'sec-fetch-site': 'same-origin', ...(init.headers as Record<string, string>) };
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetch(url, { redirect: 'manual', signal, ...init, headers });
      return { status: response.status, location: response.headers.get('location') ?? '', text: await response.text() };
    };
    const formToken = this.#seals.formToken(token);
    return {
      person,
      cookie,
      token: formToken,
      get: (url) => send(url, {}),
      post: (url, values) =>
        send(url, { method: 'POST', body: new URLSearchParams(values), headers: { 'x-form-token': formToken, connection: 'close' } }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dependencies[Symbol.asyncDispose]();
  }
}

/** The id of a form, as a page makes it. */
export const newFormId = (): string => randomBytes(16).toString('base64url');
