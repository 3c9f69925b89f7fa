import { describe, expect, test } from 'vitest';
import { answersPage, askAnswersPage } from '../../../src/adoption/adopter-page/page-answers.ts';
import {
  askPage,
  confirmPage,
  erasePage,
  messagePage,
  obstaclePage,
  type PageParts,
  statusPage,
  withdrawPage,
} from '../../../src/adoption/adopter-page/page-html.ts';
import type { PageFacts } from '../../../src/adoption/adopter-page/page-queries.ts';
import { pageTexts } from '../../../src/adoption/adopter-page/page-texts.ts';
import { applicationStatuses, closedReasonNames } from '../../../src/domain/application-states.ts';
import type { Html } from '../../../src/platform/html.ts';

const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '` onfocus=`alert(1)',
  '</title><script>alert(1)</script>',
  '</style><script>alert(1)</script>',
  '<!--',
  '-->',
  ']]>',
  '&lt;script&gt;',
  '&#60;script>',
  '{pet}{shelter}{seconds}',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '"\u2069<b>\u2068',
  '\u202e<svg/onload=alert(1)>',
  '\ud800<',
  '+ADw-script+AD4-',
  '%3Cscript%3E',
  'a@b"><script>',
];

const factsOf = (text: string, given: Partial<PageFacts>): PageFacts => ({
  id: 1n,
  status: 'submitted',
  closedReason: null,
  createdAt: new Date('2026-07-01T12:00:00Z'),
  updatedAt: new Date('2026-07-02T12:00:00Z'),
  message: text,
  isErased: false,
  hasAnswers: true,
  isReached: true,
  linkNumber: 0n,
  pet: { name: text, isAvailable: true },
  photo: { alt: text, files: [{ width: 320, height: 240, hash: '0'.repeat(64) }] },
  shelter: { name: text, email: text, phone: text, website: text, address: text, timezone: text },
  ...given,
});

const parts: PageParts = {
  texts: pageTexts.en,
  photosUrl: 'https://cdn.example/photos',
  siteUrl: 'https://adopt.example/',
  self: 'x',
  way: 'here',
};
const asked = { lastAt: new Date('2026-07-02T12:00:00Z'), left: 2, resetAt: new Date('2026-07-03T00:00:00Z') };
const cases: ReadonlyArray<Partial<PageFacts>> = [
  ...applicationStatuses.filter((status) => status !== 'closed').map((status) => ({ status })),
  ...closedReasonNames.map((closedReason) => ({ status: 'closed' as const, closedReason })),
  { isErased: true },
];
const pagesWith = (text: string): Html[] => [
  ...(['here', 'mail', 'shelter', 'nowhere'] as const).flatMap((way) =>
    cases.map((given) => statusPage(factsOf(text, given), { ...parts, way })),
  ),
  statusPage(factsOf(text, { isReached: false }), parts, true),
  confirmPage(factsOf(text, { status: 'unconfirmed' }), parts),
  withdrawPage(factsOf(text, { status: 'accepted' }), parts),
  erasePage(factsOf(text, {}), parts),
  askPage(factsOf(text, { status: 'accepted' }), 'withdraw', { ...asked, lastAt: null }, parts),
  askPage(factsOf(text, {}), 'erase', { ...asked, left: 0 }, parts),
  ...(['unavailable', 'exists', 'tooMany', 'full'] as const).map((obstacle) => obstaclePage(factsOf(text, {}), obstacle, parts)),
  askAnswersPage(factsOf(text, {}), parts, true),
  answersPage(
    factsOf(text, {}),
    [text, true, [text, text]].map((answer) => ({ question: 'home', text, answer })),
    parts,
  ),
  messagePage({ title: '{name}', text: '{name}' }, pageTexts.en, { name: text }),
];

/** The elements of a page with the names of their attributes. The link of a website is there only for one of the web. */
const structureOf = ({ text }: Html): string[] =>
  [...text.replace(/<a href="[^"]*" rel="noreferrer">([^<]*)<\/a>/g, '$1').matchAll(/<[^>]*>/g)].map(([element]) =>
    element.replaceAll(/="[^"]*"/g, ''),
  );
const targetsOf = ({ text }: Html): string[] =>
  [...text.matchAll(/(?:href|src|srcset|action)="([^"]*)"/g)].map(([, target = '']) => target);

describe('A page with text that was written to break it', () => {
  const plain = pagesWith('Biscuit').map(structureOf);
  test.each(hostile)('%j has the same elements and attributes', (text) => {
    expect(pagesWith(text).map(structureOf)).toEqual(plain);
  });

  test.each(hostile)('%j has no link to run something', (text) => {
    for (const target of pagesWith(text).flatMap(targetsOf)) expect(target).toMatch(/^(https?:\/\/|mailto:|tel:[+\d]*$|x(\/[a-z]+)?$)/);
  });
});

test('Every text names only what it gets', () => {
  const texts = JSON.stringify(pageTexts);
  expect(new Set([...texts.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))).toEqual(
    new Set(['pet', 'shelter', 'seconds', 'left', 'max', 'time']),
  );
  for (const page of pagesWith('Biscuit')) expect(page.text).not.toMatch(/\{(pet|shelter|seconds|left|max|time)\}/);
});

test('An animal without a photo and a shelter without an address have pages, too', () => {
  const none = { email: null, phone: null, website: null, address: null, timezone: null };
  const { text } = statusPage(factsOf('Biscuit', { photo: null, shelter: { name: 'Danube Shelter', ...none } }), parts);
  expect(text).not.toContain('<img');
  expect(text).toContain('has not said how to reach it');
});
