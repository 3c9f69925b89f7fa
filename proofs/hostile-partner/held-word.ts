// A transaction that adds a word and stays open: animals with the same word must not wait for it.
import { HttpClient } from '../../testkit/http.ts';
import { connectTo } from '../../testkit/postgres.ts';
import type { Store } from '../../testkit/store.ts';
import type { Claim } from '../proof.ts';
import { newWord } from './new-words.ts';

const creates = 10;

export async function judgeHeldWord(store: Store, key: string): Promise<Claim> {
  using http = new HttpClient(creates);
  // Its transaction ends with the connection.
  await using client = await connectTo(store.postgres.url);
  const name = newWord();
  await client.query('begin');
  await client.query(`insert into pets (name, category_id, status) values ($1, 1, 'available')`, [name]);
  const responses = await Promise.all(
    Array.from({ length: creates }, (_, i) =>
      http.send(`${store.processes[i % store.processes.length]?.url}/pets`, { method: 'POST', key, body: { name, categoryId: 1 } }),
    ),
  );
  const created = responses.filter(({ status }) => status === 201).length;
  return {
    claim: `Of ${creates} animals with a new word, beside an open transaction that adds the same word, those that are added`,
    bar: String(creates),
    figure: String(created),
    holds: created === creates,
  };
}
