import type { PetListing } from '@homeward/sdk';
import { type AssetName, assetAddress } from './assets.ts';
import { type Html, html } from './html.ts';
import { symbolsFor } from './silhouettes.ts';
import { owner, siteName } from './words.ts';

export interface PageParts {
  readonly title: string;
  readonly description?: string;
  /** The one address of this content. */
  readonly canonical?: string;
  /** Shown where a link to the page is shared. */
  readonly image?: { readonly url: string; readonly width: number; readonly height: number; readonly alt: string } | undefined;
  /** Structured data for search engines. */
  readonly data?: Html;
  /** The animals on the page: those without a photo have a silhouette. */
  readonly drawn?: readonly PetListing[];
  /** The position in the feed from which the page receives updates; a page without it is static. */
  readonly asOf?: string;
  readonly scripts?: readonly AssetName[];
  /** What follows the controls at the top of the page, for those who use a keyboard; the whole content unless given. */
  readonly skip?: { readonly to: string; readonly text: string };
  readonly main: Html;
}

const toContent = { to: 'main', text: 'Skip to the content' };

export function layout({ title, drawn = [], asOf, scripts = [], skip = toContent, main, ...head }: PageParts): Html {
  const description = head.description ?? 'Dogs, cats and other animals from the shelter that need a home.';
  const loaded: readonly AssetName[] = ['favourites.js', ...(asOf === undefined ? [] : (['live.js'] as const)), ...scripts];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title} · ${siteName}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${assetAddress('icon.svg')}" type="image/svg+xml">
<link rel="preload" href="${assetAddress('fonts/figtree.woff2')}" as="font" type="font/woff2" crossorigin>
<link rel="preload" href="${assetAddress('fonts/fraunces.woff2')}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${assetAddress('style.css')}">
<link rel="stylesheet" href="/colours.css">
<link rel="alternate" type="application/atom+xml" href="/feed.xml" title="New animals">
${loaded.map((name) => html`<script type="module" src="${assetAddress(name)}"></script>\n`)}${shared(title, description, head)}${head.data}
</head>
<body>
<a class="skip" href="#${skip.to}">${skip.text}</a>
<header class="top"><a class="brand" href="/"><img src="${assetAddress('icon.svg')}" alt="" width="36" height="36">${siteName}</a>
<a class="to-favourites" id="to-favourites" href="/favourites" hidden>Favourites</a></header>
<main id="main"${asOf !== undefined && html` data-as-of="${asOf}"`}>
${main}
</main>
<footer><p>${owner !== undefined && html`${owner} · `}<a href="/">All animals</a> · <a href="/feed.xml">Feed of new animals</a> · <a href="/about">Imprint and privacy</a></p></footer>
<div class="notice" role="status" id="notice"></div>
<p class="unseen" role="status" id="spoken"></p>
${symbolsFor(drawn.filter(({ photos }) => photos.length === 0).map(({ pet }) => pet))}
</body>
</html>
`;
}

/** For links in messages and social networks: Open Graph, which the others read too. */
function shared(title: string, description: string, { canonical, image }: Pick<PageParts, 'canonical' | 'image'>): Html | false {
  return (
    canonical !== undefined &&
    html`<link rel="canonical" href="${canonical}">
<meta property="og:site_name" content="${siteName}">
<meta property="og:type" content="website">
<meta property="og:url" content="${canonical}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta name="twitter:card" content="${image ? 'summary_large_image' : 'summary'}">
${
  image &&
  html`<meta property="og:image" content="${image.url}">
<meta property="og:image:type" content="image/webp">
<meta property="og:image:width" content="${image.width}">
<meta property="og:image:height" content="${image.height}">
<meta property="og:image:alt" content="${image.alt}">
`
}`
  );
}
