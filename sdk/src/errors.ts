import type { ErrorCode } from './api-types.gen.ts';
import { codeOf } from './connection-failure.ts';
import { linkOf } from './links.ts';
import { inspectSymbol } from './printing.ts';
import { type RateLimit, readRateLimit } from './rate-limit.ts';

interface Body {
  readonly code: string;
  readonly message: string;
}

/** An error response from the store. Branch on `code`; `message` is for people. */
export class HomewardError extends Error {
  /** A store may be newer than this package and return codes that are not listed here. */
  readonly code: ErrorCode | (string & {});
  readonly status: number;
  /** Include this when you report a problem. */
  readonly requestId: string | undefined;
  /** Documentation of this error code: cause, fix, example. */
  readonly helpUrl: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly rateLimit: RateLimit | undefined;

  /** Built by the client from the response to a request to `url`. */
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
    this.#addFieldsToStack();
  }

  override get name(): 'HomewardError' {
    return 'HomewardError';
  }

  /** One line, for a log. */
  override toString(): string {
    return `${this.name}: ${this.message} (${this.#printedFields().join(', ')})`;
  }

  toJSON(): object {
    const { name, message, code, status, requestId, helpUrl, retryAfterSeconds, rateLimit } = this;
    return { name, message, code, status, requestId, helpUrl, retryAfterSeconds, rateLimit };
  }

  /** The stack alone: it has all fields that matter. */
  [inspectSymbol](): string {
    return this.stack ?? String(this);
  }

  /** The stack is what most runtimes, loggers and error trackers print of an error, and all that they print. */
  #addFieldsToStack(): void {
    const title = `${this.name}: ${this.message}`;
    // Firefox and Safari have no title in the stack.
    if (!this.stack?.startsWith(title)) return;
    this.stack = [title, ...this.#printedFields().map((field) => `  ${field}`)].join('\n') + this.stack.slice(title.length);
  }

  #printedFields(): string[] {
    const { code, status, requestId, helpUrl, retryAfterSeconds } = this;
    return Object.entries({ code, status, requestId, helpUrl, retryAfterSeconds })
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => `${field}: ${value}`);
  }
}

/** The request got no response, or an incomplete one. `cause` has the reason. */
export class ConnectionError extends Error {
  /** The runtime's code of the reason, such as ECONNREFUSED. Browsers give none. */
  readonly code: string | undefined;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = codeOf(options?.cause);
  }

  override get name(): 'ConnectionError' {
    return 'ConnectionError';
  }

  toJSON(): object {
    const { name, message, code } = this;
    return { name, message, code };
  }
}

export function errorOf(response: Response, text: string, url: string): HomewardError {
  return new HomewardError(readBody(text) ?? foreignBody(response.status, url), response, url);
}

const retryableCodes = ['idempotency_in_progress', 'too_many_uploads', 'too_many_searches'];

/** Whether retrying the same request may succeed. */
export const isRetryable = (error: unknown): error is HomewardError | ConnectionError =>
  error instanceof ConnectionError ||
  (error instanceof HomewardError &&
    (error.status === 429 || error.status === 408 || error.status >= 500 || retryableCodes.includes(error.code)) &&
    error.code !== 'upload_too_slow');

function readBody(text: string): Body | undefined {
  try {
    const { code, message } = JSON.parse(text);
    return typeof code === 'string' ? { code, message: String(message) } : undefined;
  } catch {
    return undefined;
  }
}

/** For a response that isn't the store's, such as a proxy's error page. */
const foreignBody = (status: number, url: string): Body => ({
  code: 'unexpected_response',
  message: `${url} returned ${status}, but not an error from a Homeward store. Check the store's URL and any proxy in front of it.`,
});
