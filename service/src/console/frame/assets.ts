import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { immutableHeaders, makeStatic, type StaticContent, sendStatic } from '../../platform/http/static/static-content.ts';

/** The files that every page uses. The hash of the content is in each name, so a browser asks for one once. */
export interface Assets {
  readonly style: string;
  readonly script: string;
  /** Loaded before the style asks for it. */
  readonly font: string;
  readonly icon: string;
  readonly files: ReadonlyMap<string, StaticContent>;
}

const read = (name: string): Buffer => readFileSync(new URL(name, import.meta.url));

/** A line that is only a comment is for who reads the source. */
const withoutComments = (script: string): string => script.replaceAll(/^ *(?:\/\/.*|\/\*\*.*\*\/)\n/gm, '');

export function readAssets(): Assets {
  const files = new Map<string, StaticContent>();
  const add = (name: string, type: string, bytes: Buffer | string): string => {
    const [stem, ending] = name.split('.');
    const url = `/assets/${stem}-${hash('sha256', bytes, 'hex').slice(0, 12)}.${ending}`;
    files.set(url, makeStatic(type, bytes));
    return url;
  };
  const documentation = '../../../../docs-site/assets';
  const font = add('figtree.woff2', 'font/woff2', read(`${documentation}/fonts/figtree.woff2`));
  const style = `${read('../../platform/design-tokens.css')}${read('console.css')}`.replace('url("figtree.woff2")', `url("${font}")`);
  // One file: a page asks for it once, and the parts for some pages are small.
  const script = ['console.js', 'keys.js', 'photos.js'].map((name) => withoutComments(read(name).toString())).join('');
  return {
    style: add('console.css', 'text/css; charset=utf-8', style),
    script: add('console.js', 'text/javascript; charset=utf-8', script),
    font,
    icon: add('icon.svg', 'image/svg+xml', read(`${documentation}/icon.svg`)),
    files,
  };
}

export function addAssets(app: FastifyInstance, { files }: Assets): void {
  for (const [url, content] of files) app.get(url, (request, reply) => sendStatic(request, reply, content, immutableHeaders));
}
