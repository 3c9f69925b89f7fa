import type { Pet } from '@homeward/sdk';
import { assetAddress } from './assets.ts';
import { symbolsFor } from './drawings.ts';
import { type Html, html } from './html.ts';

const siteName = 'Second Home';

export interface PageParts {
  readonly title: string;
  readonly description?: string;
  /** The animals that the page draws. */
  readonly animals?: readonly Pet[];
  /** The position in the feed from which the page receives updates; a page without it is static. */
  readonly asOf?: string;
  readonly main: Html;
}

export function layout({ title, description, animals = [], asOf, main }: PageParts): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · ${siteName}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${description ?? 'Dogs, cats and other animals from the shelter that need a home.'}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${assetAddress('icon.svg')}" type="image/svg+xml">
<link rel="preload" href="${assetAddress('fonts/figtree.woff2')}" as="font" type="font/woff2" crossorigin>
<link rel="preload" href="${assetAddress('fonts/fraunces.woff2')}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${assetAddress('style.css')}">
${asOf !== undefined && html`<script type="module" src="${assetAddress('live.js')}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><a class="brand" href="/"><img src="${assetAddress('icon.svg')}" alt="" width="36" height="36">${siteName}</a></header>
<main id="main"${asOf !== undefined && html` data-as-of="${asOf}"`}>
${main}
</main>
<footer><p>Animals and adoptions come from a Homeward store. Replace this line with who you are and how to reach you.</p></footer>
<div class="notice" role="status" id="notice"></div>
<p class="unseen" role="status" id="spoken"></p>
${symbolsFor(animals)}
</body>
</html>
`;
}
