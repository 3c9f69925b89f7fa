import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { admit, chargeForWork, countUnreadable, lookAtAddress } from './admission/admission.ts';
import { addApiHooks, newRequestId, refuseUnroutable } from './admission/api-hooks.ts';
import { categoryRoutes } from './categories/category-routes.ts';
import { categorySchemas } from './categories/category-schemas.ts';
import { getQuota } from './clients/clients.ts';
import { KeyWatch } from './clients/key-watch.ts';
import { type Dependencies, openMemories } from './dependencies.ts';
import { docsRoutes } from './docs/docs-routes.ts';
import { eventRoutes } from './events/event-routes.ts';
import { eventWebhooks } from './events/event-schemas.ts';
import { EventTail } from './events/event-tail.ts';
import { trustsProxies } from './http/addresses.ts';
import { answerClientErrors, createSocketRefuser, ignoreExpectations, refuseTunnels } from './http/client-errors.ts';
import { addErrorHandler, asAppError } from './http/error-handler.ts';
import { EventStreams } from './http/event-stream.ts';
import { addHealthRoutes } from './http/health.ts';
import { parseJsonBody } from './http/json-body.ts';
import { refuseOtherMethods } from './http/methods.ts';
import { addOpenApi } from './http/openapi.ts';
import { logRequests } from './http/request-log.ts';
import { ErrorSchema } from './http/schemas.ts';
import { addSdkRoutes } from './http/sdk-files.ts';
import { addSecurityHeaders } from './http/security-headers.ts';
import { addSecurityTxt } from './http/security-txt.ts';
import type { Api } from './http/type-provider.ts';
import { createValidatorCompiler } from './http/validation.ts';
import { orderRoutes } from './orders/order-routes.ts';
import { orderSchemas } from './orders/order-schemas.ts';
import { findOpenOrder } from './orders/orders.ts';
import { answerReadyPages } from './pets/pet-page-hook.ts';
import { petRoutes } from './pets/pet-routes.ts';
import { petSchemas } from './pets/pet-schemas.ts';
import { LateAnswers, rehearsalHeaders, rehearse } from './rehearsal/rehearsal.ts';
import { deliveryRoutes } from './webhooks/delivery-routes.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';
import { webhookSchemas } from './webhooks/webhook-schemas.ts';

export interface App {
  readonly server: FastifyInstance;
  /** Fails readiness and asks callers to leave; requests are still answered. */
  drain(): void;
}

const bodyBytesMax = 1_048_576;
const headerBytesMax = 16_384;
const headersTimeoutMs = 5_000;
const requestTimeoutMs = 10_000;
const sharedSchemas = [ErrorSchema, ...petSchemas, ...categorySchemas, ...orderSchemas, ...webhookSchemas];

/** The API assembled. */
export async function createApp(dependencies: Dependencies, memories = openMemories(dependencies)): Promise<App> {
  const { config, clock, db, catalogue, redis, names, log } = dependencies;
  const { keys, limiter, pages } = memories;
  const parts = { keys, limiter, clock, config };
  const rehearses = config.environment === 'staging';
  const admitAsAlways = ({ raw, ...request }: { authorization: string | undefined; address: () => string; raw: IncomingMessage }) =>
    admit(parts, { ...request, decided: takeDecision(raw) });
  const admitCaller: typeof admitAsAlways = rehearses
    ? async (request) => rehearse({ redis, names }, await admitAsAlways(request), request.raw.headers)
    : admitAsAlways;
  const refuseOnSocket = createSocketRefuser((address) => countUnreadable(limiter, address), log);
  let draining = false;
  const streams = new EventStreams();
  const lateAnswers = new LateAnswers();
  const tail = new EventTail(db, (error) => log.warn({ err: error }, 'the feed could not be read'));
  const keyWatch = new KeyWatch(db, (error) => log.warn({ err: error }, 'ended keys could not be looked for'));

  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    trustProxy: config.trustedProxies.length > 0 && trustsProxies(config.trustedProxies),
    bodyLimit: bodyBytesMax,
    requestTimeout: requestTimeoutMs,
    // A path parameter may be as long as a path can be: what is too long for an id is refused as one.
    routerOptions: { maxParamLength: headerBytesMax },
    // Without Host, Node would answer by itself, and with nothing but a status.
    http: { headersTimeout: headersTimeoutMs, connectionsCheckingInterval: 500, maxHeaderSize: headerBytesMax, requireHostHeader: false },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: answerClientErrors(refuseOnSocket),
    frameworkErrors: (error, request, reply) => void refuseUnroutable(asAppError(error), request, reply, admitCaller),
  });
  ignoreExpectations(app.server);
  refuseTunnels(app.server, refuseOnSocket);
  const takeDecision = answerReadyPages(app.server, { ...parts, pages, log, isOpen: () => db.reachable && !draining });
  app.setValidatorCompiler(createValidatorCompiler(sharedSchemas));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (request.headers['idempotency-key'] !== undefined) request.rawBody = body;
    return parseJsonBody(body);
  });
  app.decorateRequest('rawBody', null);
  for (const schema of sharedSchemas) app.addSchema(schema);
  addSecurityHeaders(app);
  logRequests(app);
  addErrorHandler(app);
  app.addHook('onSend', (_, reply, payload, done) => {
    if (draining) reply.header('connection', 'close');
    done(null, payload);
  });
  // What is open has no end of its own.
  app.addHook('preClose', async () => {
    streams.closeAll();
    lateAnswers.end();
  });
  await addOpenApi(app, eventWebhooks);
  addHealthRoutes(app, () => ({ draining, postgres: db.reachable, redis: redis.up }));
  addSecurityTxt(app, { clock, config });
  docsRoutes(app);
  addSdkRoutes(app);

  await app.register(
    async (api: Api) => {
      const look = (address: string) => lookAtAddress(limiter, address);
      addApiHooks(api, { admit: admitCaller, look, moreHeaders: rehearses ? rehearsalHeaders : [] });
      if (rehearses) api.addHook('onSend', (request, reply) => lateAnswers.holdBack(request, reply));
      addErrorHandler(api);
      const otherMethods = refuseOtherMethods(api);
      petRoutes(api, { db, catalogue, findOpenOrder, pages, clock, config });
      categoryRoutes(api, { db });
      eventRoutes(api, {
        db,
        tail,
        streams,
        keyWatch,
        charge: (payer) => chargeForWork(limiter, payer),
        readQuota: (clientId) => getQuota(db, clientId),
      });
      orderRoutes(api, { db, catalogue, config });
      webhookRoutes(api, { db, config });
      deliveryRoutes(api, { db });
      otherMethods.register();
    },
    { prefix: '/v1' },
  );
  await app.ready();
  return {
    server: app,
    drain: () => {
      draining = true;
      streams.closeAll();
      lateAnswers.end();
    },
  };
}
