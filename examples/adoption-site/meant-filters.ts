// Filters that the form does not offer: what the store has understood of words, once a visitor has taken away a part of it.
import type { Understood } from '@homeward/sdk';

const textNames = ['breed', 'town', 'postcode', 'name', 'orNamed'] as const;
const monthNames = ['ageMonthsMin', 'ageMonthsMax'] as const;
const sizeNames = ['sizeMin', 'sizeMax'] as const;
const listNames = ['color', 'not'] as const;

export type Meant = Pick<
  Understood,
  (typeof textNames)[number] | (typeof monthNames)[number] | (typeof sizeNames)[number] | (typeof listNames)[number] | 'coat' | 'spelling'
>;

const sizes = ['small', 'medium', 'large', 'extra_large'] as const;
const coats = ['hairless', 'short', 'medium', 'long', 'wire', 'curly'] as const;
const textCharsMax = 100;
const monthsMax = 1_200;
const valuesMax: Readonly<Record<(typeof listNames)[number], number>> = { color: 3, not: 10 };
/** Of a search as it was understood. */
export function meantOf(understood: Understood): Meant {
  const names = [...textNames, ...monthNames, ...sizeNames, ...listNames, 'coat', 'spelling'] as const;
  return Object.fromEntries(names.flatMap((name) => (understood[name] === undefined ? [] : [[name, understood[name]]]))) as Meant;
}

/** Undefined if there is a value that no link of the site has. */
export function readMeant(query: URLSearchParams): Meant | undefined {
  const given = [...textNames, ...monthNames, ...sizeNames, 'coat', 'spelling'].flatMap((name) => {
    const text = query.get(name);
    return text ? [[name, text] as const] : [];
  });
  const lists = listNames.flatMap((name) => (query.has(name) ? [[name, query.getAll(name)] as const] : []));
  const isOffered =
    [...given, ...lists].every(([, texts]) => [texts].flat().every((text) => text.length <= textCharsMax && !/\p{C}/u.test(text))) &&
    given.every(
      ([name, text]) => !(monthNames as readonly string[]).includes(name) || (/^\d{1,4}$/.test(text) && Number(text) <= monthsMax),
    ) &&
    lists.every(([name, texts]) => texts.length <= valuesMax[name] && texts.every((text) => text !== '')) &&
    sizeNames.every((name) => [...sizes, ''].includes((query.get(name) ?? '') as (typeof sizes)[number])) &&
    ['', 'exact'].includes(query.get('spelling') ?? '') &&
    [...coats, ''].includes((query.get('coat') ?? '') as (typeof coats)[number]);
  if (!isOffered) return undefined;
  const values = given.map(([name, text]) => [name, (monthNames as readonly string[]).includes(name) ? Number(text) : text]);
  return Object.fromEntries([...values, ...lists]) as Meant;
}

/** As parameters of an address, and as hidden fields of the form. */
export const meantParameters = (meant: Meant = {}): ReadonlyArray<readonly [name: string, value: string]> =>
  Object.entries(meant).flatMap(([name, value]) => (value === undefined ? [] : [value].flat().map((one) => [name, String(one)] as const)));
