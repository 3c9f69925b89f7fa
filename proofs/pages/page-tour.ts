// Crawls a site by its links, lets a visitor check each page, and checks that every link leads somewhere.
import { HttpClient } from '../../testkit/http.ts';
import type { Look, Visitor } from './page-visitor.ts';

export interface Tour {
  /** The URLs of all pages. */
  readonly pages: readonly string[];
  /** What visitors found on those that they looked at. */
  readonly looks: readonly Look[];
  /** The files other than HTML pages, such as Markdown, by URL. */
  readonly texts: ReadonlyMap<string, string>;
  readonly links: number;
  readonly broken: readonly string[];
}

export interface TourOptions {
  readonly start: readonly string[];
  /** True if the URL is to be visited and its links followed. Other linked URLs only have to exist. */
  isPart(url: URL): boolean;
  /** True if a visitor is to look at the page. Of the others only the links are read. */
  isWorthALook(url: URL): boolean;
  progress(text: string): void;
}

interface Place {
  readonly status: number;
  readonly isPage: boolean;
  /** Not a picture, whose bytes may look like a link. */
  readonly isText: boolean;
  readonly text: string;
}

const placesMax = 1_000;

export async function tour(visitors: readonly Visitor[], { start, isPart, isWorthALook, progress }: TourOptions): Promise<Tour> {
  using http = new HttpClient(visitors.length);
  const origins = new Set(start.map((url) => new URL(url).origin));
  const places = new Map<string, Place>();
  const looks = new Map<string, Look>();
  const links = new Map<string, string>(start.map((url) => [url, 'the start']));
  // Each round visits the links that the previous round found.
  for (let found = [...links.keys()]; found.length > 0; ) {
    const targets = [...new Set(found.map(withoutFragment))].filter((url) => !places.has(url));
    if (places.size + targets.length > placesMax) throw new Error(`there are more than ${placesMax} URLs, such as ${targets[0]}`);
    const before = new Set(links.keys());
    await share(visitors, targets, async (visitor, url) => {
      const place = await ask(http, url);
      places.set(url, place);
      if (place.status !== 200 || !isPart(new URL(url))) return;
      const look = place.isPage && isWorthALook(new URL(url)) ? await visitor.open(url) : undefined;
      if (look) looks.set(url, look);
      if (!place.isText) return;
      for (const link of look?.links ?? (place.isPage ? hrefsOf : linksOf)(place.text, url))
        if (origins.has(new URL(link).origin) && !links.has(link)) links.set(link, url);
      progress(`${looks.size} pages, ${links.size} links`);
    });
    found = [...links.keys()].filter((link) => !before.has(link));
  }
  const broken = [...links].filter(([link]) => !leadsSomewhere(link, places, looks)).map(([link, from]) => `${link} on ${from}`);
  const pages = [...places].filter(([url, { status, isPage }]) => status === 200 && isPage && isPart(new URL(url))).map(([url]) => url);
  const texts = new Map([...places].filter(([, { status, isPage }]) => status === 200 && !isPage).map(([url, { text }]) => [url, text]));
  return { pages, looks: [...looks.values()], texts, links: links.size, broken };
}

/** Distributes the items: each visitor takes the next one when it has finished the last. */
export async function share<Item>(
  visitors: readonly Visitor[],
  items: readonly Item[],
  visit: (visitor: Visitor, item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  await Promise.all(
    visitors.map(async (visitor) => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await visit(visitor, item);
    }),
  );
}

async function ask(http: HttpClient, url: string, redirectsMax = 1): Promise<Place> {
  const { status, headers, text } = await http.send(url);
  if (status === 308 && headers.location && redirectsMax > 0)
    return ask(http, withoutFragment(new URL(headers.location, url).href), redirectsMax - 1);
  const type = String(headers['content-type']);
  return { status, isPage: type.startsWith('text/html'), isText: !type.startsWith('image/') || type.startsWith('image/svg'), text };
}

function leadsSomewhere(link: string, places: ReadonlyMap<string, Place>, looks: ReadonlyMap<string, Look>): boolean {
  const target = withoutFragment(link);
  const place = places.get(target);
  if (place?.status !== 200) return false;
  const fragment = decodeURIComponent(new URL(link).hash.slice(1));
  if (!fragment || fragment === 'top') return true;
  return looks.get(target)?.ids.includes(fragment) ?? place.text.includes(`id="${fragment}"`);
}

/** The links in a page, as absolute URLs. */
const hrefsOf = (page: string, base: string): string[] =>
  [...page.matchAll(/<(?:a|link) [^>]*?href="([^"]+)"/g)]
    .map(([, href = '']) => href.replaceAll(/&(?:amp|#38);/g, '&').replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))))
    .filter((href) => URL.canParse(href, base))
    .map((href) => new URL(href, base).href);

/** The links in a Markdown text, as absolute URLs. A fragment alone is a heading, which has its id in the same text as a page. */
const linksOf = (markdown: string, base: string): string[] =>
  [...markdown.matchAll(/\]\(([^()\s]+)\)|<(https?:[^>\s]+)>/g)]
    .map(([, inline, plain]) => inline ?? plain ?? '')
    .map((link) => (link.startsWith('#') ? base.replace(/\.md$/, link) : link))
    .filter((link) => URL.canParse(link, base))
    .map((link) => new URL(link, base).href);

const withoutFragment = (url: string): string => url.replace(/#.*$/, '');
