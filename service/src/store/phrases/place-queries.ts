import type { Db } from '../../platform/db/handles.ts';
import type { Place } from './phrase-filters.ts';

/** Those of the texts that are the town or the postcode of a shelter, as the first shelter writes it. A town comes before a postcode. */
export async function selectPlaces(db: Db, texts: readonly string[]): Promise<Map<string, Place>> {
  const { rows } = await db.query<{ text: string; town: string | null; postcode: string | null }>({
    name: 'places',
    text: `select asked.text, (select town from shelters where town is not null and listing_place(town) = listing_place(asked.text) order by id limit 1) as town,
        (select postcode from shelters where postcode is not null
          and replace(listing_place(postcode), ' ', '') = replace(listing_place(asked.text), ' ', '') order by id limit 1) as postcode
      from unnest($1::text[]) asked (text)`,
    values: [texts],
  });
  return new Map(
    rows.flatMap(({ text, town, postcode }): Array<[string, Place]> => {
      if (town !== null) return [[text, { town }]];
      return postcode === null ? [] : [[text, { postcode }]];
    }),
  );
}
