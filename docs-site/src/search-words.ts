// How the search reads text: it splits it into words, reduces them to stems, and knows what readers type for the documentation's words.

/** Words of a question that say nothing about its subject. */
const fillers = new Set(
  `a already an and are as at be by can do does for from how i if in is it its me mean means my of on or our should that the there
  this through to use using was we what when where which who why with you your`.split(/\s+/),
);

/** Each line has words for one thing. A search for one of them also finds the others. */
const synonymLines = `
  animal pet dog cat
  order reserve adoption
  pending reserve taken
  key token credential
  rate throttle 429
  page paginate pagination
  remove delete
  erase delete
  add create
  name create
  replace rotate
  rehearse simulate
  sdk client library
  event change
  ill sick
  died dead
  euthanised euthanized
`;

/** What readers call a section that says it in other words. */
export const keywords: Readonly<Record<string, string>> = {
  '/docs/quickstart': 'getting started tutorial examples curl typescript python',
  '/docs/reference#every-request': 'authentication auth login bearer token api key',
  '/docs/reference': 'api curl typescript python',
  '/docs/limits': 'rate limit quota throttling too many requests',
  '/docs/paging#by-id': 'several multiple batch',
  '/docs/orders#place-an-order': 'how to place an order',
  '/docs/reference/orders#cancelOrder': 'cancel order cancelled',
  '/docs/orders#retry-safely': 'idempotency-key idempotent uuid duplicate double',
  '/docs/orders#the-adopters-data': 'gdpr privacy personal data erase',
  '/docs/applications#the-adopters-data': 'gdpr privacy personal data erase applicant',
  '/docs/events#streams': 'server-sent events sse realtime live eventsource',
  '/docs/webhooks': 'subscribe subscription callback notification push',
  '/docs/webhooks#a-receiver': 'verify signature hmac',
  '/docs/webhooks#replay': 'missed lost resend again',
  '/docs/webhooks#during-development': 'localhost loopback local tunnel',
  '/docs/rehearsal': 'staging sandbox test mode chaos',
  '/docs/stability': 'versioning deprecated endpoints sunset breaking changes',
  '/docs/errors/pet_not_available': 'reserved taken ordered adopted',
  '/docs/holds#which-one': 'sick ill animal on trial dead animal ran away',
  '/docs/holds#what-a-hold-does': 'medical quarantine training behavior on hold',
  '/docs/holds#what-an-outcome-does': 'escaped lost transferred returned to owner',
  '/docs/holds#undo-an-outcome': 'bring back',
  '/docs/changelog': 'release notes versions',
};

/**
 * The words of a text, in lower case. A name such as `pet_not_available`, `/v1/pets` or `listPets` is a word as a whole, without
 * its punctuation, and so is each part of it.
 */
export function wordsOf(text: string): string[] {
  return text.split(/[\s"'`“”‘’()[\]<>,;:!?|=&]+/).flatMap((chunk) => {
    const [version] = /^v?\d+(\.\d+)+/.exec(chunk) ?? [];
    if (version) return [version.replace('v', '')];
    const parts = partsOf(chunk);
    const words = parts.length > 1 ? [parts.join(''), ...parts] : parts;
    return words.map((word) => word.toLowerCase());
  });
}

/** The same for "page", "pages", "paged" and "paging". It need not be a word, only the same in the index and in the query. */
export function stemOf(word: string): string {
  if (!/^\p{L}{4,}$/u.test(word)) return word;
  const singular = word.replace(/ies$/, 'y').replace(/([^su])s$/, '$1');
  const plain = singular.replace(/(?<=\p{L}{3})(ing|ed)$|(?<=\p{L}{4})ion$/u, '').replace(/([bdglmnprt])\1$/, '$1');
  return plain.replace(/(?<=\p{L}{3})e$/u, '');
}

/**
 * What a query asks for, as stems: one group for each of its words, the word first, then what may be found instead, which is its
 * parts and its synonyms.
 */
export function groupsOf(query: string): string[][] {
  // A method and a path are one name, as in the index.
  const chunks = query
    .replace(/\b(get|post|put|patch|delete)\s+(?=\/)/gi, '$1')
    .split(/\s+/)
    .map(wordsOf)
    .filter((words) => words.length > 0);
  const telling = chunks.filter(([word = '']) => !fillers.has(word));
  return (telling.length > 0 ? telling : chunks).map((words) => {
    const stems = words.map(stemOf);
    return [...new Set([...stems, ...stems.flatMap((stem) => synonyms.get(stem) ?? [])])];
  });
}

/** The same for texts that differ in form, such as "cursor expired" and `cursor_expired`, or "delete a pet" and "Remove an animal". */
export const titleKey = (text: string): string =>
  partsOf(text)
    .map((word) => word.toLowerCase())
    .filter((word) => !fillers.has(word))
    .map((word) => firstSynonyms.get(stemOf(word)) ?? stemOf(word))
    .join(' ');

const partsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((part) => part !== '');

const synonyms = new Map<string, string[]>();
const firstSynonyms = new Map<string, string | undefined>();
for (const line of synonymLines.trim().split('\n')) {
  const stems = line.trim().split(' ').map(stemOf);
  for (const stem of stems) firstSynonyms.set(stem, firstSynonyms.get(stem) ?? stems[0]);
  for (const stem of stems) synonyms.set(stem, [...(synonyms.get(stem) ?? []), ...stems.filter((other) => other !== stem)]);
}
