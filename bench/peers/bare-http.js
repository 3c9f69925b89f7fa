// The minimum that Node.js can do: constant bytes for a URL, without a router, keys or limits.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { settings } from './settings.js';

const pages = new Map(JSON.parse(readFileSync(settings.pagesFile, 'utf8')));

createServer((request, response) => {
  const body = pages.get(request.url);
  if (body === undefined) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}).listen(settings.port, settings.host);
