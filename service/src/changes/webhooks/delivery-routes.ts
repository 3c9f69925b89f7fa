import { callerOf } from '../../partners/admission/admission-hook.ts';
import { idReader, operation, page, read } from '../../partners/admission/operation.ts';
import { respondOnce } from '../../partners/idempotency/idempotent-route.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { type Page, readPage, sendPage } from '../../platform/http/paging.ts';
import { type Api, idempotencyHeader, jsonResponse, locationHeader, Ref } from '../../platform/http/schemas.ts';
import { deliveryErrors, deliveryNotFound, getDelivery, listDeliveries, replay, testWebhook } from './deliveries.ts';
import { deliveryJson } from './webhook-json.ts';
import {
  DeliveryPath,
  DeliverySchema,
  DeliveryWithAttemptsSchema,
  ListDeliveriesQuery,
  ReplayedSchema,
  ReplaySchema,
  WebhookPath,
} from './webhook-schemas.ts';
import { getWebhook, webhookNotFound } from './webhooks.ts';

const path = '/v1/webhooks';
const readWebhookId = idReader(webhookNotFound);
const readDeliveryId = idReader(deliveryNotFound);
const common = { scope: 'webhooks:manage', tags: ['Webhooks'], 'x-stability': 'experimental' } as const;

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
