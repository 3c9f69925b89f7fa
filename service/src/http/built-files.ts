import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { makeStatic, type StaticContent } from './static-content.ts';

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  map: 'application/json',
  md: 'text/markdown; charset=utf-8',
  svg: 'image/svg+xml',
  tgz: 'application/gzip',
  ts: 'text/plain; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** Reads the files that `npm run build` has written to a folder, by their relative paths. Empty if nothing was built. */
export function readBuiltFiles(folder: URL): ReadonlyMap<string, StaticContent> {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const files = names.map((name) => ({ name, url: new URL(name, folder) })).filter(({ url }) => statSync(url).isFile());
  return new Map(files.map(({ name, url }) => [name, makeStatic(typeOf(name), readFileSync(url))]));
}

const typeOf = (name: string) => types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
