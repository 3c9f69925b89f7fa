import { createServer } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { countUnreadable } from '../access/admission/admission.ts';
import { LinkBudget } from '../access/people/link-budget.ts';
import { FailedSignIns } from '../access/people/sessions.ts';
import { chargeOrWait, type Limiter } from '../access/rate-limit/limiter.ts';
import { addPhotoFiles } from '../animals/photos/photo-file-routes.ts';
import type { Dependencies } from '../dependencies.ts';
import { openPhotoStore } from '../images/open-store.ts';
import { type RequestTally, tallyRoutes } from '../operations/telemetry/request-tally.ts';
import { networkOfAddress, trustsProxies } from '../platform/caller-addresses.ts';
import {
  allOf,
  type ConsoleVisit,
  describeRequests,
  type FinishedRequest,
  newRequestId,
  observeRequests,
  requestLogger,
  traceRequests,
} from '../platform/http/finished-requests.ts';
import { addHealthRoutes } from '../platform/http/health.ts';
import { addSecurityHeaders } from '../platform/http/protocol/browsers.ts';
import { createSocketErrorSender, handleClientErrors, ignoreExpectations, rejectTunnels } from '../platform/http/protocol/client-errors.ts';
import { codingFor, compress } from '../platform/http/protocol/representations.ts';
import { ResponseProgress, setReaders } from '../platform/http/response-progress.ts';
import { openJournal } from '../platform/journal/journal.ts';
import { consoleScreens } from './console-screens.ts';
import { FormRunner } from './forms/form-runner.ts';
import { addAssets, readAssets } from './frame/assets.ts';
import { consoleHeaders } from './frame/layout.ts';
import { PhotoUploads } from './photos/photo-uploads.ts';
import { Frame } from './screens/frame.ts';
import { mountScreens } from './screens/mount-screens.ts';
import { sendErrorPage, unreadablePage } from './screens/page-error.ts';
import type { Screens } from './screens/screens.ts';
import { SlowForms } from './screens/slow-forms.ts';
import { Cookies, Devices, Seals } from './sessions/cookies.ts';
import { PersonBudget } from './sessions/person-budget.ts';
import { Visitors } from './sessions/visitors.ts';
import { LinkMailer } from './sign-in/link-mailer.ts';
import { PasskeyCeremonies } from './sign-in/passkey-ceremonies.ts';
import { Provider } from './sign-in/provider.ts';
import { addSignIn } from './sign-in/sign-in-screens.ts';
import { StrangerRoutes } from './sign-in/strangers.ts';

export interface ConsoleApp {
  readonly server: FastifyInstance;
  /** Everything that people see and do who are signed in. */
  readonly screens: Screens;
  /** What those may open who are not. */
  readonly strangers: StrangerRoutes;
  readonly progress: Pick<ResponseProgress, 'closed' | 'unsentBytes'>;
  readonly failedSignIns: FailedSignIns;
  /** Makes readiness fail and asks browsers to close their connections. Requests are still handled. */
  drain(): void;
}

interface Options {
  readonly limiter: Pick<Limiter, 'consume'>;
  /** The origin under which people reach it. */
  readonly consoleUrl: string;
  readonly requests?: RequestTally | undefined;
  /** How long a form may take to arrive. */
  readonly formMsMax?: number | undefined;
}

/** Of what is no form. */
const bodyBytesMax = 65_536;
const headerBytesMax = 16_384;
/** How long uploads and slow forms have to end when the process stops. */
const arrivalStopMs = 8_000;
const serverOptions = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 500,
  maxHeaderSize: headerBytesMax,
};

/** Assembles the console from its parts. */
export async function createConsole(
  dependencies: Dependencies,
  { limiter, consoleUrl, requests, formMsMax }: Options,
): Promise<ConsoleApp> {
  const journal = openJournal({ fd: dependencies.config.logLevel === 'silent' ? 2 : 1, file: dependencies.config.journalFile });
  const { config, clock, db, catalogue, redis, log, tracing, secret } = dependencies;
  const assets = readAssets();
  const [seals, cookies] = [new Seals(secret), new Cookies(consoleUrl)];
  const visitors = new Visitors({ db, seals, cookies });
  const frame = new Frame({
    assets,
    db,
    seals,
    cookies,
    visitors,
    devices: new Devices({ seals, cookies, clock }),
    budget: new PersonBudget(limiter, clock),
    clock,
    consoleUrl,
    admit: async (address, purpose) => Math.ceil((await chargeOrWait(limiter, { address, purpose })) / 1_000),
    pages: () => screens.pages,
  });
  const ceremonies = new PasskeyCeremonies({ seals, cookies, clock, consoleUrl });
  const provider = config.oidc && new Provider(config.oidc, consoleUrl, log);
  const stopping = new AbortController();
  const photoStore = openPhotoStore(config.photos);
  const uploads = new PhotoUploads({ db, store: photoStore, stopping: stopping.signal });
  const screens = consoleScreens({
    db,
    clock,
    config,
    journal,
    frame,
    ceremonies,
    consoleUrl,
    mails: config.mail !== undefined,
    hasProvider: provider !== undefined,
    uploads,
  });
  const failed = new FailedSignIns(db, log);
  const linkBudget = new LinkBudget(dependencies);
  const linkMailer = config.mail && new LinkMailer(db, log);
  const progress = new ResponseProgress(log);
  const headers = consoleHeaders(consoleUrl, config.photosUrl);
  const sendErrorOnSocket = createSocketErrorSender(
    // Slow lines are no guesses, and behind a proxy the address is everybody's.
    async (address, code) => (code === 'request_timeout' ? {} : countUnreadable(limiter, address, 'signIn')),
    log,
    requests && ((code) => requests.observeUnreadable(code)),
    (error) => unreadablePage(assets, headers, error),
  );
  const observe = allOf([requestLogger(log), requests && ((finished) => requests.observe(finished))]);
  let draining = false;

  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    trustProxy: config.trustedProxies.length > 0 && trustsProxies(config.trustedProxies),
    bodyLimit: bodyBytesMax,
    serverFactory: (fastify) => {
      const listener = progress.boundPipelining(fastify);
      return createServer({ ...serverOptions, ServerResponse: progress.Response }, tracing ? traceRequests(tracing, listener) : listener);
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: handleClientErrors(sendErrorOnSocket),
    frameworkErrors: (error, request, reply) => void sendErrorPage(frame, error, request, reply),
  });
  ignoreExpectations(app.server);
  rejectTunnels(app.server, sendErrorOnSocket);
  setReaders(app);
  addSecurityHeaders(app);
  if (observe) observeRequests(app, (finished) => observe(withoutSecrets(finished)), visitOf);
  if (tracing) describeRequests(app, tracing);
  if (requests) tallyRoutes(app, requests);
  app.decorateRequest('visitor', null);
  app.decorateRequest('showsPersonalData', false);
  app.decorateRequest('usedUp', null);
  addFormBodies(app);
  app.addHook('onSend', (_, reply, payload, done) => {
    if (draining) reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', async () => void setTimeout(() => stopping.abort(), arrivalStopMs).unref());
  app.addHook('onClose', () => linkMailer?.settle());
  app.addHook('onClose', () => failed.store());
  addHealthRoutes(app, () => ({ draining, postgres: db.reachable, redis: redis.up }));
  addAssets(app, assets);
  addPhotoFiles(app, photoStore);
  app.get('/favicon.ico', (_, reply) => reply.redirect(assets.icon, 308));

  let strangers: StrangerRoutes | undefined;
  await app.register(async (pages) => {
    pages.setErrorHandler((error, request, reply) => sendErrorPage(frame, error, request, reply));
    pages.addHook('onRequest', async (request, reply) => {
      reply.headers(headers).header('x-request-id', request.id);
      // The address of such a page signs somebody in: what the page loads must not get it as its referrer.
      if (request.routeOptions.url?.includes(':token')) reply.header('referrer-policy', 'strict-origin');
    });
    pages.addHook('onSend', async (request, reply, payload) => {
      const coding = typeof payload === 'string' ? codingFor(request.headers['accept-encoding'], payload.length) : undefined;
      if (!coding) return payload;
      reply.removeHeader('content-length').headers({ 'content-encoding': coding, vary: 'accept-encoding' });
      return compress(payload as string, coding, 'fast');
    });
    strangers = new StrangerRoutes(pages, frame);
    addSignIn(strangers, { linkBudget, db, frame, ceremonies, provider, linkMailer, failed, journal });
    mountScreens(pages, screens, frame, new FormRunner(catalogue), new SlowForms(stopping.signal, formMsMax));
  });
  await app.ready();
  if (!strangers) throw new Error('the pages were not mounted');
  return {
    server: app,
    screens,
    strangers,
    progress,
    failedSignIns: failed,
    drain: () => {
      draining = true;
    },
  };
}

/** What browsers send: forms, JSON of scripts, and uploads, which their routes read as a stream. */
function addFormBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, new URLSearchParams(String(body))),
  );
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, body, done) => {
    try {
      done(null, JSON.parse(String(body)));
    } catch {
      done(null, undefined);
    }
  });
  for (const type of ['multipart/form-data', /^image\//]) app.addContentTypeParser(type, (_, payload, done) => done(null, payload));
}

/** Who has seen what, from where. */
const visitOf = ({ visitor, ip, showsPersonalData }: FastifyRequest): ConsoleVisit => ({
  personId: visitor?.person.id,
  network: networkOfAddress(ip),
  showsAdopter: showsPersonalData,
});

/** No query, which may have a cursor or what somebody has searched for, and no token of a link. */
const withoutSecrets = (finished: FinishedRequest): FinishedRequest => ({
  ...finished,
  url:
    finished.route === undefined || finished.route.includes(':token')
      ? (finished.route ?? 'unmatched')
      : (finished.url.split('?', 1)[0] ?? ''),
});
