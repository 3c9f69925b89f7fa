import { callerOf, created, idReader, noContent, operation, page, read, updated } from '../../access/admission/admission-hook.ts';
import { respondOnce } from '../../access/idempotency/idempotent-route.ts';
import { scopesInWords } from '../../domain/scopes.ts';
import type { Config } from '../../platform/config.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { type Page, readPage, sendPage } from '../../platform/http/paging.ts';
import { type Api, idempotencyHeader, jsonResponse, locationHeader, Ref } from '../../platform/http/schemas.ts';
import { deliveryErrors, deliveryNotFound, getDelivery, listDeliveries, replay, testWebhook } from './deliveries.ts';
import { selectWebhooks } from './webhook-queries.ts';
import {
  DeliveryPath,
  DeliverySchema,
  DeliveryWithAttemptsSchema,
  deliveryJson,
  ListDeliveriesQuery,
  ListWebhooksQuery,
  NewWebhookSchema,
  ReplayedSchema,
  ReplaySchema,
  WebhookChangesSchema,
  WebhookPath,
  WebhookSchema,
  WebhookWithSecretSchema,
  webhookJson,
} from './webhook-schemas.ts';
import { addWebhook, changeWebhook, getWebhook, removeWebhook, rotateSecret, webhookErrors, webhookNotFound } from './webhooks.ts';

interface Parts {
  readonly db: Transactor;
  readonly config: Pick<Config, 'webhooksToLoopback'>;
}

const path = '/v1/webhooks';
const readWebhookId = idReader(webhookNotFound);
const common = { scope: 'webhooks:manage', tags: ['Webhooks'], 'x-stability': 'experimental' } as const;

/** Endpoints: list, add, get, change and remove. */
export function webhookRoutes(api: Api, { db, config: { webhooksToLoopback } }: Parts): void {
  const toLoopback = webhooksToLoopback === 'on';

  api.get(
    '/webhooks',
    operation({
      ...common,
      operationId: 'listWebhooks',
      summary: 'List endpoints',
      description: "Returns a page of this client's endpoints in ascending order of id.",
      querystring: ListWebhooksQuery,
      response: page('A page of endpoints.', WebhookSchema),
    }),
    async (request, reply) => {
      const select = (page: Page) => selectWebhooks(db, callerOf(request), page);
      return sendPage(reply, await readPage(path, request.query, {}, select));
    },
  );

  api.post(
    '/webhooks',
    operation({
      ...common,
      operationId: 'createWebhook',
      summary: 'Add an endpoint',
      description: `The endpoint is unverified until it responds with 2xx to a test, which is sent at once. Events about animals and about this client's own orders, with the scope ${scopesInWords('seeOrders', 'own shelter')} also those for animals of the key's shelter, are sent to it from then on, beginning with those published after this request, signed as Standard Webhooks specifies. Only this response contains the secret: a retry with the same Idempotency-Key returns the endpoint without it.`,
      headers: idempotencyHeader,
      body: Ref(NewWebhookSchema),
      response: created('The endpoint, with its secret.', WebhookWithSecretSchema),
      errors: webhookErrors.add,
    }),
    (request, reply) =>
      respondOnce(db, request, reply, async (tx) => {
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
    operation({
      ...common,
      operationId: 'getWebhook',
      summary: 'Get an endpoint',
      params: WebhookPath,
      response: read('The endpoint.', WebhookSchema),
      errors: webhookErrors.get,
    }),
    async (request, reply) => reply.send(await getWebhook(db, callerOf(request), readWebhookId(request.params.webhookId))),
  );

  api.patch(
    '/webhooks/:webhookId',
    operation({
      ...common,
      operationId: 'updateWebhook',
      summary: 'Change an endpoint',
      description:
        'Queued deliveries are sent at once if the endpoint is enabled or gets another url. With another url it is unverified again, and gets only events that the key of this request may read.',
      params: WebhookPath,
      body: Ref(WebhookChangesSchema),
      response: updated('The updated endpoint.', WebhookSchema),
      errors: webhookErrors.change,
    }),
    async (request, reply) =>
      reply.send(await changeWebhook(db, readWebhookId(request.params.webhookId), request.body, callerOf(request), toLoopback)),
  );

  api.delete(
    '/webhooks/:webhookId',
    operation({
      ...common,
      operationId: 'removeWebhook',
      summary: 'Remove an endpoint',
      description: 'Queued deliveries are no longer sent.',
      params: WebhookPath,
      response: noContent('The endpoint was removed.'),
      errors: webhookErrors.get,
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      await removeWebhook(db, caller, readWebhookId(request.params.webhookId), caller);
      return reply.status(204).send();
    },
  );

  api.post(
    '/webhooks/:webhookId/rotate-secret',
    operation({
      ...common,
      operationId: 'rotateWebhookSecret',
      summary: "Replace an endpoint's secret",
      description:
        'For 24 hours deliveries are signed with both secrets, the new one first. Only this response contains the new secret: a retry with the same Idempotency-Key returns the endpoint without it.',
      params: WebhookPath,
      headers: idempotencyHeader,
      response: updated('The endpoint, with its new secret.', WebhookWithSecretSchema),
      errors: webhookErrors.get,
    }),
    (request, reply) =>
      respondOnce(db, request, reply, async (tx) => {
        const { secret, ...webhook } = await rotateSecret(tx, callerOf(request), readWebhookId(request.params.webhookId));
        return { status: 200, body: webhookJson({ ...webhook, secret }), storedBody: webhookJson(webhook), headers: {} };
      }),
  );
}

const readDeliveryId = idReader(deliveryNotFound);

/** Deliveries to an endpoint: test, list, get and replay. */
export function deliveryRoutes(api: Api, { db }: { db: Transactor }): void {
  api.post(
    '/webhooks/:webhookId/test',
    operation({
      ...common,
      operationId: 'testWebhook',
      summary: 'Test an endpoint',
      description: 'Queues one delivery of type webhook.test to this endpoint only.',
      params: WebhookPath,
      headers: idempotencyHeader,
      response: { 202: jsonResponse('The queued delivery. Get it later to see the result.', Ref(DeliverySchema), locationHeader) },
      errors: deliveryErrors.test,
    }),
    (request, reply) =>
      respondOnce(db, request, reply, async (tx) => {
        const id = readWebhookId(request.params.webhookId);
        const delivery = await testWebhook(tx, callerOf(request), id);
        return { status: 202, body: deliveryJson(delivery), headers: { location: `${path}/${id}/deliveries/${delivery.id}` } };
      }),
  );

  api.get(
    '/webhooks/:webhookId/deliveries',
    operation({
      ...common,
      operationId: 'listDeliveries',
      summary: 'List deliveries',
      description:
        'Returns a page of deliveries to an endpoint, sent or still queued, oldest first; tests come last. Deliveries are deleted after 30 days.',
      params: WebhookPath,
      querystring: ListDeliveriesQuery,
      response: page('A page of deliveries.', DeliverySchema),
      errors: deliveryErrors.list,
    }),
    async (request, reply) => {
      const { id } = await getWebhook(db, callerOf(request), readWebhookId(request.params.webhookId));
      const { status } = request.query;
      const select = (page: Page) => listDeliveries(db, id, status, page);
      return sendPage(reply, await readPage(`${path}/${id}/deliveries`, request.query, { status }, select));
    },
  );

  api.get(
    '/webhooks/:webhookId/deliveries/:deliveryId',
    operation({
      ...common,
      operationId: 'getDelivery',
      summary: 'Get a delivery',
      description: 'Returns the delivery with its attempts: the response of the receiver, or why there was no response.',
      params: DeliveryPath,
      response: read('The delivery.', DeliveryWithAttemptsSchema),
      errors: deliveryErrors.get,
    }),
    async (request, reply) => {
      const endpoint = readWebhookId(request.params.webhookId);
      return reply.send(await getDelivery(db, callerOf(request), endpoint, readDeliveryId(request.params.deliveryId)));
    },
  );

  api.post(
    '/webhooks/:webhookId/replay',
    operation({
      ...common,
      operationId: 'replayWebhook',
      summary: 'Replay deliveries',
      description:
        'Queues deliveries again: one delivery, every failed delivery, or every event published in a time range, even events that were never sent to the endpoint. At most 10,000 at once, and one time range at a time for a client. New events do not wait for them. Deliveries that wait for their next attempt are sent at once too.',
      params: WebhookPath,
      headers: idempotencyHeader,
      body: Ref(ReplaySchema),
      response: { 202: jsonResponse('The number of queued deliveries.', Ref(ReplayedSchema)) },
      errors: deliveryErrors.replay,
    }),
    (request, reply) =>
      respondOnce(db, request, reply, async (tx) => {
        const count = await replay(tx, callerOf(request), readWebhookId(request.params.webhookId), request.body);
        return { status: 202, body: `{"count":${count}}`, headers: {} };
      }),
  );
}
