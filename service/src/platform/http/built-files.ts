import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyBaseLogger } from 'fastify';
import { makeStatic, type StaticContent } from './static-content.ts';

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  md: 'text/markdown; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  tgz: 'application/gzip',
  ts: 'text/plain; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
  webp: 'image/webp',
  woff2: 'font/woff2',
};

/**
 * Reads what `npm run build` has written to a folder, by path below it. Called once, at the start. Returns an empty map if nothing
 * was built, and, with a warning in the log, if it can't be read: the API does not depend on it.
 */
export function readBuiltFiles(folder: URL, log: FastifyBaseLogger): ReadonlyMap<string, StaticContent> {
  try {
    const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
    const files = names.map((name) => ({ name, url: new URL(name, folder) })).filter(({ url }) => statSync(url).isFile());
    return new Map(files.map(({ name, url }) => [name, makeStatic(typeOf(name), readFileSync(url))]));
  } catch (error) {
    log.warn({ err: error, folder: fileURLToPath(folder) }, 'built files cannot be read');
    return new Map();
  }
}

const typeOf = (name: string) => types[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
