// Listings are read from four processes while profiles, photos, shelters and animals change: each must include every change acknowledged
// before its request.
import { castOf } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { followLists } from './followed-lists.ts';
import { TrackedListings } from './tracked-listings.ts';

const processCount = 4;
const categoryCount = 6;
const firstCategoryId = 3_000;
const scans = `select idx_scan from pg_stat_user_indexes where indexrelname = 'pets_listed_by_category'`;

export const listingsFreshness: Proof = {
  name: 'listings-freshness',
  promise: 'listings from any process include every change of a profile, a photo, a shelter or an animal that was acknowledged before',
  // The mutant acknowledges a change before it is announced.
  mutant: [
    {
      file: 'store/list-cache/catalogue.ts',
      from: 'await this.#announce(tx.announced);',
      to: 'setTimeout((late) => void this.#announce(late).catch(() => {}), 300, tx.announced);',
    },
  ],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: processCount, root, env: { LOG_LEVEL: 'warn' } });
  const cast = await castOf(store, 4);
  using http = new HttpClient();
  const categories: TrackedListings[] = [];
  for (let i = 0; i < categoryCount; i += 1) categories.push(await TrackedListings.create(store, http, cast.manager, firstCategoryId + i));
  return await followLists(store, categories, { cast, scans, seconds: short ? 6 : 120, progress });
}
