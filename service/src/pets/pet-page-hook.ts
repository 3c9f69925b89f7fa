import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import { type Decided, isUsable } from '../admission/admission.ts';
import { answerHeaders, countOfHeader, newRequestId } from '../admission/api-hooks.ts';
import type { KeyFinder } from '../clients/key-finder.ts';
import type { KnownKey } from '../clients/key-memory.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { matchesEtag } from '../http/etags.ts';
import { isRequestLogged, logRequest } from '../http/request-log.ts';
import { canSendWhole, sendWhole } from '../http/whole-response.ts';
import type { Verdict } from '../rate-limit/decide.ts';
import type { Limiter } from '../rate-limit/limiter.ts';
import { type RateLimitHeaders, rateLimitHeaders } from '../rate-limit/rate-limit-headers.ts';
import type { LimiterAnswer, Waiting } from '../rate-limit/redis-limiter.ts';
import { asksForRehearsal } from '../rehearsal/rehearsal.ts';
import type { PetPage, PetPages } from './pet-pages.ts';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

interface Parts {
  readonly keys: Pick<KeyFinder, 'recall'>;
  readonly limiter: Pick<Limiter, 'decide'>;
  readonly pages: PetPages;
  readonly clock: Clock;
  readonly config: Pick<Config, 'environment'>;
  readonly log: FastifyBaseLogger;
  /** False: every request takes the long way. */
  isOpen(): boolean;
}

interface OwnParts extends Parts {
  readonly keepAliveSeconds: number;
}

/** Takes the long way, with what was decided already. */
type GoOn = (request: IncomingMessage, response: ServerResponse, decision?: Decided) => void;

const scheme = 'Bearer ';
const scope = 'pets:read';
const route = '/v1/pets';

/**
 * Answers a GET of a page that is kept, by a key that is remembered, before the router: what the router and its hooks
 * would do for it was done when the page was read. The limiter decides as for every request, and whatever is not plain
 * takes the long way, with that decision in its hand.
 */
export function answerReadyPages(server: Server, given: Parts): (request: IncomingMessage) => Decided | undefined {
  const parts: OwnParts = { ...given, keepAliveSeconds: Math.floor(server.keepAliveTimeout / 1_000) };
  const [takeLongWay] = server.listeners('request') as [Listener];
  const decided = new WeakMap<IncomingMessage, Decided>();
  const goOn: GoOn = (request, response, decision) => {
    if (decision) decided.set(request, decision);
    takeLongWay(request, response);
  };
  server.removeListener('request', takeLongWay);
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const known = canSendWhole(response) && isCandidate(request, parts) ? findKey(request, parts) : undefined;
    if (known) parts.limiter.decide(new ReadyPageRequest(request, response, known, parts, goOn));
    else takeLongWay(request, response);
  });
  return (request) => {
    const decision = decided.get(request);
    decided.delete(request);
    return decision;
  };
}

const isCandidate = (request: IncomingMessage, { isOpen, pages, config }: Parts) =>
  request.method === 'GET' &&
  pages.has(request.url ?? '') &&
  countOfHeader(request, 'host') === 1 &&
  countOfHeader(request, 'authorization') === 1 &&
  !(config.environment === 'staging' && asksForRehearsal(request.headers)) &&
  isOpen();

function findKey({ headers: { authorization = '' } }: IncomingMessage, { keys, clock }: Parts): KnownKey | undefined {
  if (!authorization.startsWith(scheme)) return undefined;
  const known = keys.recall(authorization.slice(scheme.length));
  return known && isUsable(known, clock.now()) && known.key.scopes.includes(scope) ? known : undefined;
}

/** An object and not a handful of closures: there is one for each request. */
class ReadyPageRequest implements Waiting {
  readonly charge;
  admittedAlone = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #known: KnownKey;
  readonly #parts: OwnParts;
  readonly #goOn: GoOn;
  readonly #startedAtMs = performance.now();

  constructor(request: IncomingMessage, response: ServerResponse, known: KnownKey, parts: OwnParts, goOn: GoOn) {
    this.charge = known.charge;
    this.#request = request;
    this.#response = response;
    this.#known = known;
    this.#parts = parts;
    this.#goOn = goOn;
  }

  resolve(answer: LimiterAnswer): void {
    const admitted = 'catalogueToken' in answer && answer.verdict.outcome === 'admitted' ? answer : undefined;
    const page = admitted && this.#parts.pages.find(this.#request.url ?? '', admitted.catalogueToken);
    if (admitted && page) this.#send(page, admitted.verdict);
    else this.#goOn(this.#request, this.#response, { known: this.#known, answer });
  }

  /** The long way tries again, and says what is wrong. */
  reject(): void {
    this.#goOn(this.#request, this.#response);
  }

  #send(page: PetPage, verdict: Verdict): void {
    const held = this.#request.headers['if-none-match'];
    const isHeld = held !== undefined && matchesEtag(held.replaceAll('W/', ''), page.etag);
    const id = newRequestId();
    const rate = rateLimitHeaders(verdict, this.charge.quota);
    const fields = fieldsOf(page);
    sendWhole(this.#response, {
      status: isHeld ? 304 : 200,
      fields: `${isHeld ? fields.unchanged : fields.whole}x-request-id: ${id}\r\n${linesOf(rate)}`,
      body: isHeld ? undefined : page.body,
      keepAliveSeconds: this.#parts.keepAliveSeconds,
    });
    this.#log(id);
  }

  #log(id: string): void {
    const { log } = this.#parts;
    if (!isRequestLogged(log)) return;
    const { key, client } = this.#known;
    logRequest(log.child({ reqId: id }), {
      method: 'GET',
      url: this.#request.url ?? '',
      route,
      status: this.#response.statusCode,
      ms: performance.now() - this.#startedAtMs,
      caller: { clientId: client.id, keyId: key.id },
    });
  }
}

/** Written out: this is done for every request. */
const linesOf = (rate: RateLimitHeaders): string =>
  `x-ratelimit-limit: ${rate['x-ratelimit-limit']}\r\nx-ratelimit-remaining: ${rate['x-ratelimit-remaining']}\r\nx-ratelimit-reset: ${rate['x-ratelimit-reset']}\r\nratelimit-policy: ${rate['ratelimit-policy']}\r\nratelimit: ${rate.ratelimit}\r\n`;

interface Fields {
  readonly whole: string;
  readonly unchanged: string;
}

const fieldsOfPages = new WeakMap<PetPage, Fields>();

/** What is the same in every answer of a page. */
function fieldsOf(page: PetPage): Fields {
  const known = fieldsOfPages.get(page);
  if (known) return known;
  const named = { ...answerHeaders, etag: page.etag, ...(page.link && { link: page.link }) };
  const unchanged = Object.entries(named)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const whole = `${unchanged}content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(page.body)}\r\n`;
  fieldsOfPages.set(page, { whole, unchanged });
  return { whole, unchanged };
}
