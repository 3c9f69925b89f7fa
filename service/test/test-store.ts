// A store for one test file: its own database, and the API in this process, called over real HTTP.

import type pg from 'pg';
import { inject } from 'vitest';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { testAuthor } from '../../testkit/test-author.ts';
import { createKey, type Terms } from '../src/access/clients/clients.ts';
import type { PlanName } from '../src/access/rate-limit/plans.ts';
import { createApp } from '../src/app.ts';
import { type Dependencies, openDependencies } from '../src/dependencies.ts';
import { defaultScopes, type Scope } from '../src/domain/scopes.ts';
import type { Clock } from '../src/platform/clock.ts';
import { loadConfig } from '../src/platform/config.ts';
import type { ProgressBounds } from '../src/platform/http/response-progress.ts';
import { cloneTemplate, executeAsOwner } from './databases.ts';
import { disposeAfterAll } from './dispose-after-all.ts';

export interface TestStoreOptions {
  /** Settings in addition to the URLs of the servers, such as HOMEWARD_CATEGORIES. */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly progressBounds?: Partial<ProgressBounds>;
  /** The service in place of this one: a copy with changes. */
  readonly code?: ServiceCode;
}

interface ServiceCode {
  readonly createApp: typeof createApp;
  readonly openDependencies: typeof openDependencies;
}

export interface KeyOptions {
  /** The client's name; without one the key belongs to a new client. */
  readonly client?: string;
  /** If omitted: enterprise, with limits that no test reaches. */
  readonly plan?: Exclude<PlanName, 'enterprise'> | ({ readonly perMinute: number; readonly perDay: number } & Partial<Terms>);
  readonly scopes?: readonly Scope[];
  /** The shelter that the key is bound to. */
  readonly shelterId?: bigint;
  readonly expiresAt?: Date;
}

export interface TestKey {
  readonly key: string;
  readonly id: bigint;
  readonly clientId: bigint;
}

export interface CallOptions {
  readonly key?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged instead of `body`. */
  readonly raw?: string | Buffer;
  readonly headers?: Record<string, string>;
}

export interface TestResponse<Body> extends Response {
  /** The body parsed as JSON; undefined if it is not JSON. Integers beyond 2^53 are exact only in `text`. */
  readonly json: Body;
}

const longerInTests = 40;

export class TestStore implements AsyncDisposable {
  /** Without /v1. */
  readonly url: string;
  /** For operations that have no route. */
  readonly dependencies: Dependencies;
  /** The first step of a shutdown: readiness fails, requests are still handled. */
  readonly drain: () => void;
  readonly #resources: AsyncDisposableStack;
  readonly #http: HttpClient;
  #clients = 0;

  constructor(url: string, dependencies: Dependencies, drain: () => void, resources: AsyncDisposableStack) {
    this.url = url;
    this.dependencies = dependencies;
    this.drain = drain;
    this.#resources = resources;
    this.#http = resources.use(new HttpClient());
  }

  /** `path` includes /v1. */
  async call<Body = unknown>(method: string, path: string, options: CallOptions = {}): Promise<TestResponse<Body>> {
    const response = await this.#http.send(this.url + path, { method, ...options });
    return { ...response, json: parseJson(response.text) as Body };
  }

  async createKey({ client, plan, scopes = defaultScopes, shelterId, expiresAt }: KeyOptions = {}): Promise<TestKey> {
    const { db, config } = this.dependencies;
    this.#clients += 1;
    const { key, record } = await createKey(db, {
      client: client ?? `client ${this.#clients}`,
      limits: limitsOf(plan ?? { perMinute: 1_000_000, perDay: 100_000_000 }),
      scopes,
      shelterId: shelterId ?? null,
      expiresAt: expiresAt ?? null,
      environment: config.environment,
      by: testAuthor,
    });
    return { key, id: record.id, clientId: record.clientId };
  }

  get databaseUrl(): string {
    return this.dependencies.config.databaseUrl;
  }

  /** The environment of a command that is run on this store. */
  get env(): Record<'DATABASE_URL' | 'REDIS_URL', string> {
    return { DATABASE_URL: this.databaseUrl, REDIS_URL: this.dependencies.config.redisUrl };
  }

  /** Returns the rows of a statement that reads. */
  async read<Row extends pg.QueryResultRow>(text: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.dependencies.db.query<Row>({ text, values })).rows;
  }

  /** Runs a statement that writes, and returns its rows. */
  async write<Row extends pg.QueryResultRow>(text: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.dependencies.db.write<Row>({ text, values })).rows;
  }

  /** For changes that the service's role may not make. */
  asOwner(text: string, ...values: unknown[]): Promise<void> {
    return executeAsOwner(this.databaseUrl, text, values);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

/** A store for all tests of a file. */
export const openTestStore = async (options?: TestStoreOptions): Promise<TestStore> => disposeAfterAll(await createTestStore(options));

export async function createTestStore(options: TestStoreOptions = {}): Promise<TestStore> {
  await using resources = new AsyncDisposableStack();
  const config = loadConfig({
    DATABASE_URL: options.env?.['DATABASE_URL'] ?? (await cloneTemplate(inject('postgresUrl'))),
    REDIS_URL: inject('redisUrl'),
    PORT: '0',
    LOG_LEVEL: 'silent',
    HOMEWARD_POOL_SIZE: '5',
    ...options.env,
  });
  const code: ServiceCode = options.code ?? { createApp, openDependencies };
  // A busy machine must not make PostgreSQL or Redis late, except one that is there to be lost.
  const timeoutFactor = options.env?.['REDIS_URL'] || options.env?.['DATABASE_URL'] ? 1 : longerInTests;
  const dependencies = resources.use(await code.openDependencies(config, { clock: options.clock, timeoutFactor, actsAs: 'serve' }));
  const created = await code.createApp(dependencies, undefined, undefined, options.progressBounds);
  const { server, drain } = resources.adopt(created, (app) => app.server.close());
  // As `serve` does: PostgreSQL then rejects a write that is sent as a read.
  await dependencies.db.open();
  const url = await server.listen({ host: config.host, port: config.port });
  return new TestStore(url, dependencies, drain, resources.move());
}

const limitsOf = (plan: NonNullable<KeyOptions['plan']>) =>
  typeof plan === 'string' ? { plan, perMinute: null, perDay: null } : { plan: 'enterprise' as const, ...plan };

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
