// The data that every contender uses: animals, and keys with limits that are never reached.

import { hashApiKey, keyHint, mintApiKey } from '../service/src/access/clients/api-key.ts';
import { defaultScopes, type Scope } from '../service/src/domain/scopes.ts';
import { connectTo } from '../testkit/postgres.ts';

export interface BenchKey {
  readonly id: number;
  readonly clientId: number;
  readonly key: string;
}

const animalCount = 50_000;
const clientCount = 200;
export const keysPerClient = 5;
const limit = 1_000_000_000;

/** Statuses and categories are spread evenly over the store. */
export async function fillStore(connectionString: string, animals = animalCount): Promise<void> {
  await using client = await connectTo(connectionString);
  await client.query('select setseed(0.5)');
  await client.query({
    text: `insert into pets (name, category_id, status)
      select (array['Biscuit', 'Luna', 'Milo', 'Clementine', 'Mr. Whiskers', 'Zoë', 'Bär'])[1 + i % 7] || ' ' || i, 1 + i % 10,
        (case when r < 0.5 then 'available' when r < 0.7 then 'pending' else 'sold' end)::pet_status
      from (select i, random() as r from generate_series(1, $1::int) as i) as drawn`,
    values: [animals],
  });
  await client.query('vacuum (analyze) pets');
  await client.query('checkpoint');
}

interface NewKeys {
  readonly clients: number;
  readonly perClient: number;
  /** What the names of the clients begin with. */
  readonly named?: string;
  readonly scopes?: readonly Scope[];
}

/** The same keys as by `homeward keys create --plan enterprise`, but with one statement for all clients and one for all keys. */
export async function insertKeys(
  connectionString: string,
  { clients: count, perClient, named = 'client', scopes: granted = defaultScopes }: NewKeys = {
    clients: clientCount,
    perClient: keysPerClient,
  },
): Promise<BenchKey[]> {
  await using client = await connectTo(connectionString);
  const { rows: clients } = await client.query<{ id: string }>({
    text: `insert into clients (name, plan, per_minute, per_day)
      select $3 || ' ' || i, 'enterprise', $2, $2 from generate_series(1, $1::int) as i returning id`,
    values: [count, limit, named],
  });
  const minted = clients.flatMap(({ id }) => Array.from({ length: perClient }, () => ({ clientId: id, key: mintApiKey('production') })));
  const { rows } = await client.query<{ id: string }>({
    text: `insert into api_keys (client_id, hash, hint, scopes)
      select client_id, decode(hash, 'hex'), hint, $4 from unnest($1::bigint[], $2::text[], $3::text[]) as minted (client_id, hash, hint)
      returning id`,
    values: [
      minted.map(({ clientId }) => clientId),
      minted.map(({ key }) => hashApiKey(key)),
      minted.map(({ key }) => keyHint(key)),
      granted,
    ],
  });
  await client.query('analyze clients, api_keys');
  return minted.map(({ clientId, key }, i) => ({ id: Number(rows[i]?.id), clientId: Number(clientId), key }));
}
