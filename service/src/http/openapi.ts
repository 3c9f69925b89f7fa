import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { type InlineDocument, shareComponents } from './openapi-components.ts';
import { makeStatic, type StaticContent, sendStatic } from './static-content.ts';

/** The document that describes the API, made from the schemas that validate and serialise. */
export async function addOpenApi(app: FastifyInstance, webhooks: Record<string, object>): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Homeward',
        version: '1.0.0',
        description:
          'An animal adoption store as a service. Send your key as `Authorization: Bearer <API_KEY>`. Every response carries the rate limit that applies; after a 429, wait for `Retry-After`. A staging deployment also takes `Homeward-Now` and `Homeward-Simulate`, to rehearse a removal, a 429, a ban or an outage.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/v1' }],
      tags: [
        { name: 'Pets', description: 'Animals: list, add, get, correct, take back.' },
        { name: 'Categories', description: 'What animals are sorted into.' },
        { name: 'Events', description: 'What happened, as a feed to read on.' },
        { name: 'Orders', description: 'From an adopter’s order to an animal that goes home.' },
        { name: 'Webhooks', description: 'Your endpoints, to which events are sent, and what became of each delivery.' },
      ],
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key as a bearer token.' } } },
      security: [{ apiKey: [] }],
      webhooks,
    },
    refResolver: { buildLocalReference: (json: { $id?: string }, _, __, index) => json.$id ?? `schema-${index}` },
    transform: ({ schema, url, route }) => {
      const { config } = route as { config?: { scope?: string } };
      return { schema: { ...schema, ...(config?.scope && { 'x-scope': config.scope }) }, url };
    },
  });
  let content: StaticContent | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, (request, reply) => {
    // Made on the first request: the document is complete only once the app is ready.
    content ??= makeStatic('application/json; charset=utf-8', JSON.stringify(openApiDocument(app)));
    return sendStatic(request, reply.header('access-control-allow-origin', '*'), content);
  });
}

/** The document as it is served: complete once the app is ready, with shared components in place of repetition. */
export const openApiDocument = (app: FastifyInstance): object => shareComponents(app.swagger() as unknown as InlineDocument);
