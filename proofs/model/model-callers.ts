// The callers in the model: clients with their limits, and callers without a valid key.

import { mintApiKey } from '../../service/src/access/clients/api-key.ts';
import { createKey } from '../../service/src/access/clients/clients.ts';
import { defaultScopes, type Scope } from '../../service/src/domain/scopes.ts';
import type { Staff } from '../../testkit/staff.ts';
import type { Key } from '../../testkit/store.ts';
import { testAuthor } from '../../testkit/test-author.ts';
import type { ModelQuota } from './model-limiter.ts';
import type { Caller } from './model-steps.ts';

type ClientName = Extract<Caller, { kind: 'client' }>['client'];
type Stranger = Extract<Caller, { kind: 'stranger' }>['as'];

/** The Authorization header of a request, the subject that it is counted for, and the error code if the key itself is rejected. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly subject: string;
  readonly quota: ModelQuota;
  readonly rejection?: string;
  readonly scopes: readonly Scope[];
}

const addressQuota: ModelQuota = { perMinute: 60 };
const quotas: Record<ClientName, { perMinute: number; perDay: number }> = {
  roomy: { perMinute: 1_000_000, perDay: 2_000_000 },
  small: { perMinute: 8, perDay: 1_000_000 },
  daily: { perMinute: 1_000, perDay: 60 },
  reader: { perMinute: 1_000_000, perDay: 2_000_000 },
  spare: { perMinute: 1_000_000, perDay: 2_000_000 },
};
/** The small client ignores 429, with so many keys that none is banned. */
const keyCounts: Record<ClientName, number> = { roomy: 2, small: 32, daily: 2, reader: 1, spare: 60 };

export class Callers {
  readonly #staff: Staff;
  readonly #keys: Record<ClientName, Key[]>;
  readonly #strangers: Record<Stranger, readonly string[]>;
  readonly #revoked = new Set<number>();

  private constructor(staff: Staff, keys: Record<ClientName, Key[]>, strangers: Record<Stranger, readonly string[]>) {
    this.#staff = staff;
    this.#keys = keys;
    this.#strangers = strangers;
  }

  static async create(staff: Staff): Promise<Callers> {
    const make = (client: ClientName, scopes: readonly Scope[] = defaultScopes, expiresAt: Date | null = null) =>
      Promise.all(Array.from({ length: expiresAt ? 1 : keyCounts[client] }, () => mint(staff, client, scopes, expiresAt)));
    // One after another: a client's first key creates the client.
    const roomy = await make('roomy');
    const keys = {
      roomy,
      small: await make('small'),
      daily: await make('daily'),
      reader: await make('reader', ['pets:read']),
      spare: await make('spare'),
    };
    const [revoked] = await make('spare');
    const [expired] = await make('spare', defaultScopes, new Date(Date.now() - 60_000));
    if (!revoked || !expired) throw new Error('no keys were created');
    await staff.revoke(revoked);
    const mistyped = (roomy[0]?.key ?? '').replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    return new Callers(staff, keys, {
      nobody: [''],
      'another-scheme': ['Basic YTpi', 'bearer', 'Token abc', `Bearer  ${roomy[0]?.key} x`],
      mistyped: [`Bearer ${mistyped}`, `Bearer ${mistyped.slice(0, -1)}`, 'Bearer null'],
      invented: Array.from({ length: 5 }, () => `Bearer ${mintApiKey('production')}`),
      staging: [`Bearer ${mintApiKey('staging')}`],
      revoked: [`Bearer ${revoked.key}`],
      expired: [`bearer ${expired.key}`],
    });
  }

  of(caller: Caller): Credentials {
    if (caller.kind === 'stranger') {
      const authorization = pick(this.#strangers[caller.as], caller.key) || undefined;
      return { authorization, subject: 'address', quota: addressQuota, rejection: rejectionOf(caller.as), scopes: [] };
    }
    const key = pick(this.#keys[caller.client], caller.key);
    const authorization = `Bearer ${key.key}`;
    if (this.#revoked.has(key.id))
      return { authorization, subject: 'address', quota: addressQuota, rejection: 'api_key_revoked', scopes: [] };
    const scopes: readonly Scope[] = caller.client === 'reader' ? ['pets:read'] : defaultScopes;
    return { authorization, subject: caller.client, quota: quotas[caller.client], scopes };
  }

  /** The limit that applies to an address without a key. */
  get address(): Pick<Credentials, 'subject' | 'quota'> {
    return { subject: 'address', quota: addressQuota };
  }

  /** Revokes a key; every process must reject it from the next request on. */
  async revokeSpare(index: number): Promise<void> {
    const key = pick(this.#keys.spare, index);
    await this.#staff.revoke(key);
    this.#revoked.add(key.id);
  }
}

async function mint(staff: Staff, client: ClientName, scopes: readonly Scope[], expiresAt: Date | null): Promise<Key> {
  const input = {
    client,
    limits: { plan: 'enterprise', ...quotas[client] },
    scopes,
    expiresAt,
    environment: 'production',
    by: testAuthor,
  } as const;
  const { key, record } = await createKey(staff.dependencies.db, input);
  return { id: Number(record.id), clientId: Number(record.clientId), key };
}

function rejectionOf(stranger: Stranger): string {
  if (stranger === 'nobody') return 'api_key_missing';
  return stranger === 'revoked' ? 'api_key_revoked' : stranger === 'expired' ? 'api_key_expired' : 'api_key_invalid';
}

function pick<T>(list: readonly T[], index: number): T {
  const one = list[index % list.length];
  if (one === undefined) throw new Error('the list is empty');
  return one;
}
