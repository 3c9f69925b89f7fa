import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { scopes, scopeTable } from '../../domain/scopes.ts';
import { type InlineDocument, shareComponents } from './openapi-components.ts';
import { corsHeaders, preflightHeaders } from './protocol/browsers.ts';
import { makeStatic, type StaticContent, sendStatic } from './static/static-content.ts';

const scopeLines = scopes.map((scope) => `- \`${scope}\`: ${scopeTable[scope].meaning}`);
const aboutKeys = `Your API key, as a bearer token. Its scopes say what it may do:\n\n${scopeLines.join('\n')}`;

/** Serves the OpenAPI document, generated from the schemas that validate and serialise. */
export async function addOpenApi(app: FastifyInstance, webhooks: Record<string, object>): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Homeward',
        version: '1.0.0',
        description:
          'An animal adoption store as a service. Send your key as `Authorization: Bearer <API_KEY>`. Every response has the current rate limit in its headers; after a 429, wait for `Retry-After`. A staging deployment also accepts `Homeward-Now` and `Homeward-Simulate`, to rehearse a removal, a 429, a ban or an outage.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/v1' }],
      tags: [
        { name: 'Pets', description: 'Animals: list, add, get, update, remove.' },
        { name: 'Shelters', description: 'The shelters that animals belong to.' },
        { name: 'Profiles', description: 'What adopters choose an animal by.' },
        { name: 'Listings', description: 'Animals with their profiles, photos and shelters: search and count.' },
        { name: 'Photos', description: 'The photos of an animal: list, add, describe, order, remove.' },
        { name: 'Categories', description: 'The categories of animals.' },
        { name: 'Events', description: 'The feed of all changes. Resume it at any time, or stream it.' },
        { name: 'Orders', description: 'An adoption, from placing the order to completing it.' },
        { name: 'Applications', description: 'What adopters ask for, from the application to the choice of staff.' },
        { name: 'Webhooks', description: 'Your endpoints that receive events, and the status of each delivery.' },
        { name: 'Usage', description: 'How many requests your keys have sent, and the limits in force.' },
      ],
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: aboutKeys } } },
      security: [{ apiKey: [] }],
      webhooks,
    },
    refResolver: { buildLocalReference: (json: { $id?: string }, _, __, index) => json.$id ?? `schema-${index}` },
    transform: ({ schema, url, route }) => {
      const { config } = route as { config?: { scope?: string | readonly string[] } };
      return { schema: { ...schema, ...(config?.scope && { 'x-scope': [config.scope].flat().join(' or ') }) }, url };
    },
  });
  let content: StaticContent | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, (request, reply) => {
    // Generated on the first request: the document is complete only once the app is ready.
    content ??= makeStatic('application/json; charset=utf-8', JSON.stringify(openApiDocument(app)));
    return sendStatic(request, reply.headers(corsHeaders), content);
  });
  app.options('/openapi.json', { schema: { hide: true } }, (_, reply) =>
    reply
      .status(204)
      .headers({ ...corsHeaders, ...preflightHeaders('GET, HEAD'), allow: 'GET, HEAD, OPTIONS' })
      .send(),
  );
}

/** The document as it is served, with shared components. Complete once the app is ready. */
export const openApiDocument = (app: FastifyInstance): object => shareComponents(withNullTypes(app.swagger()) as InlineDocument);

/** OpenAPI 3.1 says with a list of types what the serializer needs as `nullable`. */
function withNullTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNullTypes);
  if (typeof value !== 'object' || value === null) return value;
  const mapped = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withNullTypes(one)]));
  const { nullable, type, ...rest } = mapped;
  return nullable === true && typeof type === 'string' ? { type: [type, 'null'], ...rest } : mapped;
}
