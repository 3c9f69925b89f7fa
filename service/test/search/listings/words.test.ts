// The words that misspelt ones are corrected to, as the worker makes them.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leaveGap } from '../../../src/changes/events/events.ts';
import { theService } from '../../../src/domain/actor.ts';
import { expireCursors } from '../../../src/operations/recovery/restore-queries.ts';
import type { ServiceDb } from '../../../src/platform/db/handles.ts';
import { countWords, type WordBounds, wordBounds } from '../../../src/search/listings/words.ts';
import { addPet, createManager } from '../../adoption-steps.ts';
import { publishAll } from '../../event-steps.ts';
import { addShelter, countAllWords, idsOf, type ListingBody, searchListings } from '../../listing-steps.ts';
import { countLockWaits, holdLocks } from '../../lock-waits.ts';
import { openTestStore, type TestKey, type TestResponse } from '../../test-store.ts';

let key: TestKey;
const store = await openTestStore({ env: { HOMEWARD_PAGE_CACHE: 'off' } });
beforeEach(async () => {
  key = await store.createKey();
});
afterEach(async () => {
  await expectConsistent();
  await forgetAll();
});

/** As in a new store: every animal is removed, and nothing is counted. */
async function forgetAll(): Promise<void> {
  await publishAll(store);
  await store.asOwner('update pets set removed_at = now() where removed_at is null');
  await store.asOwner('truncate animal_words, search_words, word_trigrams, word_clients');
  await store.asOwner('update word_feed set position = last_position, filled_to = null from feed');
}

const query = async <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
  (await store.write<Record<string, unknown>>(text, ...values)) as Row[];
const find = async (q: string) => idsOf(await searchListings(store, key, `?q=${q}`));
const wordsOf = async (petId: number) =>
  (await query<{ word: string }>('select word from animal_words where pet_id = $1 order by word', [petId])).map(({ word }) => word);
const storedWords = async () => (await query<{ word: string }>('select word from search_words order by word')).map(({ word }) => word);
const addNamed = async (of: TestKey, name: string) => (await addPet(store, of, { name })).id;
const writeProfile = async (of: TestKey, petId: number, profile: unknown) => {
  const { status, text } = await store.call('PUT', `/v1/pets/${petId}/profile`, { key: of.key, body: profile });
  if (status !== 200) throw new Error(text);
};
const send = async (of: TestKey, method: string, path: string, body?: unknown) => {
  const { status, text } = await store.call(method, path, { key: of.key, ...(body !== undefined && { body }) });
  if (status >= 300) throw new Error(text);
};

/** What is derived from the rows of animals is what they say, however they came about. */
async function expectConsistent(): Promise<void> {
  const wrong = await query(`
    with counted as (select word, count(*) as uses, bool_or(is_trusted) or count(distinct client_id) > 1 as is_shared from animal_words group by word),
      wrong_words as (select word from counted full join search_words stored using (word)
        where stored.word is null or uses is null or stored.is_shared <> counted.is_shared
          or stored.rarity <> 7 - floor(log(2, least(uses, 128)::numeric))),
      wrong_trigrams as (select word from word_trigrams full join
          (select word, is_shared, rarity, unnest(show_trgm(word)) as trigram from search_words where is_shared) due
          using (word, is_shared, rarity, trigram)
        where coalesce(word_trigrams.is_shared, due.is_shared) and (word_trigrams.word is null or due.word is null)),
      unknown_trigrams as (select word from word_trigrams where (word, is_shared, rarity) not in (select word, is_shared, rarity from search_words)),
      wrong_clients as (select client_id::text as word from word_clients
        where uses <> (select count(*) from animal_words where animal_words.client_id = word_clients.client_id)
          or words <> (select count(*) from search_words where search_words.client_id = word_clients.client_id))
    select 'word' as what, word from wrong_words union all select 'trigrams', word from wrong_trigrams
      union all select 'unknown trigrams', word from unknown_trigrams union all select 'client', word from wrong_clients`);
  expect(wrong).toEqual([]);
}

describe('A word of one client', () => {
  test('does not take the misspellings of a word that others use, and is gone with its animal', async () => {
    const [partner, other] = [await store.createKey(), await store.createKey()];
    const schnauzers = [await addNamed(partner, 'Schnauzer'), await addNamed(other, 'Schnauzer')].reverse();
    const animal = await addNamed(key, 'Schnauzzer');
    await countAllWords(store);
    expect(await find('shnauzzer')).toEqual(schnauzers);
    // As it was typed first, and then the word that others use.
    expect(await find('schnauzzer')).toEqual([animal, ...schnauzers]);
    await send(await createManager(store), 'DELETE', `/v1/pets/${animal}`);
    await countAllWords(store);
    expect(await storedWords()).toEqual(['schnauzer']);
    expect(await find('schnauzzer')).toEqual(schnauzers);
  });

  test('takes no search for a word that others use, in a name or a description, whatever the order and the page', async () => {
    const [partner, other] = [await store.createKey(), await store.createKey()];
    const poodles = [await addNamed(partner, 'Poodle'), await addNamed(other, 'Poodle')];
    const named = await addNamed(key, 'Poodel');
    const described = await addNamed(key, 'Biscuit');
    await writeProfile(await createManager(store), described, { description: 'A beegle, a poodel, a retreiver.' });
    await countAllWords(store);
    const ids = async (query: string) => idsOf(await searchListings(store, key, `?q=poodel&${query}`));
    expect(await ids('')).toEqual([named, described, ...poodles.toReversed()]);
    expect(await ids('sort=newest')).toEqual([described, named, ...poodles.toReversed()]);
    expect(await ids('sort=newest&status=available&limit=3')).toEqual([described, named, poodles[1]]);
    const pages: number[] = [];
    for (let next: string | undefined = '/v1/listings?q=poodel&limit=1'; next && pages.length < 5; ) {
      const page: TestResponse<ListingBody[]> = await store.call('GET', next, { key: key.key });
      pages.push(...idsOf(page));
      next = /<([^>]+)>; rel="next"/.exec(String(page.headers['link']))?.[1];
    }
    expect(pages).toEqual([named, described, ...poodles.toReversed()]);
    expect(await find('beegle')).toEqual([described]);
    // A word of one client that resembles none is found alone.
    const rare = await addNamed(key, 'Murgatroyd');
    await countAllWords(store);
    expect(await find('murgatroyd')).toEqual([rare]);
  });

  test('corrects others once a second client uses it', async () => {
    const partner = await store.createKey();
    const animals = [await addNamed(key, 'Wolpertinger'), await addNamed(partner, 'Biscuit')];
    await countAllWords(store);
    expect(await find('wolpertingr')).toEqual([]);
    animals.push(await addNamed(partner, 'Wolpertinger'));
    await countAllWords(store);
    expect(await find('wolpertingr')).toEqual([animals[2], animals[0]]);
  });

  test.each(['store:manage', 'shelter:manage'] as const)('corrects others if a key with %s wrote it', async (scope) => {
    const staff = await store.createKey({ scopes: ['pets:write', scope], shelterId: 1n });
    await addNamed(await store.createKey(), 'Biscuit');
    const animals = [await addNamed(staff, 'Wolpertinger'), await addNamed(key, 'Leonbergr')];
    await send(staff, 'PATCH', `/v1/pets/${animals[1]}`, { name: 'Leonberger' });
    const described = await addNamed(key, 'Rex');
    await writeProfile(staff, described, { breeds: { primary: 'Kuvasz' } });
    await countAllWords(store);
    expect([await find('wolpertingr'), await find('leonbergre'), await find('kuvaszz')]).toEqual([[animals[0]], [animals[1]], [described]]);
  });

  test('corrects others in a store whose words are all of this client, and no longer once they are not', async () => {
    const animal = await addNamed(key, 'Wolpertinger');
    await countAllWords(store);
    expect(await find('wolpertingr')).toEqual([animal]);
    const other = await addNamed(await store.createKey(), 'Biscuit');
    await countAllWords(store);
    expect(await find('wolpertingr')).toEqual([]);
    await send(await createManager(store), 'DELETE', `/v1/pets/${other}`);
    await countAllWords(store);
    expect(await find('wolpertingr')).toEqual([animal]);
  });

  test('that a partner gave an animal is not trusted when staff changes something else of it', async () => {
    const manager = await createManager(store);
    await addNamed(await store.createKey(), 'Biscuit');
    const animal = await addNamed(key, 'Wolpertinger');
    await writeProfile(await store.createKey({ shelterId: 1n }), animal, { breeds: { primary: 'Kuvasz' } });
    await send(manager, 'PATCH', `/v1/pets/${animal}`, { categoryId: 2 });
    await send(manager, 'PATCH', `/v1/pets/${animal}/profile`, { sex: 'male' });
    await countAllWords(store);
    expect([await find('wolpertingr'), await find('kuvaszz')]).toEqual([[], []]);
  });
});

describe('Words', () => {
  test('follow the animal: its name, its profile, its shelter and its end', async () => {
    const manager = await createManager(store);
    const animal = await addNamed(key, 'Ännchen von Tharau');
    await countAllWords(store);
    expect(await wordsOf(animal)).toEqual(['annchen', 'tharau', 'von']);
    await send(manager, 'PATCH', `/v1/pets/${animal}`, { name: 'Bella' });
    await writeProfile(manager, animal, { breeds: { primary: 'Beagle', secondary: 'Bella' }, description: 'Sleeps.', tags: ['calm'] });
    await countAllWords(store);
    expect(await wordsOf(animal)).toEqual(['beagle', 'bella']);
    expect(await storedWords()).toEqual(['beagle', 'bella']);
    await send(manager, 'PUT', `/v1/pets/${animal}/shelter`, { shelterId: await addShelter(store, {}) });
    await writeProfile(manager, animal, { breeds: { primary: 'Poodle' } });
    await countAllWords(store);
    expect(await wordsOf(animal)).toEqual(['bella', 'poodle']);
    await send(manager, 'DELETE', `/v1/pets/${animal}`);
    await countAllWords(store);
    expect([await wordsOf(animal), await storedWords()]).toEqual([[], []]);
  });

  test('of more than three misspelt words none is corrected', async () => {
    const animal = await addNamed(key, 'Ottokar Wolpertinger Leonhardine Kunigunde');
    await countAllWords(store);
    expect(await find('ottokr+wolpertingr+leonhardin+kunigunde')).toEqual([animal]);
    expect(await find('ottokr+wolpertingr+leonhardin+kunigund')).toEqual([]);
  });

  test('of descriptions are found at once, and are no corrections', async () => {
    const manager = await createManager(store);
    const animal = await addNamed(key, 'Sleepy');
    const sleeper = await addNamed(manager, 'Sleeper');
    await countAllWords(store);
    await writeProfile(manager, animal, { description: 'sleepers everywhere' });
    expect(await find('sleepers')).toEqual([animal, sleeper]);
    expect(await find('everywhere')).toEqual([animal]);
    await countAllWords(store);
    expect(await find('everywher')).toEqual([]);
  });
});

describe('Bounds', () => {
  test('a client adds so many new words in a day; further ones are found, but not counted', async () => {
    const [other, bounds] = [await store.createKey(), { newPerDayMax: 5 }];
    const animal = await addNamed(key, 'one two three four five six seven');
    await addNamed(other, 'six eight');
    await countAllWords(store, bounds);
    expect(await wordsOf(animal)).toEqual(['five', 'four', 'one', 'seven', 'six']);
    // Words that are there cost nothing.
    const second = await addNamed(key, 'one eight nine');
    await countAllWords(store, bounds);
    expect(await wordsOf(second)).toEqual(['eight', 'one']);
    expect(await find('nine')).toEqual([second]);
    await query(`update word_clients set day = day - 1`);
    const third = await addNamed(key, 'nine');
    await countAllWords(store, bounds);
    expect(await wordsOf(third)).toEqual(['nine']);
  });

  test('the table has so many words; the rarest of the client with the most go first', async () => {
    const [small, other] = [await store.createKey(), await store.createKey()];
    await addNamed(small, 'alpha beta');
    const shared = await addNamed(key, 'gamma delta epsilon');
    await addNamed(other, 'gamma');
    await addNamed(key, 'delta');
    const flood = await addNamed(key, 'aa bb cc dd ee ff');
    await countAllWords(store, { wordsMax: 4 });
    expect(await storedWords()).toEqual(['alpha', 'beta', 'delta', 'gamma']);
    expect([await wordsOf(shared), await wordsOf(flood)]).toEqual([['delta', 'gamma'], []]);
    // It is found all the same.
    expect(await find('epsilon')).toEqual([shared]);
  });

  test('a name of 200 characters in words of two has 67 words', async () => {
    const letters = 'abcdefghijklmnop';
    const name = Array.from({ length: 67 }, (_, i) => `${letters[i % 16]}${letters[Math.floor(i / 16)]}`).join(' ');
    const animal = await addNamed(key, name);
    await addNamed(key, 'x'.repeat(33));
    await countAllWords(store);
    expect(await wordsOf(animal)).toHaveLength(67);
    expect(await storedWords()).toHaveLength(67);
  });
});

describe('The worker', () => {
  const addSome = async (count: number) => {
    for (let i = 0; i < count; i += 1) await addNamed(i % 2 === 0 ? key : await store.createKey(), `Name${i % 3} Word${i}`);
    await publishAll(store);
  };
  const read = () =>
    query(`select word, array_agg(pet_id order by pet_id) as animals, (select is_shared from search_words where search_words.word = animal_words.word)
      from animal_words group by word order by word`);
  const oneByOne: WordBounds = { ...wordBounds, animalsAtOnceMax: 1 };

  test('that dies in the middle of a batch has counted nothing of it, and the next one goes on', async () => {
    await addSome(6);
    const { db } = store.dependencies;
    const dying: ServiceDb = {
      query: (statement) => db.query(statement),
      write: (statement) => db.write(statement),
      transaction: (work) =>
        db.transaction(async (tx) => {
          await work(tx);
          throw new Error('died');
        }, theService),
    };
    await countWords(db, oneByOne);
    await countWords(db, oneByOne);
    const before = await read();
    await expect(countWords(dying, oneByOne)).rejects.toThrow('died');
    expect(await read()).toEqual(before);
    await countAllWords(store, oneByOne);
    expect(await read()).toHaveLength(9);
  });

  test('counts alone: another one has nothing to do meanwhile', async () => {
    await addSome(4);
    const held = await holdLocks(store, 'select from word_feed for update', []);
    expect(await countWords(store.dependencies.db)).toEqual({ count: 0, isFill: false });
    await held.release();
    await Promise.all(Array.from({ length: 4 }, () => countAllWords(store, oneByOne)));
    await countAllWords(store);
    expect(await read()).toHaveLength(7);
  });

  test('fills in the animals that were there before, and counts none twice', async () => {
    await addSome(7);
    await countAllWords(store);
    const counted = await read();
    await store.asOwner('truncate animal_words, search_words, word_trigrams, word_clients');
    await query('update word_feed set filled_to = 0, fill_until = (select max(id) from pets)');
    // Also those beyond the bound of a day.
    await countAllWords(store, { animalsAtOnceMax: 2, newPerDayMax: 1 });
    expect(await read()).toEqual(counted);
    await query('update word_feed set filled_to = 0');
    await countAllWords(store);
    expect(await read()).toEqual(counted);
  });

  test.each([
    ['were deleted before it has read them', 'update feed set first_position = last_position + 1'],
    ['begin further on since a restore', undefined],
    ['end before its position since a restore', 'update word_feed set position = 1000000'],
  ])('counts all animals again if the events %s', async (_, change) => {
    const manager = await createManager(store);
    const removed = await addNamed(key, 'Removed');
    await countAllWords(store);
    await addSome(3);
    await send(manager, 'DELETE', `/v1/pets/${removed}`);
    await publishAll(store);
    if (change) await store.asOwner(change);
    else {
      await store.dependencies.db.transaction(async (tx) => {
        await leaveGap(tx);
        await expireCursors(tx);
      }, theService);
    }
    await countAllWords(store, { animalsAtOnceMax: 2 });
    expect((await read()).map(({ word }) => word)).toEqual(['name0', 'name1', 'name2', 'word0', 'word1', 'word2']);
    await addSome(1);
    await countAllWords(store);
    expect(await read()).toHaveLength(6);
  });
});

test('beside a paused transaction that adds a new word, animals with that word are added and lists are read', async () => {
  const held = await holdLocks(store, `insert into pets (name, category_id, status) values ('Neuwort', 1, 'available')`, []);
  const manager = await createManager(store);
  const create = () => store.call('POST', '/v1/pets', { key: key.key, body: { name: 'Neuwort', categoryId: 1 } });
  const creates = Promise.all(Array.from({ length: 50 }, create));
  const reads = [];
  for (const path of ['pets?limit=1', 'listings?limit=1', 'listings?q=neuwort', 'listings?q=neuwart']) {
    for (let i = 0; i < 5; i += 1) reads.push(await store.call('GET', `/v1/${path}`, key));
  }
  expect((await creates).map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
  expect(reads.map(({ status }) => status)).toEqual(reads.map(() => 200));
  const id = await addNamed(key, 'Rex');
  await writeProfile(manager, id, { breeds: { primary: 'Neuwort' }, description: 'Neuwort' });
  expect(await countLockWaits(store)).toBe(0n);
  await countAllWords(store);
  await held.release();
});
