import { Marked, type Token, type Tokens } from 'marked';
import { errorCodes } from '../../service/src/platform/errors.ts';
import { Html, html } from '../../service/src/platform/html.ts';
import { codeFrame } from './code-frame.ts';
import { type CodeBlock, codeTabs } from './code-tabs.ts';
import { guides } from './guides.ts';

export interface Heading {
  readonly id: string;
  readonly text: string;
}

export interface Rendered {
  readonly title: string;
  readonly body: Html;
  /** The headings of the second level, for the table of contents. */
  readonly headings: readonly Heading[];
}

/** Renders Markdown as HTML. `diagram` replaces a mermaid block, which browsers can't draw. */
export function renderMarkdown(markdown: string, { diagram }: { diagram?: Html } = {}): Rendered {
  const headings: Heading[] = [];
  const ids = new Map<string, number>();
  let title = '';
  let inLink = false;
  const marked = new Marked({
    extensions: [{ name: tabsType, renderer: ({ blocks }) => codeTabs(blocks as CodeBlock[]).text }],
    renderer: {
      heading({ tokens, depth }) {
        const text = plainText(tokens);
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) {
          title = text;
          return `<h1>${inner}</h1>\n`;
        }
        const id = uniqueId(slugOf(text), ids);
        if (depth === 2) headings.push({ id, text });
        const linked = tokens.some(({ type }) => type === 'link');
        return `<h${depth} id="${id}">${linked ? inner : `<a class="anchor" href="#${id}">${inner}</a>`}</h${depth}>\n`;
      },
      code({ text, lang }) {
        if (lang === 'mermaid' && diagram) return diagram.text;
        return codeFrame(text, lang).text;
      },
      codespan({ text }) {
        const code = html`<code>${text}</code>`.text;
        return Object.hasOwn(errorCodes, text) && !inLink ? `<a href="/docs/errors/${text}">${code}</a>` : code;
      },
      link({ href, tokens }) {
        inLink = true;
        const inner = this.parser.parseInline(tokens);
        inLink = false;
        const url = urlOnSite(href);
        return url === undefined ? inner : `<a href="${html`${url}`.text}">${inner}</a>`;
      },
      image: ({ href, text }) => {
        const { width, height } = pictureSizes[href.includes('-phone.') ? 'phone' : 'desk'];
        return html`<img src="/docs/${href}" width="${width}" height="${height}" alt="${text}" loading="lazy" decoding="async" class="picture">`
          .text;
      },
      // A table scrolls, so it must be reachable by keyboard.
      table(token) {
        const row = (cells: Tokens.TableCell[], tag: 'th' | 'td') =>
          `<tr>${cells.map((cell) => `<${tag}${tag === 'th' ? ' scope="col"' : ''}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
        const name = token.header.map(({ tokens }) => plainText(tokens)).join(', ');
        return html`<div class="scroll" role="group" tabindex="0" aria-label="Table: ${name}"><table><thead>${new Html(row(token.header, 'th'))}</thead><tbody>${token.rows.map((cells) => new Html(row(cells, 'td')))}</tbody></table></div>\n`
          .text;
      },
      // Guides contain no HTML: what looks like it is text, such as <API_KEY>.
      html: ({ text }) => html`${text}`.text,
    },
  });
  const body = new Html(marked.parser(groupTabs(marked.lexer(markdown))));
  return { title, body, headings };
}

/** Of the pictures of guides, by what their names end with, so that nothing moves when they arrive. */
export const pictureSizes = { phone: { width: 390, height: 760 }, desk: { width: 1_060, height: 700 } } as const;

const tabsType = 'tabs';
const tabLanguages = ['sh', 'ts', 'py'];

/** Blocks of shell, TypeScript and Python that follow one another become tabs: they show the same request. */
function groupTabs(tokens: readonly Tokens.Generic[]): Token[] {
  const all: Tokens.Generic[] = [];
  for (const token of tokens) {
    if (token.type === 'space') continue;
    const last = all.at(-1);
    const blocks = (last?.type === tabsType ? last['blocks'] : []) as CodeBlock[];
    const language = String(token['lang'] ?? '');
    if (token.type !== 'code' || !tabLanguages.includes(language)) all.push(token);
    else if (blocks.length === 0 || blocks.some((block) => block.language === language)) {
      all.push({ type: tabsType, raw: '', blocks: [{ code: token['text'], language }] });
    } else blocks.push({ code: token['text'], language });
  }
  return all as Token[];
}

/** The URL on the site for a link in a document. Undefined if its target is not served. */
function urlOnSite(href: string): string | undefined {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href;
  const [, name = '', hash = ''] = /^(?:\.\/|docs\/guides\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (guides.some(({ slug }) => slug === name)) return `/docs/${name}${hash}`;
  if (/(^|\/)CHANGELOG\.md$/.test(href)) return '/docs/changelog';
  if (/(^|\/)openapi\.json$/.test(href)) return '/openapi.json';
  return undefined;
}

function plainText(tokens: Tokens.Generic[]): string {
  return tokens.map((token) => (token.tokens ? plainText(token.tokens) : String(token['text'] ?? ''))).join('');
}

/** The same slugs as code hosts generate, so that links to sections work there too. */
const slugOf = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

function uniqueId(slug: string, seen: Map<string, number>): string {
  const count = seen.get(slug) ?? 0;
  seen.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}
