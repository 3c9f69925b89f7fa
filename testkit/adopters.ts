// Shared by the proofs about adoption: animals in a store, partners that order them, and staff that decide on the orders.
import type pg from 'pg';
import { HttpClient, type Response } from './http.ts';
import { queryAt } from './postgres.ts';
import { Staff } from './staff.ts';
import type { Key, Store } from './store.ts';

export const generous = { perMinute: 900_000_000, perDay: 900_000_000 };
export const adopter = { name: 'Ada Lovelace', email: 'ada@example.org' };

/** A different address for each animal, because a client may have only 3 open orders for one address. */
export const adopterOf = (petId: number) => ({ ...adopter, email: `ada.${petId}@example.org` });

export interface Cast {
  readonly manager: Key;
  readonly partners: readonly Key[];
}

/** Creates a client with one key for each partner, and one client whose key has the scopes of the store's staff. */
export async function castOf(store: Store, partners: number): Promise<Cast> {
  await using staff = await Staff.of(store);
  const manager = await staff.createKey('store', generous, ['pets:read', 'pets:write', 'orders:read', 'orders:write', 'store:manage']);
  const keys: Key[] = [];
  for (let i = 0; i < partners; i += 1) keys.push(await staff.createKey(`partner ${i}`, generous));
  return { manager, partners: keys };
}

export async function addAnimals(store: Store, key: Key, count: number): Promise<number[]> {
  using http = new HttpClient(16);
  const url = `${store.processes[0]?.url}/pets`;
  const ids: number[] = [];
  let left = count;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (left > 0) {
        left -= 1;
        const response = await http.send(url, { method: 'POST', key: key.key, body: { name: `Animal ${left}`, categoryId: 1 } });
        if (response.status !== 201) throw new Error(`an animal was not added: ${response.text}`);
        ids.push(Number(JSON.parse(response.text).id));
      }
    }),
  );
  return ids;
}

/** Inserts them into the database directly, without a history and events. */
export async function insertAnimals(store: Store, count: number): Promise<bigint[]> {
  const rows = await queryStore<{ id: string }>(
    store,
    `insert into pets (name, category_id, status) select 'Animal ' || i, 1 + i % 10, 'available' from generate_series(1, $1::int) as i
      returning id::text`,
    [count],
  );
  return rows.map(({ id }) => BigInt(id));
}

export const place = (http: HttpClient, url: string, key: Key, petId: number, headers: Record<string, string> = {}): Promise<Response> =>
  http.send(`${url}/store/orders`, { method: 'POST', key: key.key, body: { petId, adopter: adopterOf(petId) }, headers });

export const act = (http: HttpClient, url: string, key: Key, orderId: number, action: string): Promise<Response> =>
  http.send(`${url}/store/orders/${orderId}/${action}`, { method: 'POST', key: key.key });

export const apply = (http: HttpClient, url: string, key: Key, petId: number, email: string): Promise<Response> =>
  http.send(`${url}/applications`, { method: 'POST', key: key.key, body: { petId, adopter: { ...adopter, email } } });

export const decide = (http: HttpClient, url: string, key: Key, applicationId: number, action: string): Promise<Response> =>
  http.send(`${url}/applications/${applicationId}/${action}`, { method: 'POST', key: key.key, ...(action === 'decline' && { body: {} }) });

/** Runs a query on the database directly, without the service. */
export const queryStore = <Row extends pg.QueryResultRow>(store: Store, text: string, values?: unknown[]): Promise<Row[]> =>
  queryAt<Row>(store.postgres.url, text, values);

export interface Verified {
  readonly holds: boolean;
  readonly rows: number;
  readonly orders: number;
  readonly violation?: string;
}

/** Runs `homeward verify`. An exit status of 1 with output is a result, not an error. */
export async function verify(store: Store): Promise<Verified> {
  const printed = await store.homeward('verify', '--json').catch((error: { stdout?: string; stderr?: string }) => {
    if (error.stdout) return error.stdout;
    throw new Error(`homeward verify failed: ${error.stderr}`);
  });
  return JSON.parse(printed);
}
