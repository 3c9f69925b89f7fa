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

/** Of the towns that are like a text, so many are compared with it. */
const similarMax = 10;
/** Animals with the words of a text that are looked through for one that is described with them. */
const lookedThroughMax = 200;

/** The towns that are like each of the texts, the most similar ones first. Those that store staff have confirmed, and a shelter still says. */
export async function selectSimilarTowns(
  db: Db,
  texts: readonly string[],
): Promise<ReadonlyArray<{ readonly text: string; readonly town: string }>> {
  const { rows } = await db.query<{ text: string; town: string }>({
    name: 'similar-towns',
    text: `select asked.text, town from unnest($1::text[]) with ordinality asked (text, n) cross join lateral (
        select shelters.town, max(similarity(listing_place(confirmed.town), asked.text)) as similarity
          from confirmed_shelters confirmed join shelters on shelters.id = confirmed.shelter_id and shelters.town = confirmed.town
          where listing_place(confirmed.town) % asked.text group by shelters.town order by 2 desc, 1 limit ${similarMax}) found
      order by asked.n, similarity desc, town`,
    values: [texts],
  });
  return rows;
}

/** Whether an animal has the words elsewhere than in its name. */
export async function isDescribed(db: Db, text: string): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>({
    name: 'is-described',
    text: `select exists (select from (
        select document from listings where document @@ plainto_tsquery('listings', $1) limit ${lookedThroughMax}) found
      where ts_filter(document, '{b,c,d}') @@ plainto_tsquery('listings', $1)) as is`,
    values: [text],
  });
  return rows[0]?.is ?? false;
}
