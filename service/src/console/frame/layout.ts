import { type Html, html } from '../../platform/html.ts';
import type { Assets } from './assets.ts';
import { type IconName, icon } from './elements.ts';

/** A place in the navigation. */
export interface NavigationPlace {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
}

/** What a page shows above its content: what was done, or why not. */
export interface Banner {
  readonly tone: 'good' | 'bad' | 'warn' | 'info';
  readonly text: HtmlText;
  /** The page opens there. */
  readonly hasFocus?: boolean;
}
type HtmlText = Html | string;

/** What each page of a person has around it. */
export interface Furniture {
  readonly assets: Assets;
  readonly places: readonly NavigationPlace[];
  /** The path of the page. */
  readonly path: string;
  /** Where the person works: a shelter, or the store. */
  readonly workplace: string;
  readonly banner: Banner | undefined;
  /** What the person can undo. */
  readonly strip: Html | undefined;
}

/** A page of a person that is signed in. `main` begins with its heading. */
export const personPage = ({ assets, places, path, workplace, banner, strip }: Furniture, title: string, main: Html): Html =>
  document(
    assets,
    title,
    html`<a class="skip" href="#main">Skip to the content</a>
<div class="frame">
<header class="masthead">${mark(assets)}<p class="place"><bdi>${workplace}</bdi></p></header>
<nav class="places" aria-label="Places"><ul>
${places.map((place) => placeLink(place, isWithin(path, place.path)))}</ul></nav>
<main class="content" id="main" tabindex="-1">
${banner && bannerOf(banner)}
${strip}
${main}
</main>
</div>`,
  );

const placeLink = ({ path, name, icon: drawing }: NavigationPlace, isHere: boolean): Html => html`<li>
<a href="${path}"${isHere && html` aria-current="page"`}>${icon(drawing)}<span>${name}</span></a>
</li>
`;

/** A page of nobody: signing in, and errors. */
export const strangerPage = (assets: Assets, title: string, main: Html): Html =>
  document(assets, title, html`<div class="alone">${mark(assets)}<main class="card">${main}</main></div>`);

/**
 * A browser sends no cookie of the site to a page that it was led to from another one, and not to one that this page redirects to. It does
 * to a page that this one leads to by itself.
 */
export const onwardPage = (assets: Assets, to: string): Html =>
  document(
    assets,
    'Homeward',
    html`<div class="alone">${mark(assets)}<main class="card"><h1>One moment</h1><p><a href="${to}">Go on to the console</a></p></main></div>`,
    html`<meta http-equiv="refresh" content="0;url=${to}">
`,
  );

/** Says what has happened. Read aloud at once, since it is about what was just done. */
export function bannerOf({ tone, text, hasFocus = false }: Banner): Html {
  const role = tone === 'bad' ? 'alert' : 'status';
  const drawing = tone === 'good' ? 'check' : 'warning';
  return html`<div class="banner ${tone}" role="${role}"${hasFocus && html` tabindex="-1" autofocus`}>
${icon(drawing)}
<div>${text}</div>
</div>`;
}

const mark = ({ icon: drawing }: Assets) =>
  html`<a class="mark" href="/"><img src="${drawing}" alt="" width="28" height="28"><span>Homeward</span></a>`;

const document = (assets: Assets, title: string, body: Html, head: Html | false = false): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title === 'Homeward' ? title : `${title} · Homeward`}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="description" content="The console of an animal adoption store.">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#fffefc">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#161311">
<link rel="preload" href="${assets.font}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${assets.style}">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<script type="module" src="${assets.script}"></script>
${head}</head>
<body>
${body}
</body>
</html>
`;

/** Today is at the root, so only that path itself is within it. */
const isWithin = (path: string, place: string) => path === place || (place !== '/' && path.startsWith(`${place}/`));

/** For every page. Nothing stores one: it may show adopters, and a browser's cache outlives a session. */
export function consoleHeaders(consoleUrl: string, photosUrl: string): Readonly<Record<string, string>> {
  const photos = photosUrl.startsWith('/') ? '' : ` ${new URL(photosUrl).origin}`;
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    `img-src 'self'${photos} blob:`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    // Not no-referrer: the Origin of a form would be null.
    'referrer-policy': 'same-origin',
    'x-robots-tag': 'noindex, nofollow',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
    ...(consoleUrl.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
  };
}
