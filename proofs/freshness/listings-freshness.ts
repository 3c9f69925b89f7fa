// Listings are read and searched from four processes while profiles, photos, shelters and animals change: each must include every change
// acknowledged before its request.
import { castOf, queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import { Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { followLists } from './followed-lists.ts';
import { searches, TrackedListings } from './tracked-listings.ts';

const processCount = 4;
/** The searches whose pages one change of a profile may change, and one that needs none. */
const searched = [searches.none, searches.words, searches.words, searches.filter, searches.place, searches.all];
const firstCategoryId = 3_000;
/** Every search begins with it. */
const scans = `select coalesce(sum(calls), 0) from pg_stat_statements where query like 'begin isolation level repeatable read read only%'`;

export const listingsFreshness: Proof = {
  name: 'listings-freshness',
  promise: 'listings from any process include every change of a profile, a photo, a shelter or an animal that was acknowledged before',
  // The mutant announces a change of a profile with what the animal was found by before, and not with what it is found by now.
  mutant: [
    {
      file: 'animals/profiles/profiles.ts',
      from: 'terms: termSetOf([...termsBefore, ...terms])',
      to: 'terms: termSetOf(termsBefore)',
    },
  ],
  isNightly: true,
  about: ['service/src/search', 'service/src/animals', 'service/src/adoption/shelters', 'proofs/freshness'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const settings = { shared_preload_libraries: 'pg_stat_statements' };
  await using store = await Store.open({ processes: processCount, root, settings, env: { LOG_LEVEL: 'warn' } });
  await queryStore(store, 'create extension if not exists pg_stat_statements');
  const cast = await castOf(store, 4);
  using http = new HttpClient();
  const categories: TrackedListings[] = [];
  for (const [i, search] of searched.entries()) {
    categories.push(await TrackedListings.create(store, http, cast.manager, firstCategoryId + i, search));
  }
  return await followLists(store, categories, { cast, scans, seconds: short ? 6 : 120, progress });
}
