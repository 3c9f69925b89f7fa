import type { Db } from '../../platform/db/handles.ts';
import type { Place, Places } from './phrase-filters.ts';

interface Row {
  readonly text: string;
  readonly town: string | null;
  readonly postcode: string | null;
}

const isTown = 'listing_place(shelters.town) = listing_place(asked.text)';
const isPostcode = `replace(listing_place(shelters.postcode), ' ', '') = replace(listing_place(asked.text), ' ', '')`;
/** Those that store staff have confirmed, and a shelter still says. */
const first = (field: 'town' | 'postcode', condition: string) =>
  `(select shelters.${field} from shelters join confirmed_shelters on shelter_id = id and confirmed_shelters.${field} = shelters.${field}
    where shelters.${field} is not null and ${condition} order by id limit 1)`;

/** Those of the texts that are the town or the postcode of a shelter, as the first shelter writes it. A town comes before a postcode. */
export async function selectPlaces(db: Db, texts: readonly string[]): Promise<Places> {
  const { rows } = await db.query<Row>({
    name: 'places',
    text: `select asked.text, ${first('town', isTown)} as town, ${first('postcode', isPostcode)} as postcode
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
