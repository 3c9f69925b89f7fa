import { Html, html } from '../../platform/html.ts';
import type { PageFacts, ShelterContact } from './page-queries.ts';
import { pageStyle } from './page-style.ts';
import type { Message, PageTexts } from './page-texts.ts';
import { filled, type Names } from './page-words.ts';

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
  const sources = photo.files.map(({ hash, width }) => `${photosUrl}/${hash}.webp ${width}w`).join(', ');
  return html`<img class="photo" src="${photosUrl}/${largest.hash}.webp" srcset="${sources}" sizes="(min-width: 42rem) 37rem, 92vw" width="${largest.width}" height="${largest.height}" alt="${photo.alt}">`;
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
    [contact.address, address !== null && html`<span dir="auto">${address}</span>`],
    [contact.website, website !== null && linkTo(website)],
  ];
  const shown = rows.filter(([, value]) => value !== false && value.text !== '');
  return html`<section class="card" aria-labelledby="contact">
<h2 id="contact">${filled(contact.title, { shelter: name })}</h2>
${shown.length > 0 && html`<dl class="facts">${shown.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`}
${shown.length === 0 && html`<p>${filled(contact.none, { shelter: name })}</p>`}
</section>`;
}

/** A link to a page of the web, and to nothing else. */
function linkTo(website: string): Html {
  const url = URL.parse(website);
  return url && /^https?:$/.test(url.protocol) ? html`<a href="${url.href}" rel="noreferrer">${website}</a>` : html`${website}`;
}
