import { eventsThatPassFilters } from '../../domain/event-types.ts';

/** What an event is about, as SQL over `events` or a row with its columns: one source for the feed and for what the worker sends. */

/** Of an event that is older than the column, from its data. */
const category = `coalesce(category_id, (data::json #>> '{pet,categoryId}')::bigint)`;

export const subjectColumns = `client_id as "clientId", shelter_id as "shelterId", previous_shelter_id as "previousShelterId",
  ${category} as "categoryId", previous_category_id as "previousCategoryId"`;

/** What the JSON of an event has beside its id. */
export const eventContent = `type, at, ${subjectColumns}, data, final_at as "finalAt", undoes`;

export const eventColumns = `position, published_at as "publishedAt", pet_id as "petId", ${eventContent}`;

/** The columns of a subject. */
export interface SubjectNames {
  readonly type: string;
  readonly shelter: readonly [string, string];
  readonly category: readonly [string, string];
}

const ofEvents: SubjectNames = {
  type: 'type',
  shelter: ['shelter_id', 'previous_shelter_id'],
  category: [category, 'previous_category_id'],
};

/** Says the same as isOfInterest, of two arrays. */
export const interestCondition = (
  shelterIds: string,
  categoryIds: string,
  { type, shelter, category: of }: SubjectNames = ofEvents,
): string => `(${type} in (${passing}) or ${hasOneOf(shelterIds, shelter)} and ${hasOneOf(categoryIds, of)})`;

const passing = eventsThatPassFilters.map((type) => `'${type}'`).join(', ');

const hasOneOf = (wanted: string, ids: readonly string[]) =>
  `(cardinality(${wanted}) = 0 or ${ids.map((id) => `coalesce(${id} = any(${wanted}), false)`).join(' or ')})`;
