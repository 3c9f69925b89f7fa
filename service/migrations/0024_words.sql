-- Up Migration
-- release: 1.1.0
-- change: expand
-- online: yes
-- runs with: 1.0.0

-- The words of names and breeds, which misspelt words of searches are corrected to. The worker makes all of this from the feed, with
-- one transaction at a time (word_feed), so nobody waits for a word of another.

-- The words that each animal is counted for, and who wrote them: client 0 is the store itself. Trusted: written by staff or the store.
create table animal_words (
  pet_id bigint not null,
  word text not null,
  client_id bigint not null,
  is_trusted boolean not null,
  primary key (pet_id, word)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index animal_words_by_word on animal_words (word, is_trusted, client_id);

-- Each word once, with what follows from its rows above.
create table search_words (
  word text primary key,
  -- Whose share of the table it takes: of the client that was the first to use it.
  client_id bigint not null,
  -- 7: one animal has it, 6: two or three, and so on by powers of two; 0: 128 or more.
  -- squawk-ignore prefer-bigint-over-smallint
  rarity smallint not null check (rarity between 0 and 7),
  -- Two clients use it, or it is trusted.
  is_shared boolean not null
) with (autovacuum_vacuum_scale_factor = 0.05);
-- Of a client, those that go first when there are too many words.
create index search_words_to_evict on search_words (client_id, is_shared, rarity desc);

-- The words that may correct others, by their trigrams. A correction reads the first entries of each trigram, the words of the most
-- animals, and no more: an index of trigrams would return every word that shares some.
create table word_trigrams (
  trigram text not null,
  is_shared boolean not null,
  -- squawk-ignore prefer-bigint-over-smallint
  rarity smallint not null,
  word text not null,
  primary key (trigram, is_shared, rarity, word)
) with (autovacuum_vacuum_scale_factor = 0.05, vacuum_index_cleanup = on);

-- What each client has in these tables, and how many new words on its last day of adding one (UTC).
create table word_clients (
  client_id bigint primary key,
  -- Rows of animal_words.
  uses bigint not null check (uses >= 0),
  -- Rows of search_words.
  words bigint not null check (words >= 0),
  day date not null,
  new_words bigint not null
);

-- One row, which the worker that makes words locks. Up to `position` of the feed, the words of the animals are counted. Those from before
-- are filled in by id: up to `filled_to`, which is null when all up to `fill_until` are.
create table word_feed (
  one boolean primary key default true check (one),
  position bigint not null,
  filled_to bigint,
  fill_until bigint not null
);
insert into word_feed (position, filled_to, fill_until)
  select last_position, 0, coalesce((select max(id) from pets), 0) from feed;

-- Whether an animal has the word, by the indexes of words. The planner would rather look through animals until one has it, as if each
-- word were frequent.
create function is_word_of_animal(asked text) returns boolean language plpgsql stable
  set enable_indexscan = off set enable_indexonlyscan = off set enable_seqscan = off
as $$
declare
  query constant tsquery := plainto_tsquery('listings', asked);
begin
  return exists (select from listings where document @@ query)
    or exists (select from pets where removed_at is null and to_tsvector('listings', name) @@ query);
end
$$;

-- The key that last set the breeds; null: not recorded.
alter table profiles add column breeds_by bigint;

grant select, insert, update, delete on animal_words, search_words, word_trigrams to homeward_app;
grant select, insert, update on word_clients to homeward_app;
grant select, update on word_feed to homeward_app;
