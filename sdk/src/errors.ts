import type { ErrorCode } from './api-types.gen.ts';
import { linkOf } from './links.ts';
import { type RateLimit, readRateLimit } from './rate-limit.ts';

interface Body {
  readonly code: string;
  readonly message: string;
}

/** The store's refusal. Act on `code`; `message` is for people. */
export class HomewardError extends Error {
  override readonly name = 'HomewardError';
  /** A store may be newer than this package, and have codes that are not among the known ones. */
  readonly code: ErrorCode | (string & {});
  readonly status: number;
  /** Name this in a report. */
  readonly requestId: string | undefined;
  /** The page of this code: cause, fix, example. */
  readonly helpUrl: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly rateLimit: RateLimit | undefined;

  /** Made by the client, from an answer to a request to `url`. */
  constructor({ code, message }: Body, { status, headers }: Response, url: string) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = headers.get('x-request-id') ?? undefined;
    const help = linkOf(headers, 'help');
    this.helpUrl = help && new URL(help, url).href;
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    this.retryAfterSeconds = seconds >= 0 ? seconds : undefined;
    this.rateLimit = readRateLimit(headers);
  }
}

/** No answer came, or only a part of one. `cause` says why. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

export function refusalOf(response: Response, text: string, url: string): HomewardError {
  return new HomewardError(readBody(text) ?? foreignBody(response.status, url), response, url);
}

/** Whether the same request may have another answer later. */
export const isPassing = (error: unknown): error is HomewardError | ConnectionError =>
  error instanceof ConnectionError ||
  (error instanceof HomewardError &&
    (error.status === 429 || error.status === 408 || error.status >= 500 || error.code === 'idempotency_in_progress'));

function readBody(text: string): Body | undefined {
  try {
    const { code, message } = JSON.parse(text);
    return typeof code === 'string' ? { code, message: String(message) } : undefined;
  } catch {
    return undefined;
  }
}

/** What stands between, such as a proxy, answers in words of its own. */
const foreignBody = (status: number, url: string): Body => ({
  code: 'unexpected_answer',
  message: `${url} answered ${status} without an error of Homeward: is this a store's address, and what stands in front of it?`,
});
