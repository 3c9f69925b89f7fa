import { theService } from '../service/src/domain/actor.ts';

// The actions of the store's staff. It calls the functions behind the commands: a process for each command would take too long.

import { settleClientChange } from '../service/src/access/clients/client-changes.ts';
import { createKey, revokeApiKey } from '../service/src/access/clients/clients.ts';
import { type Dependencies, openDependencies } from '../service/src/dependencies.ts';
import { defaultScopes, type Scope } from '../service/src/domain/scopes.ts';
import { loadConfig } from '../service/src/platform/config.ts';
import type { Key } from './store.ts';
import { testAuthor } from './test-author.ts';

interface Servers {
  readonly postgres: { readonly url: string };
  readonly redis: { readonly url: string };
}

export class Staff implements AsyncDisposable {
  readonly dependencies: Dependencies;

  private constructor(dependencies: Dependencies) {
    this.dependencies = dependencies;
  }

  /** `byIndex`: with the settings of a worker's connections. */
  static async of(store: Servers, { byIndex = false } = {}): Promise<Staff> {
    const config = loadConfig({ DATABASE_URL: store.postgres.url, REDIS_URL: store.redis.url, LOG_LEVEL: 'silent' });
    return new Staff(await openDependencies(config, { byIndex }));
  }

  /** Like `homeward keys create --plan enterprise`. */
  async createKey(
    client: string,
    limits: { perMinute: number; perDay: number },
    scopes: readonly Scope[] = defaultScopes,
    shelterId: bigint | null = scopes.includes('shelter:manage') ? 1n : null,
  ): Promise<Key> {
    const input = {
      client,
      limits: { plan: 'enterprise', ...limits },
      scopes,
      shelterId,
      expiresAt: null,
      environment: 'production',
      by: testAuthor,
    } as const;
    const { key, record } = await createKey(this.dependencies.db, input);
    return { id: Number(record.id), clientId: Number(record.clientId), key };
  }

  /** Several of one client. */
  async createKeys(client: string, limits: { perMinute: number; perDay: number }, count: number): Promise<Key[]> {
    const keys: Key[] = [];
    for (let i = 0; i < count; i += 1) keys.push(await this.createKey(client, limits));
    return keys;
  }

  /** Like `homeward keys revoke`. */
  async revoke(key: Key): Promise<void> {
    const { clientId } = await this.revokeWithoutInvalidation(key);
    await settleClientChange(this.dependencies.redis, this.dependencies.redisKeys, clientId);
  }

  /** Revokes a key in PostgreSQL only, without invalidating the processes' caches. */
  async revokeWithoutInvalidation(key: Key): Promise<{ clientId: bigint }> {
    return this.dependencies.db.transaction((tx) => revokeApiKey(tx, BigInt(key.id)), theService);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dependencies[Symbol.asyncDispose]();
  }
}
