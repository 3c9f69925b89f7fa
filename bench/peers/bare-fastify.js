// The minimum that Fastify can do: one route that sends constant bytes for a URL, without keys or limits.
import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import { settings } from './settings.js';

const pages = new Map(JSON.parse(readFileSync(settings.pagesFile, 'utf8')));

const app = Fastify();
app.get('/v1/pets', (request, reply) => {
  const body = pages.get(request.url);
  if (body === undefined) return reply.code(404).send();
  return reply.type('application/json; charset=utf-8').send(body);
});
await app.listen({ port: settings.port, host: settings.host });
