import { errorCodes } from '../../service/src/platform/errors.ts';
import { html } from '../../service/src/platform/html.ts';
import { tabLabelOf } from './code-tabs.ts';
import { changelogPage, guidePage } from './guide-page.ts';
import { guides } from './guides.ts';
import type { Page } from './page-layout.ts';
import { type ApiDocument, eventTypesPath, operationsOf, operationUrl } from './reference-document.ts';
import { referenceOverview } from './reference-pages.ts';
import type { SearchEntry } from './search-engine.ts';
import { keywords } from './search-words.ts';
import type { SiteFiles } from './site-files.ts';

/** A guide explains, so it comes before a reference that matches as well. The changelog mentions everything once. */
const weights = { operation: 0.65, event: 0.4, error: 0.35, changelog: 0.3 };

/** These guides show again what others explain: with the client, on staging, and for people who write no programs. */
const guideWeights: Readonly<Record<string, number>> = { sdk: 0.7, rehearsal: 0.7, 'first-day': 0.5 };

/** Every place that the search can lead to. */
export function searchEntries(files: SiteFiles, document: ApiDocument): SearchEntry[] {
  const entries = [
    ...guides.flatMap((guide) => {
      const entries = sectionEntries(guidePage(guide, files.guides.get(guide.slug) ?? ''));
      return entries.map((entry) => ({ ...entry, weight: guideWeights[guide.slug] ?? 1 }));
    }),
    // Each operation of that section is an entry itself.
    ...sectionEntries(referenceOverview(document)).filter(({ url }) => !url.endsWith('#operations')),
    ...operationEntries(document),
    ...eventEntries(document),
    ...errorEntries(),
    // Readers here use the API. What staff and operators read is in the changelog itself.
    ...sectionEntries(changelogPage(files.changelog))
      .filter(({ heading }) => !/^For (staff|operators)$/.test(heading))
      .map((entry) => ({ ...entry, names: versionIn(entry.heading), weight: weights.changelog })),
  ];
  return entries.map((entry) => ({ ...entry, keywords: `${entry.keywords ?? ''} ${keywords[entry.url] ?? ''}`.trim() }));
}

const versionIn = (heading: string): string => /^\d+\.\d+\.\d+/.exec(heading)?.[0] ?? '';

function operationEntries(document: ApiDocument): SearchEntry[] {
  return operationsOf(document).map((operation) => ({
    url: operationUrl(operation),
    page: `${operation.tags?.[0]} reference`,
    heading: operation.summary,
    names: `${operation.path} ${operation.method}${operation.path} ${operation.operationId}`,
    text: (operation.description ?? '').replaceAll('`', ''),
    weight: weights.operation,
  }));
}

function eventEntries(document: ApiDocument): SearchEntry[] {
  const page = 'Event types';
  const all = { url: eventTypesPath, page, heading: page, text: 'The events in the feed and in webhooks.' };
  const each = Object.entries(document.webhooks).map(([type, { post }]) => ({
    url: `${eventTypesPath}#${type}`,
    page,
    heading: type,
    names: type,
    text: post.summary,
    weight: weights.event,
  }));
  return [all, ...each];
}

function errorEntries(): SearchEntry[] {
  const all = { url: '/docs/errors', page: 'Errors', heading: 'Errors', text: 'Every error code with its cause, its fix and an example.' };
  const each = Object.entries(errorCodes).map(([code, { status, cause, fix }]) => ({
    url: `/docs/errors/${code}`,
    page: 'Errors',
    heading: code,
    names: `${code} ${status}`,
    text: `${status}. ${cause} ${fix}`,
    weight: weights.error,
  }));
  return [all, ...each];
}

/** One entry for the page, with the text above its first section, and one for each section. */
function sectionEntries({ path, title, main }: Page): SearchEntry[] {
  const [intro = '', ...rest] = html`${main}`.text.split(/<h[23] id="([^"]*)">(.*?)<\/h[23]>/s);
  const text = plainText(intro.replace(/^.*?<\/h1>/s, ''));
  const entries: SearchEntry[] = [{ url: path, page: title, heading: title, keywords: languagesIn(intro), text }];
  for (let i = 0; i < rest.length; i += 3) {
    const [id = '', heading = '', text = ''] = rest.slice(i, i + 3);
    const languages = languagesIn(text);
    entries.push({ url: `${path}#${id}`, page: title, heading: plainText(heading), keywords: languages, text: plainText(text) });
  }
  return entries;
}

const languages = ['sh', 'js', 'ts', 'py'];

/** The languages of the code blocks, for a reader who looks for an example in one of them. */
const languagesIn = (text: string): string =>
  languages
    .filter((language) => text.includes(`data-language="${language}"`))
    .map(tabLabelOf)
    .join(' ');

/** The text of HTML, without its code blocks: readers search for what they are about. */
function plainText(text: string): string {
  return text
    .replace(/<figure class="code.*?<\/figure>/gs, ' ')
    .replace(/<button.*?<\/button>/gs, ' ')
    .replace(/<wbr>/g, '')
    .replace(/<\/?(p|li|ul|ol|td|th|tr|h\d|div|table|pre|section|article|figure|nav)\b[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}
