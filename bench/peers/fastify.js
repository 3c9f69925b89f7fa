// Fastify, @fastify/rate-limit on Redis and pg.
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createAuthenticator, findKeyStatement } from './api-keys.js';
import { limitDefault, limitMax, readCursor, statuses, toPage } from './pages.js';
import { insertPet, selectPets } from './pet-statements.js';
import { settings } from './settings.js';

const minuteMs = 60_000;

const Status = { type: 'string', enum: statuses };
const Pet = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' }, categoryId: { type: 'integer' }, status: Status },
};
const listSchema = {
  querystring: {
    type: 'object',
    additionalProperties: false,
    properties: {
      status: Status,
      categoryId: { type: 'integer' },
      limit: { type: 'integer', minimum: 1, maximum: limitMax, default: limitDefault },
      cursor: { type: 'string' },
    },
  },
  response: { 200: { type: 'array', items: Pet } },
};
const createSchema = {
  body: {
    type: 'object',
    required: ['name', 'categoryId'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' },
      categoryId: { type: 'integer' },
      status: { ...Status, default: 'available' },
    },
  },
  response: { 201: Pet },
};

const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: settings.poolSize, idleTimeoutMillis: 0 });
const redis = new Redis(settings.redisUrl);
const authenticate = createAuthenticator(async (hash) => {
  const { rows } = await pool.query({ name: 'find-key', text: findKeyStatement, values: [hash] });
  return rows[0];
});

const app = Fastify();
await app.register(rateLimit, { global: false, redis, nameSpace: 'fastify:' });
const countMinute = windowOf('minute', minuteMs, 'perMinute');
const countDay = windowOf('day', 24 * 60 * minuteMs, 'perDay');
app.decorateRequest('apiKey', null);
app.addHook('onRequest', admit);

app.get('/v1/pets', { schema: listSchema, config: { scope: 'pets:read' } }, async ({ query }, reply) => {
  const afterId = readCursor(query.cursor);
  if (afterId === undefined) return reject(reply, 400, 'invalid_cursor');
  const { rows } = await pool.query(selectPets({ ...query, afterId }));
  const { page, link } = toPage(rows, query);
  if (link) reply.header('link', link);
  return page;
});

app.post('/v1/pets', { schema: createSchema, config: { scope: 'pets:write' } }, async ({ body, apiKey }, reply) => {
  const { rows } = await pool.query(insertPet(body, apiKey));
  return reply.code(201).send(rows[0]);
});

await app.listen({ port: settings.port, host: settings.host });

/** The plugin's own hook runs once for a request, so the two windows are two limiters of the plugin, called concurrently. */
async function admit(request, reply) {
  request.apiKey = await authenticate(request.headers.authorization);
  if (!request.apiKey) return reject(reply, 401, 'api_key_invalid');
  const windows = await Promise.all([countMinute(request), countDay(request)]);
  const shown = windows[1].remaining < windows[0].remaining ? windows[1] : windows[0];
  reply.header('x-ratelimit-limit', shown.max);
  reply.header('x-ratelimit-remaining', shown.remaining);
  reply.header('x-ratelimit-reset', shown.ttlInSeconds);
  const exceeded = windows.find(({ isExceeded }) => isExceeded);
  if (exceeded) return reject(reply.header('retry-after', exceeded.ttlInSeconds), 429, 'rate_limit_exceeded');
  if (!request.apiKey.scopes.includes(request.routeOptions.config.scope)) return reject(reply, 403, 'insufficient_scope');
}

function windowOf(name, timeWindow, quota) {
  return app.createRateLimit({
    timeWindow,
    max: ({ apiKey }) => apiKey[quota],
    keyGenerator: ({ apiKey }) => `${name}:${apiKey.clientId}`,
  });
}

function reject(reply, status, code) {
  return reply.code(status).send({ code, message: code, status });
}
