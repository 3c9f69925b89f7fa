import type { SiteSettings } from '@homeward/sdk';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

/** Who runs the site, and what becomes of what adopters send: in the words of the store. */
export const aboutPage = ({ imprint, privacy }: SiteSettings): Html =>
  layout({
    title: 'Imprint and privacy',
    main: html`<div class="message"><h1>Imprint and privacy</h1>
${section('Imprint', imprint)}
${section('Privacy', privacy)}
${imprint === null && privacy === null && html`<p>Nothing is said here yet. The page of each animal has the contact of its shelter.</p>`}
<p class="pager"><a class="button quiet" href="/">All animals</a></p></div>`,
  });

const section = (title: string, text: string | null): Html | false =>
  text !== null && html`<section><h2>${title}</h2>\n${text.split(/\n\s*\n/).map((paragraph) => html`<p>${paragraph}</p>`)}</section>`;

/** The colours of the store in place of those of `style.css`. Only what is a colour is written: nothing of a style sheet is escaped. */
export function coloursSheet({ accentLight, accentDark }: SiteSettings): Html {
  const rule = (accent: string | null, onAccent: string) =>
    accent !== null && /^#[0-9a-f]{6}$/i.test(accent) && html`:root { --accent: ${accent}; --on-accent: ${onAccent}; }`;
  const dark = rule(accentDark, '#1b1512');
  return html`${rule(accentLight, '#fffdf9')}
${dark && html`@media (prefers-color-scheme: dark) { ${dark} }`}
`;
}
