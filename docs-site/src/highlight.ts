import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript';
import http from '@shikijs/langs/http';
import javascript from '@shikijs/langs/javascript';
import json from '@shikijs/langs/json';
import python from '@shikijs/langs/python';
import shell from '@shikijs/langs/shellscript';
import typescript from '@shikijs/langs/typescript';
import { codeToTokensBase, createShikiPrimitive } from '@shikijs/primitive';
import { type Html, html } from '../../service/src/platform/html.ts';

/** The kinds of tokens, by the scopes of the grammars. The style sheet gives each a colour, as `.t-<kind>`. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  plain: ['source', 'string meta.template.expression'],
  comment: ['comment', 'punctuation.definition.comment'],
  string: ['string', 'punctuation.definition.string', 'constant.character.escape'],
  key: ['support.type.property-name', 'meta.object-literal.key', 'entity.name.tag', 'variable.parameter.function-call'],
  literal: ['constant.numeric', 'constant.language', 'constant.other', 'variable.language'],
  keyword: ['keyword', 'storage', 'support.type.builtin'],
  name: ['entity.name.function', 'support.function', 'entity.name.command', 'entity.name.type', 'entity.name.class'],
  variable: ['punctuation.definition.variable', 'variable.other.normal.shell'],
};

// The highlighter speaks of colours: each kind has one of its own, which is only ever read back here.
const names = Object.keys(kinds);
const colourOf = (kind: string) => `#0000${(names.indexOf(kind) + 1).toString(16).padStart(2, '0')}`;
const kindsByColour = new Map(names.map((kind) => [colourOf(kind), kind]));

const highlighter = createShikiPrimitive({
  langs: [http, javascript, json, python, shell, typescript],
  themes: [
    {
      name: 'kinds',
      type: 'light',
      fg: colourOf('plain'),
      bg: '#ffffff',
      settings: Object.entries(kinds).map(([kind, scope]) => ({ scope: [...scope], settings: { foreground: colourOf(kind) } })),
    },
  ],
  engine: createJavaScriptRegexEngine(),
});

/** The names of languages that code blocks may use, with the grammar for each. */
const grammars: Readonly<Record<string, string>> = {
  http: 'http',
  js: 'javascript',
  json: 'json',
  py: 'python',
  sh: 'shellscript',
  ts: 'typescript',
};

/** Code as HTML, with an element around each token that has a kind. The text of a language without a grammar stays as it is. */
export function highlight(code: string, language: string): Html {
  const grammar = grammars[language];
  if (!grammar) return html`${withOrigin(code)}`;
  // Without a limit: on slow cores a line would be left as it is, in the colour of the one before.
  const lines = codeToTokensBase(highlighter, code, { lang: grammar, theme: 'kinds', tokenizeTimeLimit: 0 });
  const rendered = lines.map((tokens) => merged(tokens).map(({ kind, text }) => tokenOf(kind, text)));
  return html`${rendered.flatMap((line, i) => (i > 0 ? ['\n', ...line] : line))}`;
}

interface Token {
  readonly kind: string;
  readonly text: string;
}

/** Joins neighbours of one kind: the grammars split finer than the colours do. */
function merged(tokens: ReadonlyArray<{ content: string; color?: string }>): Token[] {
  const all: Token[] = [];
  for (const { content, color = '' } of tokens) {
    const kind = kindsByColour.get(color.toLowerCase()) ?? 'plain';
    const last = all.at(-1);
    if (last?.kind === kind) all[all.length - 1] = { kind, text: last.text + content };
    else all.push({ kind, text: content });
  }
  return all;
}

const tokenOf = (kind: string, text: string): Html =>
  kind === 'plain' ? html`${withOrigin(text)}` : html`<span class="t-${kind}">${withOrigin(text)}</span>`;

/** The addresses that stand for the store's in documents. A script replaces them by the address that the page came from. */
const origins = /(https:\/\/homeward\.example|http:\/\/127\.0\.0\.1:8080)/;

const withOrigin = (text: string) => text.split(origins).map((part, i) => (i % 2 === 1 ? html`<span data-origin>${part}</span>` : part));
