// Runs the steps one after another against the store, and compares each response with the model.
import type { HttpClient, Response } from '../../testkit/http.ts';
import type { Callers, Credentials } from './model-callers.ts';
import { applyCondition, conditionOf, judgeContent, judgeError, rejectionBefore, tagged } from './model-expectations.ts';
import { ModelLimiter } from './model-limiter.ts';
import { type Plan, plan, type Request } from './model-plan.ts';
import type { Action, Step } from './model-steps.ts';
import { type ModelPage, ModelStore, readExactly } from './model-store.ts';
import type { Check } from './openapi-check.ts';

interface Environment {
  readonly http: HttpClient;
  readonly urls: readonly string[];
  readonly callers: Callers;
  readonly check: Check;
  /** The time on the store's clock. */
  now(): number;
  /** Whether Redis may have been late since `sinceMs`, in which case limits are not promised to be exact. */
  wasDisturbed(sinceMs: number): boolean;
}

export class ModelRun {
  readonly #environment: Environment;
  readonly #store = new ModelStore();
  readonly #limiter = new ModelLimiter();
  readonly #etags = new Map<string, { etag: string; tagged: string }>();
  readonly statuses = new Map<number, number>();
  steps = 0;
  unchecked = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  get animals(): number {
    return this.#store.animals.length;
  }

  get orders(): number {
    return this.#store.orders.length;
  }

  /** Throws if the response differs from the model. */
  async take(step: Step): Promise<void> {
    this.steps += 1;
    if (step.action.kind === 'revoke') return this.#environment.callers.revokeSpare(step.action.key);
    const credentials = this.#environment.callers.of(step.caller);
    const { request, expected, operation } = plan(this.#store, step.action, credentials);
    // A client sees its own orders.
    const place = `${operation?.path === '/store/orders' ? credentials.subject : ''} ${request.path}`;
    const known = this.#etags.get(place);
    const condition = isRead(request) ? conditionOf(step.condition, known?.etag) : undefined;
    const headers = {
      ...request.headers,
      ...(credentials.authorization && step.action.kind !== 'preflight' && { authorization: credentials.authorization }),
      ...(condition && { 'if-none-match': condition }),
    };
    const url = `${this.#environment.urls[step.process % this.#environment.urls.length]}${request.path}`;
    const sentMs = this.#environment.now();
    const startMs = Date.now();
    const response = await this.#environment.http.send(url, {
      method: request.method,
      headers,
      ...(request.raw !== undefined && { raw: request.raw }),
    });
    this.statuses.set(response.status, (this.statuses.get(response.status) ?? 0) + 1);
    try {
      const admitted = this.#judgeLimits(step.action, credentials, response, { sentMs, startMs });
      const due = rejectionBefore(step.action, credentials, admitted) ?? applyCondition(expected, condition, known);
      this.#judge(step.action, { request, expected: due, ...(operation && { operation }) }, place, response);
    } catch (error) {
      const sent = `${request.method} ${request.path.slice(0, 300)} ${JSON.stringify(step.caller)} ${request.raw?.slice(0, 200) ?? ''}`;
      throw new Error(`step ${this.steps}, ${sent}: ${(error as Error).message}; got ${response.status} ${response.text.slice(0, 300)}`);
    }
  }

  #judgeLimits(
    action: Action,
    credentials: Credentials,
    response: Response,
    { sentMs, startMs }: { sentMs: number; startMs: number },
  ): boolean {
    const isLook = action.kind === 'preflight';
    const { subject, quota } = isLook ? this.#environment.callers.address : credentials;
    const { admitted, shown } = this.#limiter.charge(subject, quota, isLook ? 0 : 1, response, sentMs, this.#environment.now());
    const got = ['limit', 'remaining', 'reset'].map((name) => Number(response.headers[`x-ratelimit-${name}`])).join(' ');
    const wanted = `${shown.limit} ${shown.remaining} ${shown.resetSeconds}`;
    const isRejected = response.status === 429;
    if (got === wanted && isRejected === !admitted) return admitted;
    if (!this.#environment.wasDisturbed(startMs))
      throw new Error(`the limiter must return "${wanted}" and ${admitted ? 'admit' : 'reject'}; it returned "${got}"`);
    this.unchecked += 1;
    this.#limiter.adopt(subject, quota, response);
    return !isRejected;
  }

  #judge(action: Action, { request, expected, operation }: Plan, place: string, response: Response): void {
    if (response.status !== expected.status) throw new Error(`must be ${expected.status} ${expected.code ?? ''}`);
    this.#judgeHeaders(action, operation, response);
    const hasBody = request.method !== 'HEAD' && expected.status !== 304 && expected.status !== 204;
    const undocumented = operation && this.#environment.check(operation, response, hasBody);
    if (undocumented) throw new Error(undocumented);
    if (expected.code) {
      if (hasBody) judgeError(response, expected.code);
      return;
    }
    if (hasBody && expected.content) judgeContent(response, expected.content);
    if (expected.page) this.#judgeLink(response, expected.page);
    if (expected.content) this.#judgeEtag(place, response, tagged(expected.content));
    expected.apply?.(readExactly(response.text));
  }

  #judgeHeaders(action: Action, operation: Plan['operation'], { status, headers }: Response): void {
    const wanted: Record<string, RegExp> = {
      'x-request-id': /^req_[\w-]{16}$/,
      'access-control-allow-origin': /^\*$/,
      ...(status !== 204 && { 'cache-control': status < 400 ? /^private, no-cache$/ : /^no-store$/ }),
      ...(status >= 400 && { link: /<\/docs\/errors\/\w+>; rel="help"/ }),
      ...((status === 401 || status === 403) && { 'www-authenticate': /^Bearer/ }),
      ...(status === 405 && action.kind === 'method' && { allow: new RegExp(`^${action.allow}$`) }),
      ...(status === 429 && { 'retry-after': /^[1-9]\d*$/ }),
      ...(action.kind === 'get' && operation && { deprecation: /^@\d+$/, sunset: /^Thu, 05 Dec 2030 00:00:00 GMT$/ }),
    };
    for (const [name, pattern] of Object.entries(wanted)) {
      if (!pattern.test(String(headers[name] ?? ''))) throw new Error(`the header ${name} is wrong: ${headers[name]}`);
    }
  }

  #judgeLink({ headers }: Response, { animals, more, limit, filters }: ModelPage): void {
    const path = /<\/v1([^>]+)>; rel="next"/.exec(String(headers['link'] ?? ''))?.[1];
    if ((path !== undefined) !== more) throw new Error(`there ${more ? 'must' : 'must not'} be a link to a next page`);
    if (path === undefined) return;
    const query = new URLSearchParams(path.split('?')[1]);
    const same =
      query.get('limit') === String(limit) &&
      (query.get('status') ?? undefined) === filters.status &&
      (query.get('categoryId') ?? undefined) === filters.categoryId &&
      query.getAll('id').join() === filters.ids.join();
    const cursor = query.get('cursor');
    if (!same || !cursor) throw new Error(`the link to the next page is wrong: ${path}`);
    this.#store.links.push({ path, cursor, filters, afterId: animals.at(-1)?.id ?? 0n });
  }

  #judgeEtag(place: string, { headers }: Response, content: string): void {
    const etag = headers.etag ?? '';
    const known = this.#etags.get(place);
    if (!/^"[\w-]{22}"$/.test(etag)) throw new Error(`no ETag: ${etag}`);
    if (known && (known.etag === etag) !== (known.tagged === content)) throw new Error(`the ETag was ${known.etag} and is ${etag}`);
    this.#etags.set(place, { etag, tagged: content });
  }
}

const isRead = ({ method }: Request) => method === 'GET' || method === 'HEAD';
