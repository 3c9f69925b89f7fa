import { Type } from 'typebox';
import type { Config } from '../config.ts';
import { parseInt64 } from '../db/int64.ts';
import type { Transactor } from '../db/pool.ts';
import type { ErrorCode } from '../errors.ts';
import { callerOf } from '../http/api-hooks.ts';
import { answerOnce } from '../http/idempotent-route.ts';
import { nextLink, type Page, readPage, sendPage } from '../http/paging.ts';
import {
  errorResponses,
  etagHeader,
  idempotencyErrors,
  idempotencyHeader,
  jsonResponse,
  notModified,
  PathId,
  Ref,
} from '../http/schemas.ts';
import type { Api } from '../http/type-provider.ts';
import { selectDeliveries } from './delivery-queries.ts';
import { deliveryJson, webhookJson } from './webhook-json.ts';
import { selectWebhooks } from './webhook-queries.ts';
import {
  DeliverySchema,
  DeliveryWithAttemptsSchema,
  ListDeliveriesQuery,
  ListWebhooksQuery,
  NewWebhookSchema,
  ReplayedSchema,
  ReplaySchema,
  WebhookChangesSchema,
  WebhookSchema,
  WebhookWithSecretSchema,
} from './webhook-schemas.ts';
import {
  addWebhook,
  changeWebhook,
  deliveryNotFound,
  getDelivery,
  getWebhook,
  removeWebhook,
  replay,
  rotateSecret,
  testWebhook,
  webhookNotFound,
} from './webhooks.ts';

interface Parts {
  readonly db: Transactor;
  readonly config: Pick<Config, 'webhooksToLoopback'>;
}

const path = '/v1/webhooks';
const webhookId = PathId('webhookId', 'Identifier of the endpoint.');
const deliveryId = Type.Unsafe<{ webhookId: string; deliveryId: string }>({
  type: 'object',
  properties: {
    webhookId: { type: 'integer', format: 'int64', description: 'Identifier of the endpoint.' },
    deliveryId: { type: 'integer', format: 'int64', description: 'Identifier of the delivery.' },
  },
  required: ['webhookId', 'deliveryId'],
});
const bodyErrors = ['invalid_json', 'invalid_body', 'body_too_large', 'unsupported_media_type'] as const satisfies ErrorCode[];
const common = { tags: ['Webhooks'], 'x-stability': 'experimental' } as const;
const config = { scope: 'webhooks:manage' } as const;

export function webhookRoutes(api: Api, { db, config: { webhooksToLoopback } }: Parts): void {
  const toLoopback = webhooksToLoopback === 'on';

  api.get(
    '/webhooks',
    {
      config,
      schema: {
        ...common,
        operationId: 'listWebhooks',
        summary: 'List endpoints',
        description: "A page of this client's endpoints in ascending order of id.",
        querystring: ListWebhooksQuery,
        response: {
          200: jsonResponse('A page of endpoints.', Type.Array(Ref(WebhookSchema)), { ...nextLink, ...etagHeader }),
          304: notModified,
          ...errorResponses('invalid_query', 'invalid_cursor'),
        },
      },
    },
    async (request, reply) => {
      const select = (page: Page) => selectWebhooks(db, callerOf(request), page);
      return sendPage(reply, await readPage(path, request.query, {}, select));
    },
  );

  api.post(
    '/webhooks',
    {
      config,
      schema: {
        ...common,
        operationId: 'createWebhook',
        summary: 'Add an endpoint',
        description:
          "Events about animals and about this client's own orders are sent to it from now on, signed as Standard Webhooks specifies. The secret is in this answer alone; a repeat by Idempotency-Key is answered without it.",
        headers: idempotencyHeader,
        body: Ref(NewWebhookSchema),
        response: {
          201: jsonResponse('The endpoint, with its secret.', Ref(WebhookWithSecretSchema)),
          ...errorResponses(...bodyErrors, 'webhook_url_refused', 'webhook_limit_reached', ...idempotencyErrors),
        },
      },
    },
    (request, reply) =>
      answerOnce(db, request, reply, async (tx) => {
        const { secret, ...webhook } = await addWebhook(tx, request.body, callerOf(request), toLoopback);
        return {
          status: 201,
          body: webhookJson({ ...webhook, secret }),
          storedBody: webhookJson(webhook),
          headers: { location: `${path}/${webhook.id}` },
        };
      }),
  );

  api.get(
    '/webhooks/:webhookId',
    {
      config,
      schema: {
        ...common,
        operationId: 'getWebhook',
        summary: 'Get an endpoint',
        params: webhookId,
        response: {
          200: jsonResponse('The endpoint.', Ref(WebhookSchema), etagHeader),
          304: notModified,
          ...errorResponses('webhook_not_found'),
        },
      },
    },
    async (request, reply) => reply.send(await getWebhook(db, callerOf(request), readWebhookId(request.params))),
  );

  api.patch(
    '/webhooks/:webhookId',
    {
      config,
      schema: {
        ...common,
        operationId: 'updateWebhook',
        summary: 'Change an endpoint',
        description: 'Enabling it, or giving it another url, sends what is queued at once.',
        params: webhookId,
        body: Ref(WebhookChangesSchema),
        response: {
          200: jsonResponse('The endpoint as it is now.', Ref(WebhookSchema)),
          ...errorResponses(...bodyErrors, 'webhook_url_refused', 'webhook_not_found'),
        },
      },
    },
    async (request, reply) =>
      reply.send(await changeWebhook(db, readWebhookId(request.params), request.body, callerOf(request), toLoopback)),
  );

  api.delete(
    '/webhooks/:webhookId',
    {
      config,
      schema: {
        ...common,
        operationId: 'removeWebhook',
        summary: 'Remove an endpoint',
        description: 'What is queued for it is not sent any more.',
        params: webhookId,
        response: { 204: { type: 'null', description: 'The endpoint is removed.' }, ...errorResponses('webhook_not_found') },
      },
    },
    async (request, reply) => {
      await removeWebhook(db, callerOf(request), readWebhookId(request.params));
      return reply.status(204).send();
    },
  );

  api.post(
    '/webhooks/:webhookId/rotate-secret',
    {
      config,
      schema: {
        ...common,
        operationId: 'rotateWebhookSecret',
        summary: "Replace an endpoint's secret",
        description:
          'For 24 hours deliveries are signed with both, the new one first. The new secret is in this answer alone; a repeat by Idempotency-Key is answered without it.',
        params: webhookId,
        headers: idempotencyHeader,
        response: {
          200: jsonResponse('The endpoint, with its new secret.', Ref(WebhookWithSecretSchema)),
          ...errorResponses('webhook_not_found', ...idempotencyErrors),
        },
      },
    },
    (request, reply) =>
      answerOnce(db, request, reply, async (tx) => {
        const { secret, ...webhook } = await rotateSecret(tx, callerOf(request), readWebhookId(request.params));
        return { status: 200, body: webhookJson({ ...webhook, secret }), storedBody: webhookJson(webhook), headers: {} };
      }),
  );

  api.post(
    '/webhooks/:webhookId/test',
    {
      config,
      schema: {
        ...common,
        operationId: 'testWebhook',
        summary: 'Try an endpoint',
        description: 'Queues one delivery of the type webhook.test, to this endpoint alone.',
        params: webhookId,
        headers: idempotencyHeader,
        response: {
          202: jsonResponse('The delivery: look at it to see how it went.', Ref(DeliverySchema)),
          ...errorResponses('webhook_not_found', 'webhook_disabled', ...idempotencyErrors),
        },
      },
    },
    (request, reply) =>
      answerOnce(db, request, reply, async (tx) => {
        const id = readWebhookId(request.params);
        const delivery = await testWebhook(tx, callerOf(request), id);
        return { status: 202, body: deliveryJson(delivery), headers: { location: `${path}/${id}/deliveries/${delivery.id}` } };
      }),
  );

  api.get(
    '/webhooks/:webhookId/deliveries',
    {
      config,
      schema: {
        ...common,
        operationId: 'listDeliveries',
        summary: 'List deliveries',
        description: 'A page of what was sent or is to be sent to an endpoint, the oldest first. Deliveries are kept for 30 days.',
        params: webhookId,
        querystring: ListDeliveriesQuery,
        response: {
          200: jsonResponse('A page of deliveries.', Type.Array(Ref(DeliverySchema)), { ...nextLink, ...etagHeader }),
          304: notModified,
          ...errorResponses('invalid_query', 'invalid_cursor', 'webhook_not_found'),
        },
      },
    },
    async (request, reply) => {
      const { id } = await getWebhook(db, callerOf(request), readWebhookId(request.params));
      const { status } = request.query;
      const select = (page: Page) => selectDeliveries(db, id, status, page);
      return sendPage(reply, await readPage(`${path}/${id}/deliveries`, request.query, { status }, select));
    },
  );

  api.get(
    '/webhooks/:webhookId/deliveries/:deliveryId',
    {
      config,
      schema: {
        ...common,
        operationId: 'getDelivery',
        summary: 'Get a delivery',
        description: 'With its attempts: what the receiver answered, or why there was no answer.',
        params: deliveryId,
        response: {
          200: jsonResponse('The delivery.', Ref(DeliveryWithAttemptsSchema), etagHeader),
          304: notModified,
          ...errorResponses('webhook_not_found', 'delivery_not_found'),
        },
      },
    },
    async (request, reply) => {
      const endpoint = readWebhookId(request.params);
      return reply.send(await getDelivery(db, callerOf(request), endpoint, parseInt64(request.params.deliveryId) ?? noId(request.params)));
    },
  );

  api.post(
    '/webhooks/:webhookId/replay',
    {
      config,
      schema: {
        ...common,
        operationId: 'replayWebhook',
        summary: 'Send again',
        description:
          'Queues one delivery again, or all that were given up, or every event of a time, also those that the endpoint never got. At most 10,000 at once. What waits for its next attempt is sent at once too.',
        params: webhookId,
        headers: idempotencyHeader,
        body: Ref(ReplaySchema),
        response: {
          202: jsonResponse('How many are queued.', Ref(ReplayedSchema)),
          ...errorResponses(...bodyErrors, 'webhook_not_found', 'delivery_not_found', 'webhook_disabled', ...idempotencyErrors),
        },
      },
    },
    (request, reply) =>
      answerOnce(db, request, reply, async (tx) => {
        const count = await replay(tx, callerOf(request), readWebhookId(request.params), request.body);
        return { status: 202, body: `{"count":${count}}`, headers: {} };
      }),
  );
}

function readWebhookId({ webhookId: text }: { webhookId: string }): bigint {
  const id = parseInt64(text);
  if (id === undefined) throw webhookNotFound(text);
  return id;
}

function noId({ deliveryId: text }: { deliveryId: string }): never {
  throw deliveryNotFound(text);
}
