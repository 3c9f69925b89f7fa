// What ends keys and people, by the code of the tree that is tried: a mutant's waits less.
import path from 'node:path';
import type { Person } from '../../service/src/access/people/people.ts';
import type { Seals } from '../../service/src/console/sessions/cookies.ts';
import type { Dependencies } from '../../service/src/dependencies.ts';
import type { Scope } from '../../service/src/domain/scopes.ts';
import type { Transaction } from '../../service/src/platform/db/handles.ts';
import type { Key, Store } from '../../testkit/store.ts';
import { testAuthor } from '../../testkit/test-author.ts';

export interface SignedIn {
  readonly person: Person;
  readonly token: string;
  readonly cookie: string;
  readonly formToken: string;
  /** In the person's shelter. */
  readonly petId: bigint;
}

/** The way that lowers a role: the session goes on with the lesser one. */
export const lowering = 1;

const silent = () => true;
const operator = { ...testAuthor, shelterId: null, acts: ['people:manage'] as const };
const origin = { network: '192.0.2.0/24' };

const load = async (root: string) => {
  const from = <Module>(file: string): Promise<Module> => import(path.join(root, 'service/src', file)) as Promise<Module>;
  return {
    ...(await from<typeof import('../../service/src/dependencies.ts')>('dependencies.ts')),
    ...(await from<typeof import('../../service/src/platform/config.ts')>('platform/config.ts')),
    ...(await from<typeof import('../../service/src/domain/actor.ts')>('domain/actor.ts')),
    ...(await from<typeof import('../../service/src/access/clients/clients.ts')>('access/clients/clients.ts')),
    ...(await from<typeof import('../../service/src/access/clients/client-changes.ts')>('access/clients/client-changes.ts')),
    ...(await from<typeof import('../../service/src/access/people/people.ts')>('access/people/people.ts')),
    ...(await from<typeof import('../../service/src/access/people/people-error.ts')>('access/people/people-error.ts')),
    ...(await from<typeof import('../../service/src/access/people/links.ts')>('access/people/links.ts')),
    ...(await from<typeof import('../../service/src/access/people/sessions.ts')>('access/people/sessions.ts')),
    ...(await from<typeof import('../../service/src/access/principals/principals.ts')>('access/principals/principals.ts')),
    ...(await from<typeof import('../../service/src/animals/pets/pets.ts')>('animals/pets/pets.ts')),
    ...(await from<typeof import('../../service/src/console/sessions/cookies.ts')>('console/sessions/cookies.ts')),
  };
};

type Code = Awaited<ReturnType<typeof load>>;

export class Ends implements AsyncDisposable {
  readonly #code: Code;
  readonly #dependencies: Dependencies;
  readonly #seals: Seals;
  readonly #shelterId = 2n;

  private constructor(code: Code, dependencies: Dependencies) {
    this.#code = code;
    this.#dependencies = dependencies;
    this.#seals = new code.Seals(dependencies.secret);
  }

  static async open({ postgres, redis }: Store, root: string): Promise<Ends> {
    const code = await load(root);
    const config = code.loadConfig({ DATABASE_URL: postgres.url, REDIS_URL: redis.url, LOG_LEVEL: 'silent' });
    return new Ends(code, await code.openDependencies(config));
  }

  async createKey(client: string, limits: { perMinute: number; perDay: number }, scopes: readonly string[]): Promise<Key> {
    const { key, record } = await this.#code.createKey(this.#dependencies.db, {
      client,
      limits: { plan: 'enterprise', ...limits },
      scopes: scopes as readonly Scope[],
      expiresAt: null,
      environment: 'production',
      by: testAuthor,
    });
    return { id: Number(record.id), clientId: Number(record.clientId), key };
  }

  async revoke({ id, clientId }: Key): Promise<void> {
    await this.#inDb((tx) => this.#code.revokeApiKey(tx, BigInt(id)));
    await this.#settle(BigInt(clientId));
  }

  async suspend(client: string, { clientId }: Pick<Key, 'clientId'>): Promise<void> {
    await this.#code.setSuspended(this.#dependencies.db, silent, testAuthor, client, true);
    await this.#settle(BigInt(clientId));
  }

  /** Somebody of a shelter, with an animal there. */
  async signIn(name: string, role: 'staff' | 'admin'): Promise<SignedIn> {
    const { code, shelterId, db } = { code: this.#code, shelterId: this.#shelterId, db: this.#dependencies.db };
    const { token: invitation } = await this.#inDb((tx) =>
      code.invitePerson(tx, operator, { email: `${name}@example.org`, role, shelterId }),
    );
    const person = await this.#inDb((tx) => code.useInvitation(tx, invitation, origin));
    const { token } = await this.#inDb((tx) => code.openSession(tx, person.id, { from: '192.0.2.7', method: 'link' }));
    const rules = { categories: 'open', shelterId, registrant: undefined } as const;
    const pet = await this.#dependencies.catalogue.transaction(
      (tx) => code.createPet(tx, { name: 'Biscuit', categoryId: 1n }, code.theService, rules),
      code.theService,
    );
    if (!(await code.findSession(db, token))) throw new Error('nobody is signed in');
    const cookie = `session=${this.#seals.seal('session', token)}`;
    return { person, token, cookie, formToken: this.#seals.formToken(token), petId: pet.id };
  }

  /** In one of four ways. */
  async endPerson({ person: { id }, token }: SignedIn, way: number): Promise<void> {
    const { code, db } = { code: this.#code, db: this.#dependencies.db };
    if (way === 0) await this.#inDb((tx) => code.removePerson(tx, silent, operator, id));
    else if (way === lowering) await this.#inDb((tx) => code.changePerson(tx, silent, operator, id, { role: 'volunteer' }));
    else if (way === 2) await code.setSuspended(db, silent, testAuthor, await this.#staffClient(), true);
    else {
      const found = await code.findSession(db, token);
      if (found) await this.#inDb((tx) => code.endAllSessions(tx, code.personCaller(found, '192.0.2.7')));
    }
  }

  /** One admin removes another, or makes it staff, with the rights that it had when it began. */
  async endOther({ token }: SignedIn, { person: { id } }: SignedIn, isRemoved: boolean): Promise<'done' | 'rejected'> {
    const { code, db } = { code: this.#code, db: this.#dependencies.db };
    const found = await code.findSession(db, token);
    if (!found) return 'rejected';
    const by = code.personCaller(found, '192.0.2.7');
    try {
      await db.transaction(async (tx) => {
        if (isRemoved) await code.removePerson(tx, silent, by, id);
        else await code.changePerson(tx, silent, by, id, { role: 'staff' });
      }, by);
      return 'done';
    } catch (error) {
      if (error instanceof code.SignedOut || error instanceof code.PeopleError) return 'rejected';
      throw error;
    }
  }

  /** Those of them who are still there: a store has a bound of people. */
  async removeAll(people: readonly SignedIn[]): Promise<void> {
    for (const { person } of people) {
      await this.#inDb((tx) => this.#code.removePerson(tx, silent, operator, person.id)).catch((error: unknown) => {
        if (!(error instanceof this.#code.PeopleError)) throw error;
      });
    }
  }

  async resume(): Promise<void> {
    await this.#code.setSuspended(this.#dependencies.db, silent, testAuthor, await this.#staffClient(), false);
  }

  async #staffClient(): Promise<string> {
    const text = 'select name from clients join staff_clients on client_id = clients.id where shelter_id = $1';
    const { rows } = await this.#dependencies.db.query<{ name: string }>({ text, values: [this.#shelterId] });
    return rows[0]?.name ?? '';
  }

  #inDb<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#dependencies.db.transaction(work, this.#code.theService);
  }

  #settle(clientId: bigint): Promise<void> {
    return this.#code.settleClientChange(this.#dependencies.redis, this.#dependencies.redisKeys, clientId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dependencies[Symbol.asyncDispose]();
  }
}
