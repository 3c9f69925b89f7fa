import { createServer } from 'node:http';
import Fastify, { type FastifyInstance, type FastifySchemaCompiler, type FastifySerializerCompiler, LogController } from 'fastify';
import { admissionSpan, admit, countUnreadable, readAddressHeaders } from './access/admission/admission.ts';
import { type Admit, addAdmission, rejectUnroutable } from './access/admission/admission-hook.ts';
import { DelayedResponses, rehearsalHeaders, rehearse } from './access/admission/rehearsal-hook.ts';
import { openKeyWatch } from './access/clients/client-changes.ts';
import { getQuota } from './access/clients/clients.ts';
import { chargeOrWait } from './access/rate-limit/limiter.ts';
import { createUsageWriter } from './access/usage/usage.ts';
import { usageRoutes } from './access/usage/usage-routes.ts';
import { usageSchemas } from './access/usage/usage-schemas.ts';
import { countUsage, UsageTally } from './access/usage/usage-tally.ts';
import { pageActs } from './adoption/adopter-page/page-acts.ts';
import { applicationPages } from './adoption/adopter-page/page-routes.ts';
import { applicationRoutes } from './adoption/applications/application-routes.ts';
import { applicationSchemas } from './adoption/applications/application-schemas.ts';
import { pageUrl } from './adoption/applications/page-tokens.ts';
import { settleApplications } from './adoption/applications/settling.ts';
import { orderRoutes } from './adoption/orders/order-routes.ts';
import { orderSchemas } from './adoption/orders/order-schemas.ts';
import { findOpenOrder, findOrderedPets } from './adoption/orders/orders.ts';
import { outcomeRoutes } from './adoption/outcomes/outcome-routes.ts';
import { outcomeSchemas } from './adoption/outcomes/outcome-schemas.ts';
import { questionRoutes } from './adoption/questions/question-routes.ts';
import { questionSchemas } from './adoption/questions/question-schemas.ts';
import { shelterAddressPages } from './adoption/shelters/address-routes.ts';
import { shelterRoutes } from './adoption/shelters/shelter-routes.ts';
import { shelterSchemas } from './adoption/shelters/shelter-schemas.ts';
import { siteRoutes } from './adoption/shelters/site-routes.ts';
import { siteSchemas } from './adoption/shelters/site-schemas.ts';
import { categoryRoutes } from './animals/categories/category-routes.ts';
import { categorySchemas } from './animals/categories/category-schemas.ts';
import { FastPath } from './animals/list-cache/fast-path-listener.ts';
import { holdRoutes } from './animals/pets/hold-routes.ts';
import { holdSchemas } from './animals/pets/hold-schemas.ts';
import { petRoutes } from './animals/pets/pet-routes.ts';
import { petSchemas } from './animals/pets/pet-schemas.ts';
import { addPhotoFiles } from './animals/photos/photo-file-routes.ts';
import { photoRoutes } from './animals/photos/photo-routes.ts';
import { photoSchemas } from './animals/photos/photo-schemas.ts';
import { readPhotoStorage } from './animals/photos/upload-allowance.ts';
import { profileRoutes } from './animals/profiles/profile-routes.ts';
import { profileSchemas } from './animals/profiles/profile-schemas.ts';
import { eventRoutes } from './changes/events/event-routes.ts';
import { eventWebhooks } from './changes/events/event-schemas.ts';
import { openEventTail } from './changes/events/events.ts';
import { deliveryRoutes, webhookRoutes } from './changes/webhooks/webhook-routes.ts';
import { webhookSchemas } from './changes/webhooks/webhook-schemas.ts';
import { type Caches, type Dependencies, openCaches } from './dependencies.ts';
import { openPhotoStore } from './images/open-store.ts';
import { type RequestTally, tallyRoutes } from './operations/telemetry/request-tally.ts';
import { trustsProxies } from './platform/caller-addresses.ts';
import { knowOperations } from './platform/http/advice/known-operations.ts';
import { addErrorHandler, asAppError } from './platform/http/error-handler.ts';
import { allOf, describeRequests, newRequestId, observeRequests, requestLogger, traceRequests } from './platform/http/finished-requests.ts';
import { addHealthRoutes } from './platform/http/health.ts';
import { addJsonBodies } from './platform/http/json-body.ts';
import { addOpenApi } from './platform/http/openapi.ts';
import { addCors, addSecurityHeaders } from './platform/http/protocol/browsers.ts';
import { createSocketErrorSender, handleClientErrors, ignoreExpectations, rejectTunnels } from './platform/http/protocol/client-errors.ts';
import { EventStreams } from './platform/http/protocol/event-stream.ts';
import { addConditionalResponses } from './platform/http/protocol/representations.ts';
import { type ProgressBounds, ResponseProgress, setReaders } from './platform/http/response-progress.ts';
import { announceDeprecations, rejectOtherMethods } from './platform/http/routing.ts';
import { createSerializerCompiler, createValidatorCompiler, rejectUnknownQuery } from './platform/http/schema-compilers.ts';
import { type Api, ErrorSchema } from './platform/http/schemas.ts';
import { addDocsRoutes, addSdkRoutes, addSecurityTxt } from './platform/http/static/public-files.ts';
import { openJournal } from './platform/journal/journal.ts';
import { listingRoutes } from './search/listings/listing-routes.ts';
import { listingSchemas } from './search/listings/listing-schemas.ts';

export interface App {
  readonly server: FastifyInstance;
  readonly streams: { readonly size: number };
  readonly progress: Pick<ResponseProgress, 'closed' | 'unsentBytes'>;
  /** Makes readiness fail and asks callers to close their connections. Requests are still handled. */
  drain(): void;
}

const bodyBytesMax = 1_048_576;
const headerBytesMax = 16_384;
const serverOptions = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 500,
  maxHeaderSize: headerBytesMax,
  // A request without Host gets our 400, since Node's has no body.
  requireHostHeader: false,
};
const sharedSchemas = [
  ErrorSchema,
  ...petSchemas,
  ...holdSchemas,
  ...outcomeSchemas,
  ...shelterSchemas,
  ...siteSchemas,
  ...questionSchemas,
  ...profileSchemas,
  ...photoSchemas,
  ...categorySchemas,
  ...orderSchemas,
  ...applicationSchemas,
  ...webhookSchemas,
  ...usageSchemas,
  ...listingSchemas,
];

/** One pair for all servers of a process, each of which has the same schemas: a process of tests starts many. */
let compilers: { validators: FastifySchemaCompiler<unknown>; serializers: FastifySerializerCompiler<unknown> } | undefined;

/** Assembles the API from its parts. */
export async function createApp(
  dependencies: Dependencies,
  caches: Caches = openCaches(dependencies),
  requests?: RequestTally,
  progressBounds: Partial<ProgressBounds> = {},
): Promise<App> {
  const { config, clock, db, catalogue, changes, redis, redisKeys, log, tracing, pageTokens, shelterLinks } = dependencies;
  const { keys, limiter, pages, listingPages } = caches;
  const parts = { keys, limiter, changes, clock, config };
  const rehearses = config.environment === 'staging';
  const usage = new UsageTally();
  const usageWriter = createUsageWriter(db, usage, log);
  const observe = allOf([requestLogger(log), countUsage(usage, clock), requests && ((finished) => requests.observe(finished))]);
  const photoStore = openPhotoStore(config.photos);
  const journal = openJournal({ fd: config.logLevel === 'silent' ? 2 : 1, file: config.journalFile });
  let draining = false;
  const fastPath = new FastPath({
    ...parts,
    lists: [
      { route: '/v1/pets', pages },
      { route: '/v1/listings', pages: listingPages },
      { route: '/v1/listings/facets', pages: listingPages },
    ],
    observe,
    tracing,
    db,
  });
  const admitPlain: Admit = ({ raw, ...request }) =>
    admit(parts, { ...request, decided: fastPath.takeDecision(raw), places: { rawHeaders: raw.rawHeaders, url: raw.url ?? '' } });
  const admitTraced: Admit = tracing ? (request) => tracing.within(admissionSpan, () => admitPlain(request)) : admitPlain;
  const admitCaller: Admit = rehearses
    ? async (request) => rehearse({ redis, redisKeys }, await admitTraced(request), request.raw.headers)
    : admitTraced;
  const sendErrorOnSocket = createSocketErrorSender(
    (address) => countUnreadable(limiter, address, 'api'),
    log,
    requests && ((code) => requests.observeUnreadable(code)),
  );
  const progress = new ResponseProgress(log, progressBounds);
  const streams = new EventStreams();
  const delayedResponses = new DelayedResponses();
  const tail = openEventTail(db, (error) => log.warn({ err: error }, 'could not read the event feed'));
  const keyWatch = openKeyWatch(db, (error) => log.warn({ err: error }, 'could not poll for ended keys'));

  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    trustProxy: config.trustedProxies.length > 0 && trustsProxies(config.trustedProxies),
    bodyLimit: bodyBytesMax,
    serverFactory: (fastify) => {
      const listener = progress.boundPipelining(fastPath.before(fastify));
      return createServer({ ...serverOptions, ServerResponse: progress.Response }, tracing ? traceRequests(tracing, listener) : listener);
    },
    // A path parameter may be as long as the path: the route rejects an id that is too long, with its own 404.
    routerOptions: { maxParamLength: headerBytesMax },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: handleClientErrors(sendErrorOnSocket),
    frameworkErrors: (error, request, reply) => void rejectUnroutable(asAppError(error), request, reply, admitCaller),
  });
  ignoreExpectations(app.server);
  rejectTunnels(app.server, sendErrorOnSocket);
  compilers ??= { validators: createValidatorCompiler(sharedSchemas), serializers: createSerializerCompiler(sharedSchemas) };
  app.setValidatorCompiler(compilers.validators);
  app.setSerializerCompiler(compilers.serializers);
  addJsonBodies(app);
  for (const schema of sharedSchemas) app.addSchema(schema);
  setReaders(app);
  addSecurityHeaders(app);
  if (observe) observeRequests(app, observe);
  if (tracing) describeRequests(app, tracing);
  if (requests) tallyRoutes(app, requests);
  app.decorate('knownOperations', knowOperations(app));
  addErrorHandler(app);
  app.addHook('onSend', (_, reply, payload, done) => {
    if (draining) reply.header('connection', 'close');
    done(null, payload);
  });
  // Streams and delayed responses don't end by themselves: end them, so that shutdown completes.
  app.addHook('preClose', async () => {
    streams.closeAll();
    delayedResponses.end();
  });
  // After the last response, so that it is counted.
  app.addHook('onClose', () => usageWriter.close());
  await addOpenApi(app, eventWebhooks);
  addHealthRoutes(app, () => ({ draining, postgres: db.reachable, redis: redis.up }));
  addSecurityTxt(app, { clock, config });
  addDocsRoutes(app);
  addSdkRoutes(app);
  addPhotoFiles(app, photoStore);
  const admitPage = async (address: string) => Math.ceil((await chargeOrWait(limiter, { address, purpose: 'adopterPages' })) / 1_000);
  await applicationPages(app, {
    acts: pageActs(db, catalogue, journal),
    tokens: pageTokens,
    admit: admitPage,
    config,
  });

  await shelterAddressPages(app, {
    db,
    links: shelterLinks,
    admit: admitPage,
    now: () => clock.now(),
    config,
  });

  await app.register(
    async (api: Api) => {
      addCors(api, {
        readRateHeaders: (address) => readAddressHeaders(limiter, address),
        moreHeaders: rehearses ? rehearsalHeaders : [],
      });
      addAdmission(api, admitCaller);
      rejectUnknownQuery(api);
      announceDeprecations(api);
      addConditionalResponses(api);
      if (rehearses) api.addHook('onSend', (request, reply) => delayedResponses.delay(request, reply));
      addErrorHandler(api);
      const otherMethods = rejectOtherMethods(api);
      petRoutes(api, { db, catalogue, adoptions: { findOpenOrder, findOrderedPets, settleApplications }, pages, clock, config });
      holdRoutes(api, { db, catalogue, findOrderedPets, clock });
      shelterRoutes(api, { db, catalogue, mails: config.mail !== undefined });
      outcomeRoutes(api, { db, catalogue });
      questionRoutes(api, { db });
      siteRoutes(api, { db });
      profileRoutes(api, { db, catalogue, clock });
      listingRoutes(api, { db, pages: listingPages, clock, config });
      await photoRoutes(api, { db, catalogue, store: photoStore, config });
      categoryRoutes(api, { db });
      eventRoutes(api, {
        db,
        tail,
        streams,
        keyWatch,
        charge: (payer) => chargeOrWait(limiter, payer),
        readQuota: (clientId) => getQuota(db, clientId),
      });
      orderRoutes(api, { db, catalogue, settleApplications, config });
      applicationRoutes(api, {
        db,
        catalogue,
        journal,
        statusUrlOf: ({ id, linkNumber: number }) => pageUrl(config.publicUrl, pageTokens, { id, purpose: 'see', number }),
        config: { ...config, mails: config.mail !== undefined },
      });
      webhookRoutes(api, { db, config });
      deliveryRoutes(api, { db });
      usageRoutes(api, { db, clock, readPhotoStorage: ({ clientId, bounds }) => readPhotoStorage(db, clientId, bounds) });
      otherMethods.register();
    },
    { prefix: '/v1' },
  );
  await app.ready();
  usageWriter.start();
  return {
    server: app,
    streams,
    progress,
    drain: () => {
      draining = true;
      fastPath.close();
      streams.closeAll();
      delayedResponses.end();
    },
  };
}
