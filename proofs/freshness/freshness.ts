// Lists are read from four processes while animals change: each list must include every change acknowledged before its request.
import { castOf } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { cutOffWriter } from './cut-off-writer.ts';
import { followLists } from './followed-lists.ts';
import { TrackedCategory } from './tracked-category.ts';

const processCount = 4;
const categoryCount = 6;
const firstCategoryId = 1_000;
/** A single animal is read by an index of ids; a list of a category by another index or, while the table is small, by a sequential scan. */
const scans = `(select seq_scan from pg_stat_user_tables where relname = 'pets')
  + (select sum(idx_scan) from pg_stat_user_indexes where relname = 'pets' and indexrelname not in ('pets_pkey', 'pets_listed'))`;

const file = 'animals/list-cache/catalogue.ts';
const query =
  'const { rows, transactionId } = readWritten(await this.#orAnnounceUnknown(this.#db.write<Row & Written>(statement, clientId)));';
const announceWritten = 'await this.#announce({ changes: rows.map(changeOf), listings: false, transactionIds: [transactionId] });';
const announce = 'if (tx.announced) await this.#announce(tx.announced);';

export const freshness: Proof = {
  name: 'freshness',
  promise: 'a list from any process includes every change that was acknowledged before the request',
  // The mutants announce a change before it is committed, so that a page that is read in between is cached without it; and they
  // acknowledge a change that Redis was not told of without waiting for the other processes.
  mutant: [
    { file, from: query, to: `await this.#announce({ changes: everything, listings: false, transactionIds: [] });\n    ${query}` },
    { file, from: announceWritten, to: '' },
    {
      file,
      from: 'return { result: await work(tx), tx };',
      to: `const result = await work(tx);\n      ${announce}\n      return { result, tx };`,
    },
    { file, from: `    ${announce}\n    await`, to: '    await' },
    { file, from: 'await settleUnannounced(this.#db).catch(() => sleep(pageAgeMaxMs));', to: '' },
  ],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: processCount, root, env: { LOG_LEVEL: 'warn' } });
  const cast = await castOf(store, 4);
  const categories = Array.from({ length: categoryCount }, (_, i) => new TrackedCategory(firstCategoryId + i));
  const claims = await followLists(store, categories, { cast, scans, seconds: short ? 6 : 120, progress });
  progress('one process is cut off from Redis');
  using http = new HttpClient();
  return [...claims, await cutOffWriter(store, http, cast.manager, short ? 3 : 12)];
}
