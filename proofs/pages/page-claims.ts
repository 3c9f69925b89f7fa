// Turns what was found on the pages into claims.
import { none } from '../claims.ts';
import type { Claim } from '../proof.ts';
import { expectedStatuses, type Journey } from './page-adoption.ts';
import type { Score } from './page-scores.ts';
import type { SearchFindings } from './page-search.ts';
import type { Tour } from './page-tour.ts';
import type { Look } from './page-visitor.ts';
import type { Weight } from './page-weights.ts';

const performanceMin = 95;
const bytesMax = 120_000;

export interface Findings {
  readonly docs: Tour;
  readonly example: Tour;
  readonly journeys: readonly Journey[];
  /** Faults of the search near the visitor. */
  readonly nearMe: readonly string[];
  readonly looks: readonly Look[];
  readonly outside: readonly string[];
  readonly complaints: readonly string[];
  readonly requests: number;
  readonly words: number;
  readonly missingWords: readonly string[];
  readonly search: SearchFindings;
  /** Faults of the forms that try operations. */
  readonly forms: readonly string[];
  readonly weights: readonly Weight[];
}

export function judge(found: Findings, guides: readonly string[], pictures: string | undefined): Claim[] {
  const { docs, example, journeys, looks, requests } = found;
  const reached = guides.filter((guide) => docs.pages.some((url) => new URL(url).pathname === `/docs/${guide}`));
  const statuses = journeys.map((journey) => journey.statuses.join(', '));
  return [
    {
      claim: 'Guides that links from /docs and /llms.txt lead to',
      bar: 'all',
      figure: `${reached.length} of ${guides.length}, among ${docs.pages.length + example.pages.length} pages, ${looks.length} of them in a browser${pictures ? `; screenshots are in ${pictures}` : ''}`,
      holds: reached.length === guides.length && guides.length > 0,
    },
    none('Requests to other origins', found.outside, { of: requests }),
    none('Violations of the content security policy and errors on the console', found.complaints),
    none('Broken links and fragments', [...docs.broken, ...example.broken], { of: docs.links + example.links }),
    none('Violations of WCAG 2.2 AA found by axe, in the light and the dark scheme', of(looks, 'barriers'), {
      of: looks.filter(({ isGlance }) => !isGlance).length,
      more: ' pages',
    }),
    none('Pages that scroll sideways at 320, 768 or 1280 px, in the light or the dark scheme', of(looks, 'tooWide')),
    none('Texts that are cut off at 320, 768 or 1280 px', of(looks, 'clipped')),
    none('Missing titles, descriptions, languages and main headings of pages', of(looks, 'missing')),
    none('Words of the guides, and paths and titles of operations, that are missing without JavaScript', found.missingWords, {
      of: found.words,
    }),
    {
      claim:
        'The example site, with JavaScript and without: statuses of a form with a mistake, a valid request, a request that comes too late, an application with a mistake, a valid one, that one withdrawn, a missing page',
      bar: expectedStatuses.join(', '),
      figure: statuses.join('; '),
      holds: statuses.every((one) => one === expectedStatuses.join(', ')),
    },
    none('Faults of the search near the visitor, who is asked only after pressing a button', found.nearMe),
    ...judgeFurniture(found),
  ];
}

/** What readers expect of documentation: search, code that can be copied, themes. And how much it weighs. */
function judgeFurniture({ looks, search, forms, weights }: Findings): Claim[] {
  const blocks = looks.reduce((sum, { code }) => sum + code.blocks, 0);
  const inCode = (faults: 'notCopied' | 'notHighlighted') =>
    looks.flatMap(({ url, code }) => code[faults].map((fault) => `${fault} on ${new URL(url).pathname}`));
  const heaviest = weights.toSorted((a, b) => b.bytes - a.bytes)[0];
  return [
    none('Questions in the search whose first result is not the right page', search.missed, { of: search.asked }),
    none('Faults of the search by keyboard, offline, without JavaScript, at 320 px, and by axe', search.faults),
    none('Faults of the forms that try operations: a key that is entered once, is sent only to the store, and can be forgotten', forms),
    none('Code blocks without a button that copies exactly their text', inCode('notCopied'), { of: blocks }),
    none('Code blocks that are not highlighted', inCode('notHighlighted'), { of: blocks }),
    none('Themes of the switch that are not shown, not stored, or have too little contrast', of(looks, 'themes')),
    {
      claim: 'Transferred for a page of the documentation with fonts, to an empty cache',
      bar: `${kilobytes(bytesMax)} at most`,
      figure: `${kilobytes(heaviest?.bytes ?? 0)}, the most of ${weights.length} pages: ${heaviest && new URL(heaviest.url).pathname}`,
      holds: heaviest !== undefined && heaviest.bytes <= bytesMax,
    },
  ];
}

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`;

const of = (looks: readonly Look[], faults: 'barriers' | 'tooWide' | 'clipped' | 'missing' | 'themes'): string[] =>
  looks.flatMap((look) => look[faults]);

export function judgeScores(scores: readonly Score[]): Claim[] {
  const lowest = (what: keyof Omit<Score, 'url'>) => scores.toSorted((a, b) => a[what] - b[what])[0];
  const claimOf = (what: keyof Omit<Score, 'url'>, name: string, min: number): Claim => {
    const score = lowest(what);
    return {
      claim: `Lighthouse, ${name}`,
      bar: `${min}`,
      figure: `${score?.[what]}, the lowest of ${scores.length} pages: ${score?.url}`,
      holds: (score?.[what] ?? 0) >= min,
    };
  };
  return [
    { ...claimOf('performance', 'performance on a phone', performanceMin), isTimed: true },
    claimOf('accessibility', 'accessibility', 100),
    claimOf('bestPractices', 'best practices', 100),
    claimOf('seo', 'search engines', 100),
  ];
}
