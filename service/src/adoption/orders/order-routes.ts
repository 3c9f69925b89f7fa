import { callerOf, created, idReader, operation, page, read, updated } from '../../access/admission/admission-hook.ts';
import { readIdempotencyKey, respondOnce } from '../../access/idempotency/idempotent-route.ts';
import type { Catalogue, CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import { petNotFound } from '../../animals/pets/pet-locks.ts';
import { findPetToOrder, type SettleApplications, whyNotOrdered } from '../../animals/pets/pets.ts';
import { RushGate } from '../../animals/pets/rush-gate.ts';
import { managedOrders, type Visibility, visibilityOf } from '../../domain/actor.ts';
import { callerActions, orderActions, scopesFor } from '../../domain/order-states.ts';
import { scopesInWords } from '../../domain/scopes.ts';
import type { Config } from '../../platform/config.ts';
import type { Db, Transactions } from '../../platform/db/handles.ts';
import { type Page, readPage, sendPage } from '../../platform/http/paging.ts';
import { type Api, idempotencyHeader, PathIds, Ref } from '../../platform/http/schemas.ts';
import { selectOrders } from './order-queries.ts';
import { ListOrdersQuery, NewOrderSchema, OrderSchema, orderJson } from './order-schemas.ts';
import { actOnOrder, getOrder, orderErrors, orderNotFound, placeOrder } from './orders.ts';

interface Parts {
  readonly db: Db;
  /** An order changes the status of its animal. */
  readonly catalogue: Catalogue;
  readonly settleApplications: SettleApplications;
  readonly config: Pick<Config, 'orderExpirySeconds'>;
}

const path = '/v1/store/orders';
/** Who is no staff anywhere. */
const nobody: Visibility = { clientId: null, shelterId: null };
const common = { tags: ['Orders'], 'x-stability': 'beta' } as const;
const orderId = PathIds({ orderId: 'Identifier of the order.' });
const readOrderId = idReader(orderNotFound);

const ofOwnShelter = scopesInWords('seeOrders', 'own shelter');
const ofAnyShelter = scopesInWords('seeOrders', 'any shelter');

export function orderRoutes(api: Api, { db, catalogue, settleApplications, config }: Parts): void {
  const gate = new RushGate<Visibility>(db, {
    what: 'orders',
    findRejection: async (petId) => {
      const found = await findPetToOrder(db, petId);
      if (!found) return () => petNotFound(String(petId));
      return whyNotOrdered(found, nobody) && ((managed) => whyNotOrdered(found, managed));
    },
  });
  api.get(
    '/store/orders',
    operation({
      scope: 'orders:read',
      ...common,
      operationId: 'listOrders',
      summary: 'List orders',
      description: `Returns a page of orders in ascending order of id: this client's own orders, with the scope ${ofOwnShelter} also those for animals of the key's shelter, or every order with the scope ${ofAnyShelter}.`,
      querystring: ListOrdersQuery,
      response: page('A page of orders.', OrderSchema),
    }),
    async (request, reply) => {
      const { status, petId } = request.query;
      const filters = { status, petId: petId?.toString() };
      const select = (page: Page) => selectOrders(db, visibilityOf(callerOf(request)), { status, petId }, page);
      return sendPage(reply, await readPage(path, request.query, filters, select));
    },
  );

  api.post(
    '/store/orders',
    operation({
      scope: 'orders:write',
      ...common,
      operationId: 'placeOrder',
      summary: 'Place an order',
      description:
        'Reserves an available animal for an adopter. The animal becomes pending, and nobody else can order it. If the order is not approved in time, it expires and the animal becomes available again. Where `adoption` of the shelter is `application`, only staff place orders.',
      headers: idempotencyHeader,
      body: Ref(NewOrderSchema),
      response: created('The order.', OrderSchema),
      errors: orderErrors.place,
    }),
    (request, reply) => {
      const caller = callerOf(request);
      const { clientId } = caller;
      const key = readIdempotencyKey(request.headers['idempotency-key']);
      const arriving = { petId: request.body.petId, clientId, who: managedOrders(caller), key };
      const within = <T>(place: () => Promise<T>) => gate.run(arriving, place);
      const gated: Transactions<CatalogueTransaction> = { transaction: (work, by) => catalogue.transaction(work, by, within) };
      return respondOnce(gated, request, reply, async (tx) => {
        const terms = { client: caller, expiresInSeconds: config.orderExpirySeconds };
        const order = await placeOrder(tx, request.body, caller, terms);
        return { status: 201, body: orderJson(order), headers: { location: `${path}/${order.id}` }, orderId: order.id };
      });
    },
  );

  api.get(
    '/store/orders/:orderId',
    operation({
      scope: 'orders:read',
      ...common,
      operationId: 'getOrder',
      summary: 'Get an order',
      params: orderId,
      response: read('The order.', OrderSchema),
      errors: orderErrors.get,
    }),
    async (request, reply) => reply.send(await getOrder(db, visibilityOf(callerOf(request)), readOrderId(request.params.orderId))),
  );

  for (const name of callerActions) {
    const { summary, from, to, pet } = orderActions[name];
    api.post(
      `/store/orders/:orderId/${name}`,
      operation({
        scope: scopesFor(name),
        ...common,
        operationId: `${name}Order`,
        summary: `${name[0]?.toUpperCase()}${name.slice(1)} an order`,
        description: `${summary} Changes the status from ${from.join(' or ')} to ${to}${pet ? `; the animal becomes ${pet.to}` : ''}.`,
        params: orderId,
        headers: idempotencyHeader,
        response: updated('The updated order.', OrderSchema),
        errors: orderErrors.act,
      }),
      (request, reply) =>
        respondOnce(catalogue, request, reply, async (tx) => {
          const order = await actOnOrder(tx, readOrderId(request.params.orderId), name, callerOf(request), settleApplications);
          return { status: 200, body: orderJson(order), headers: {}, orderId: order.id };
        }),
    );
  }
}
