import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { admissionSpan, type LimiterResult } from '../../access/admission/admission.ts';
import { asksForRehearsal } from '../../access/admission/rehearsal-hook.ts';
import { invalidityOf, type KeyFinder, type KnownKey } from '../../access/clients/key-finder.ts';
import type { Limiter } from '../../access/rate-limit/limiter.ts';
import type { Verdict } from '../../access/rate-limit/plans.ts';
import { rateLimitHeaders } from '../../access/rate-limit/rate-limit-headers.ts';
import type { LimiterDecision, PendingDecision } from '../../access/rate-limit/redis-limiter.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { newRequestId, type ObserveRequest } from '../../platform/http/finished-requests.ts';
import { countOfHeader } from '../../platform/http/protocol/connections.ts';
import { type Coding, codedEtag, codingFor, isUnmodified, readHeaders } from '../../platform/http/protocol/representations.ts';
import { setReader } from '../../platform/http/response-progress.ts';
import type { Tracing } from '../../platform/tracing/tracing.ts';
import type { ListPage, PageCache } from './page-cache.ts';

interface Parts {
  readonly keys: Pick<KeyFinder, 'findCached' | 'isCurrent'>;
  readonly limiter: Pick<Limiter, 'decide'>;
  readonly lists: readonly CachedList[];
  readonly clock: Clock;
  readonly config: Pick<Config, 'environment'>;
  /** Undefined: not observed. */
  readonly observe: ObserveRequest | undefined;
  readonly tracing: Tracing | undefined;
  /** While one of the two is false, every request falls through. */
  readonly db: { readonly reachable: boolean };
  readonly changes: { readonly isTrusted: boolean };
}

/** Responses that are cached. All of them need the same scope. */
interface CachedList {
  /** Without parameters: the path of the URLs. */
  readonly route: string;
  readonly pages: Pick<PageCache<unknown>, 'has' | 'find' | 'findCompressed'>;
}

/** Passes a request to Fastify, with the limiter's decision if there is one. */
type FallThrough = (request: IncomingMessage, response: ServerResponse, decision?: LimiterResult) => void;

const scheme = 'Bearer ';
const scope = 'pets:read';

/**
 * The fast path: serves a GET of a cached page, sent with a cached key, before Fastify. Everything that Fastify's router and
 * hooks would do for it was done when the page was read. The limiter decides as for every request. Anything else falls
 * through to Fastify with the limiter's decision, so that it is counted once.
 */
export class FastPath {
  readonly #parts: Parts;
  readonly #decided = new WeakMap<IncomingMessage, LimiterResult>();
  #isClosed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A listener that tries the fast path and falls through to `fastify`. */
  before(fastify: RequestListener): RequestListener {
    const fallThrough: FallThrough = (request, response, decision) => {
      if (decision) this.#decided.set(request, decision);
      const { tracing } = this.#parts;
      // The limiter calls back from a batch, which may have been begun by another request.
      if (tracing) tracing.run(tracing.scopeOf(request), () => fastify(request, response));
      else fastify(request, response);
    };
    return (request, response) => {
      const list = this.#isClosed ? undefined : findList(request, this.#parts);
      const known = list && findKey(request, this.#parts);
      if (known) this.#parts.limiter.decide(new FastPathRequest(request, response, known, list, this.#parts, fallThrough));
      else fastify(request, response);
    };
  }

  /** From now on every request falls through. */
  close(): void {
    this.#isClosed = true;
  }

  /** Returns the decision that a request fell through with, and deletes it. */
  takeDecision(request: IncomingMessage): LimiterResult | undefined {
    const decision = this.#decided.get(request);
    this.#decided.delete(request);
    return decision;
  }
}

/** The list that has the page in its cache; undefined: the request is not one for the fast path. */
function findList(request: IncomingMessage, { db, changes, lists, config }: Parts): CachedList | undefined {
  if (request.method !== 'GET') return undefined;
  const url = request.url ?? '';
  const list = lists.find(({ route, pages }) => hasPath(url, route) && pages.has(url));
  const isCandidate =
    list !== undefined &&
    countOfHeader(request, 'host') === 1 &&
    countOfHeader(request, 'authorization') === 1 &&
    !(config.environment === 'staging' && asksForRehearsal(request.headers)) &&
    db.reachable &&
    changes.isTrusted;
  return isCandidate ? list : undefined;
}

const hasPath = (url: string, path: string) => url.startsWith(path) && (url.length === path.length || url[path.length] === '?');

function findKey({ headers: { authorization = '' } }: IncomingMessage, { keys, clock }: Parts): KnownKey | undefined {
  if (!authorization.startsWith(scheme)) return undefined;
  const known = keys.findCached(authorization.slice(scheme.length));
  return known && !invalidityOf(known, clock.now()) && known.scopes.includes(scope) ? known : undefined;
}

/** A class and not closures, since one is created for each request. */
class FastPathRequest implements PendingDecision {
  readonly charge;
  isOwed = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #known: KnownKey;
  readonly #list: CachedList;
  readonly #parts: Parts;
  readonly #fallThrough: FallThrough;
  readonly #startedAtMs = performance.now();
  readonly #span: { end(): void } | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    known: KnownKey,
    list: CachedList,
    parts: Parts,
    fallThrough: FallThrough,
  ) {
    this.charge = known.charge;
    this.#request = request;
    this.#response = response;
    this.#known = known;
    this.#list = list;
    this.#parts = parts;
    this.#fallThrough = fallThrough;
    this.#span = parts.tracing?.startSpan(admissionSpan);
  }

  resolve(decision: LimiterDecision): void {
    this.#span?.end();
    const admitted =
      'listVersion' in decision && decision.verdict.outcome === 'admitted' && this.#isConfirmed(decision) ? decision : undefined;
    const page = admitted && this.#list.pages.find(this.#request.url ?? '', admitted.listVersion);
    if (!admitted || !page || !this.#send(page, admitted.verdict)) {
      this.#fallThrough(this.#request, this.#response, { known: this.#known, decision });
    }
  }

  /** Redis has confirmed the key's epoch. Without Redis, the limiter has looked for changes since the request arrived. */
  #isConfirmed(decision: LimiterDecision): boolean {
    return decision.by === 'redis' || (decision.hasLooked && this.#parts.keys.isCurrent(this.#known));
  }

  /** Fastify then calls the limiter again, and sends the error if there is one. */
  reject(): void {
    this.#span?.end();
    this.#fallThrough(this.#request, this.#response);
  }

  /** False if the page is not compressed yet: nothing is sent. */
  #send(page: ListPage<unknown>, verdict: Verdict): boolean {
    const { url = '', headers } = this.#request;
    const coding = codingFor(headers['accept-encoding'], page.bytes);
    const unmodified = isUnmodified(headers['if-none-match'], page.etag);
    const body = coding ? this.#list.pages.findCompressed(url, page, coding) : page.body;
    if (body === undefined && !unmodified) return false;
    const id = newRequestId();
    const rate: Record<string, string> = rateLimitHeaders(verdict, this.charge.quota);
    const { always, withBody } = fieldsOf(page, coding);
    const fields = [...always, 'x-request-id', id];
    for (const name in rate) fields.push(name, rate[name] as string);
    if (!unmodified) fields.push(...withBody, 'content-length', String(Buffer.isBuffer(body) ? body.length : page.bytes));
    setReader(this.#response, this.#known);
    this.#response.writeHead(unmodified ? 304 : 200, fields);
    this.#response.end(unmodified ? undefined : body);
    this.#tell(id);
    return true;
  }

  #tell(id: string): void {
    const { route } = this.#list;
    this.#parts.tracing?.describe(this.#request, { id, route, status: this.#response.statusCode, code: null });
    this.#parts.observe?.({
      id,
      method: 'GET',
      url: this.#request.url ?? '',
      route,
      status: this.#response.statusCode,
      code: null,
      ms: performance.now() - this.#startedAtMs,
      isDeprecated: false,
      caller: { clientId: this.#known.clientId, keyId: this.#known.id },
    });
  }
}

interface Fields {
  readonly always: readonly string[];
  readonly withBody: readonly string[];
}

const fieldsOfPages = new WeakMap<ListPage<unknown>, Map<Coding | undefined, Fields>>();

/** The header fields of a page that are the same in every response with this coding. */
function fieldsOf(page: ListPage<unknown>, coding: Coding | undefined): Fields {
  const byCoding = fieldsOfPages.get(page) ?? new Map<Coding | undefined, Fields>();
  const known = byCoding.get(coding);
  if (known) return known;
  const always = {
    ...readHeaders,
    etag: codedEtag(page.etag, coding),
    ...(page.link && { link: page.link }),
    ...(page.contentLocation && { 'content-location': page.contentLocation }),
    ...(page.searchNotes && { 'search-notes': page.searchNotes }),
  };
  const withBody = { 'content-type': 'application/json; charset=utf-8', ...(coding && { 'content-encoding': coding }) };
  const fields = { always: Object.entries(always).flat(), withBody: Object.entries(withBody).flat() };
  fieldsOfPages.set(page, byCoding.set(coding, fields));
  return fields;
}
