// Creates one caller of each kind, and lets each of them call every operation.

import { createKey, setSuspended } from '../../service/src/access/clients/clients.ts';
import { defaultScopes, scopes as everyScope, type Scope } from '../../service/src/domain/scopes.ts';
import { generous } from '../../testkit/adopters.ts';
import type { HttpClient, Response } from '../../testkit/http.ts';
import { absentId, type Caller, expectedOutcome, matrix } from '../../testkit/isolation-matrix.ts';
import type { Staff } from '../../testkit/staff.ts';
import { testAuthor } from '../../testkit/test-author.ts';

/** The first keys belong to the owner and differ only in their scopes. The others belong to another client or are not valid. */
export async function callersOf(staff: Staff, owner: string): Promise<Caller[]> {
  const caller = async (name: string, scopes: readonly Scope[], client = owner) => {
    const key = await staff.createKey(client, generous, scopes);
    return { name, scopes, key: key.key, id: key };
  };
  const revoked = await caller('a revoked key with all scopes', everyScope);
  await staff.revoke(revoked.id);
  const suspended = await caller('all scopes of a suspended client', everyScope, 'suspended');
  await setSuspended(staff.dependencies.db, () => true, testAuthor, 'suspended', true);
  return [
    await caller('all scopes', everyScope),
    await caller('the default scopes', defaultScopes),
    ...(await Promise.all(everyScope.map((scope) => caller(`${scope} alone`, [scope])))),
    await caller('no scope', []),
    await caller('the default scopes of another client', defaultScopes, 'another'),
    { ...revoked, rejectedAs: 'api_key_revoked' },
    { ...suspended, rejectedAs: 'client_suspended' },
    { name: 'an expired key with all scopes', scopes: everyScope, key: await expiredKey(staff, owner), rejectedAs: 'api_key_expired' },
    { name: 'no key', scopes: [], key: undefined, rejectedAs: 'api_key_missing' },
  ];
}

async function expiredKey({ dependencies: { db } }: Staff, client: string): Promise<string> {
  const expiresAt = new Date(Date.now() - 1_000);
  const limits = { plan: 'enterprise', ...generous } as const;
  return (await createKey(db, { client, limits, scopes: everyScope, shelterId: 1n, expiresAt, environment: 'production', by: testAuthor }))
    .key;
}

export interface MatrixOutcome {
  readonly cells: number;
  /** The number of requests that must be rejected for lack of a scope. */
  readonly rejected: number;
  /** Requests whose outcome is not the one that the matrix requires. */
  readonly wrong: readonly string[];
}

/**
 * Before each read, a key with all scopes reads the same: a page that is cached for that key must not be sent to a key
 * that may not read it.
 */
export async function callAll(http: HttpClient, url: string, callers: readonly Caller[]): Promise<MatrixOutcome> {
  const [everything] = callers;
  await http.send(`${url}/categories/${absentId}`, { method: 'PUT', key: everything?.key ?? '', body: { name: 'Matrix' } });
  const wrong: string[] = [];
  let [cells, rejected] = [0, 0];
  for (const [operation, row] of Object.entries(matrix)) {
    const [method = '', path = ''] = operation
      .toUpperCase()
      .split(' ', 1)
      .concat(operation.split(' ')[1] ?? '');
    const target = url + path.replaceAll(/\{\w+\}/g, String(absentId));
    for (const caller of callers) {
      for (const sent of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
        if (sent === 'GET') await http.send(target, { key: everything?.key ?? '' });
        // Callers without a valid key are limited by address, so each request has a different one.
        const headers = { 'x-forwarded-for': `10.1.${cells >> 8}.${cells & 255}` };
        const key = caller.key !== undefined && { key: caller.key };
        const response = await http.send(target, { method: sent, body: row.body, headers, ...key });
        const expected = expectedOutcome(row, caller);
        cells += 1;
        if (expected.startsWith('403')) rejected += 1;
        if (outcomeOf(response, sent, expected) !== expected) {
          wrong.push(`${sent} ${path} with ${caller.name}: ${response.status}, not ${expected}`);
        }
      }
    }
  }
  return { cells, rejected, wrong };
}

/** A HEAD response has no body with an error code, so only its status is compared. */
function outcomeOf({ status, text }: Response, method: string, expected: string): string {
  const isAboutCaller = status === 401 || status === 403;
  if (method === 'HEAD') return expected.startsWith(String(status)) ? expected : String(status);
  return isAboutCaller ? `${status} ${(JSON.parse(text) as { code: string }).code}` : String(status);
}
