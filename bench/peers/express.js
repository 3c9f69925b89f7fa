// Express, express-rate-limit on Redis, zod and pg.
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { Redis } from 'ioredis';
import pg from 'pg';
import { RedisStore } from 'rate-limit-redis';
import { z } from 'zod';
import { createAuthenticator, findKeyStatement } from './api-keys.js';
import { limitDefault, limitMax, readCursor, statuses, toPage } from './pages.js';
import { insertPet, selectPets } from './pet-statements.js';
import { settings } from './settings.js';

const minuteMs = 60_000;

const ListQuery = z.strictObject({
  status: z.enum(statuses).optional(),
  categoryId: z.coerce.number().int().optional(),
  limit: z.coerce.number().int().min(1).max(limitMax).default(limitDefault),
  cursor: z.string().optional(),
});

const NewPet = z.object({
  name: z.string().trim().min(1).max(200),
  categoryId: z.number().int(),
  status: z.enum(statuses).default('available'),
});

const pool = new pg.Pool({ connectionString: settings.databaseUrl, max: settings.poolSize, idleTimeoutMillis: 0 });
const redis = new Redis(settings.redisUrl);
const authenticate = createAuthenticator(async (hash) => {
  const { rows } = await pool.query({ name: 'find-key', text: findKeyStatement, values: [hash] });
  return rows[0];
});

const app = express();
app.disable('x-powered-by');
app.use(requireKey, limitBy('minute', minuteMs, 'perMinute'), limitBy('day', 24 * 60 * minuteMs, 'perDay'));

app.get('/v1/pets', requireScope('pets:read'), async (request, response) => {
  const query = ListQuery.safeParse(request.query);
  const afterId = query.success ? readCursor(query.data.cursor) : undefined;
  if (afterId === undefined) return reject(response, 400, 'invalid_query');
  const { rows } = await pool.query(selectPets({ ...query.data, afterId }));
  const { page, link } = toPage(rows, query.data);
  if (link) response.set('Link', link);
  response.json(page);
});

app.post('/v1/pets', requireScope('pets:write'), express.json(), async (request, response) => {
  const body = NewPet.safeParse(request.body);
  if (!body.success) return reject(response, 400, 'invalid_body');
  const { rows } = await pool.query(insertPet(body.data, request.apiKey));
  response.status(201).json(rows[0]);
});

app.listen(settings.port, settings.host);

async function requireKey(request, response, next) {
  request.apiKey = await authenticate(request.get('authorization'));
  if (!request.apiKey) return reject(response, 401, 'api_key_invalid');
  next();
}

function limitBy(name, windowMs, quota) {
  return rateLimit({
    windowMs,
    identifier: name,
    limit: ({ apiKey }) => apiKey[quota],
    keyGenerator: ({ apiKey }) => String(apiKey.clientId),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    handler: (_request, response) => reject(response, 429, 'rate_limit_exceeded'),
    store: new RedisStore({ prefix: `express:${name}:`, sendCommand: (command, ...args) => redis.call(command, ...args) }),
  });
}

function requireScope(scope) {
  return ({ apiKey }, response, next) => (apiKey.scopes.includes(scope) ? next() : reject(response, 403, 'insufficient_scope'));
}

function reject(response, status, code) {
  response.status(status).json({ code, message: code, status });
}
