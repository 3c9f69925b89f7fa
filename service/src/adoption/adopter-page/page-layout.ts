import { createHash } from 'node:crypto';
import { Html, html } from '../../platform/html.ts';
import type { PageFacts, ShelterContact } from './page-queries.ts';
import type { Message, PageTexts } from './page-texts.ts';

/** The colors of the documentation: platform/design-tokens.css, with fallbacks for old phones. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --paper: #faf6f0; --raised: #fffefc; --line: #e2d7c9; --text: #221c18; --soft: #675b51;
  --accent: #a8431a; --on-accent: #fffaf5; --accent-strong: #86330f; --focus: #1c5fae;
  --wait: #26588a; --wait-ground: #e5eef8; --good: #2a6a3a; --good-ground: #e2f1e4; --ended: #5c5047; --ended-ground: #efe8df;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #161311; --raised: #1e1a17; --line: #3d352e; --text: #f0e9e1; --soft: #b8aca0;
    --accent: #f3a67d; --on-accent: #2a160b; --accent-strong: #f9c6aa; --focus: #8fc3ff;
    --wait: #a5cdf3; --wait-ground: #1b2c3d; --good: #9bd6aa; --good-ground: #1d3524; --ended: #cbbfb3; --ended-ground: #322b25;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: clamp(1rem, 4vw, 2.5rem); max-width: 42rem; background: var(--paper); color: var(--text);
  font: 1.0625rem/1.6 Figtree, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; overflow-wrap: anywhere;
}
a { color: var(--accent); text-underline-offset: 0.2em; }
a:hover { color: var(--accent-strong); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 3px; border-radius: 4px; }
h1, h2, h3, p, dl, ol { margin: 0; }
h1 { font-size: clamp(1.6rem, 1.2rem + 2vw, 2.1rem); line-height: 1.2; letter-spacing: -0.01em; text-wrap: balance; }
h2 { font-size: 1.25rem; line-height: 1.3; }
h3 { font-size: 1.0625rem; line-height: 1.4; }
.shelter { color: var(--soft); font-weight: 600; margin-bottom: 0.4rem; }
main { display: grid; gap: 1.25rem; }
.photo { width: 100%; height: auto; aspect-ratio: 16 / 10; object-fit: cover; border-radius: 14px; background: var(--line); }
.card { display: grid; gap: 0.85rem; padding: clamp(1rem, 4vw, 1.6rem); background: var(--raised); border: 1px solid var(--line); border-radius: 14px; }
.label { justify-self: start; padding: 0.15rem 0.75rem; border-radius: 99px; font-size: 0.95rem; font-weight: 600; }
.wait { color: var(--wait); background: var(--wait-ground); }
.good { color: var(--good); background: var(--good-ground); }
.ended { color: var(--ended); background: var(--ended-ground); }
.steps { display: grid; grid-template-columns: repeat(4, 1fr); gap: 0.4rem; padding: 0; list-style: none; font-size: 0.9rem; color: var(--soft); }
.steps li { border-top: 4px solid var(--line); padding-top: 0.4rem; overflow-wrap: normal; hyphens: auto; }
.steps .done { border-color: var(--accent); }
.steps [aria-current] { color: var(--text); font-weight: 600; }
blockquote { margin: 0; padding-inline-start: 1rem; border-inline-start: 4px solid var(--line); white-space: pre-line; }
.facts { display: grid; grid-template-columns: auto 1fr; gap: 0.35rem 1rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; white-space: pre-line; }
.facts a { display: inline-block; padding: 0.1rem 0; }
.answers { display: grid; gap: 0.2rem; }
.answers dt { color: var(--soft); }
.answers dd { margin: 0 0 0.7rem; white-space: pre-line; }
input {
  width: 100%; min-height: 2.9rem; padding: 0.55rem 0.8rem; border: 1px solid var(--soft); border-radius: 10px;
  background: var(--paper); color: inherit; font: inherit;
}
form p { margin-bottom: 0.5rem; }
.small { color: var(--soft); font-size: 0.95rem; }
.acts { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; }
.button {
  display: inline-block; min-height: 2.9rem; padding: 0.65rem 1.25rem; border: 1px solid var(--accent); border-radius: 10px;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; line-height: 1.4; text-decoration: none; cursor: pointer;
}
.button:hover { background: var(--accent-strong); border-color: var(--accent-strong); color: var(--on-accent); }
.quiet { background: transparent; color: var(--accent); }
.quiet:hover { background: var(--ended-ground); color: var(--accent-strong); }
@media (max-width: 26rem) {
  .steps { grid-template-columns: 1fr; }
  .steps li { border-top: 0; border-inline-start: 4px solid var(--line); padding: 0 0 0 0.6rem; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: 0.5rem; }
  .acts { display: grid; }
  .button { width: 100%; text-align: center; }
}
@media (forced-colors: active) { .steps [aria-current], .label { border: 1px solid; } }
@media print { .acts { display: none; } }
`;

/** For the content security policy, which allows this style and no other. */
export const pageStyleHash = `sha256-${createHash('sha256').update(pageStyle).digest('base64')}`;

/** The token is in the URL: nothing stores the page, and nothing is told where a reader came from. */
export function pageHeaders(photosUrl: string): Readonly<Record<string, string>> {
  const photos = photosUrl.startsWith('/') ? "'self'" : `'self' ${new URL(photosUrl).origin}`;
  const policy = [
    "default-src 'none'",
    `style-src '${pageStyleHash}'`,
    `img-src ${photos}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}

interface Content {
  readonly title: string;
  /** Undefined: the page is about no application. */
  readonly shelter: string | undefined;
  readonly main: Html;
}

const style = new Html(pageStyle);

export const layout = ({ language, direction }: PageTexts, { title, shelter, main }: Content): Html => html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<style>${style}</style>
</head>
<body>
${shelter !== undefined && html`<header><p class="shelter"><bdi>${shelter}</bdi></p></header>`}
<main>
${main}
</main>
</body>
</html>
`;

export const messageCard = ({ title, text }: Message, names: Names): Html =>
  html`<h1>${filled(title, names)}</h1><div class="card"><p>${filled(text, names)}</p></div>`;

/** The animal, if it has a photo. */
export function pictureOf({ photo }: PageFacts, photosUrl: string): Html | false {
  const largest = photo?.files.at(-1);
  if (!photo || !largest) return false;
  const set = photo.files.map(({ hash, width }) => `${photosUrl}/${hash}.webp ${width}w`).join(', ');
  const sources = html`src="${photosUrl}/${largest.hash}.webp" srcset="${set}" sizes="(min-width: 42rem) 37rem, 92vw"`;
  return html`<img class="photo" ${sources} width="${largest.width}" height="${largest.height}" alt="${photo.alt}">`;
}

/** How to reach the shelter. */
export function contactCard(shelter: ShelterContact, { contact }: PageTexts): Html {
  const { name, email, phone, address, website } = shelter;
  const rows: ReadonlyArray<readonly [label: string, value: Html | false]> = [
    [
      contact.email,
      email !== null && html`<a href="mailto:${email.toWellFormed().split('@').map(encodeURIComponent).join('@')}">${email}</a>`,
    ],
    [contact.phone, phone !== null && html`<a href="tel:${phone.replace(/[^+\d]/g, '')}">${phone}</a>`],
    [contact.address, address !== null && html`<a href="${mapOf(address)}" rel="noreferrer" dir="auto">${address}</a>`],
    [contact.website, website !== null && linkTo(website)],
  ];
  const shown = rows.filter(([, value]) => value !== false && value.text !== '');
  return html`<section class="card" aria-labelledby="contact">
<h2 id="contact">${filled(contact.title, { shelter: name })}</h2>
${shown.length > 0 && html`<dl class="facts">${shown.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`}
${shown.length === 0 && html`<p>${filled(contact.none, { shelter: name })}</p>`}
</section>`;
}

/** A search on a map: nothing is asked of it before somebody follows the link. */
const mapOf = (address: string): string =>
  `https://www.openstreetmap.org/search?${new URLSearchParams({ query: address.replaceAll(/\s+/g, ' ') })}`;

/** A link to a page of the web, and to nothing else. */
function linkTo(website: string): Html {
  const url = URL.parse(website);
  return url && /^https?:$/.test(url.protocol) ? html`<a href="${url.href}" rel="noreferrer">${website}</a>` : html`${website}`;
}

export type Names = Readonly<Record<string, string | number>>;

const placeholder = /\{(\w+)\}/;

/** A text with its names, each isolated: one in another script must not reorder what is around it. */
export const filled = (text: string, names: Names): Html =>
  html`${text.split(placeholder).map((part, i) => (i % 2 === 0 ? part : html`<bdi>${names[part] ?? ''}</bdi>`))}`;

/** For a title, which has no elements. */
export const plain = (text: string, names: Names): string =>
  text
    .split(placeholder)
    .map((part, i) => (i % 2 === 0 ? part : `\u2068${names[part] ?? ''}\u2069`))
    .join('');

/** In the shelter's time zone, with its name. UTC if the shelter has none, or one that this Node.js doesn't know. */
export function formatTime(time: Date, timeZone: string | null, { locale }: Pick<PageTexts, 'locale'>): string {
  const format = (zone: string) =>
    new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: zone,
      timeZoneName: 'short',
    }).format(time);
  try {
    return format(timeZone ?? 'UTC');
  } catch {
    return format('UTC');
  }
}
