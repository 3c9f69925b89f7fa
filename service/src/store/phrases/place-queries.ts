import type { Db } from '../../platform/db/handles.ts';
import type { Place, Places } from './phrase-filters.ts';

interface Row {
  readonly text: string;
  readonly town: string | null;
  readonly postcode: string | null;
  readonly confirmedTown: string | null;
  readonly confirmedPostcode: string | null;
}

const isTown = 'listing_place(shelters.town) = listing_place(asked.text)';
const isPostcode = `replace(listing_place(shelters.postcode), ' ', '') = replace(listing_place(asked.text), ' ', '')`;
const first = (field: 'town' | 'postcode', condition: string) =>
  `(select ${field} from shelters where ${field} is not null and ${condition} order by id limit 1)`;
/** Those of it that a shelter still says. */
const firstConfirmed = (field: 'town' | 'postcode', condition: string) =>
  `(select shelters.${field} from shelters join confirmed_shelters on shelter_id = id and confirmed_shelters.${field} = shelters.${field}
    where shelters.${field} is not null and ${condition} order by id limit 1)`;

/** Those of the texts that are the town or the postcode of a shelter, as the first shelter writes it. A town comes before a postcode. */
export async function selectPlaces(db: Db, texts: readonly string[]): Promise<Places> {
  const { rows } = await db.query<Row>({
    name: 'places',
    text: `select asked.text, ${first('town', isTown)} as town, ${first('postcode', isPostcode)} as postcode,
        ${firstConfirmed('town', isTown)} as "confirmedTown", ${firstConfirmed('postcode', isPostcode)} as "confirmedPostcode"
      from unnest($1::text[]) asked (text)`,
    values: [texts],
  });
  return {
    named: placesOf(rows, ({ town, postcode }) => ({ town, postcode })),
    confirmed: placesOf(rows, ({ confirmedTown: town, confirmedPostcode: postcode }) => ({ town, postcode })),
  };
}

const placesOf = (rows: readonly Row[], read: (row: Row) => Pick<Row, 'town' | 'postcode'>): Map<string, Place> =>
  new Map(
    rows.flatMap((row): Array<[string, Place]> => {
      const { town, postcode } = read(row);
      if (town !== null) return [[row.text, { town }]];
      return postcode === null ? [] : [[row.text, { postcode }]];
    }),
  );
