/**
 * Every code that an Error body can carry. Responses, their statuses, the OpenAPI document and the help pages
 * are made from this table.
 */
export const errorCodes = {
  malformed_request: {
    status: 400,
    cause: 'The bytes received are not an HTTP/1.1 request that can be understood.',
    fix: 'Send the request with a standard HTTP client, and look for a proxy that rewrites it.',
  },
  invalid_json: {
    status: 400,
    cause: 'The body is not one JSON value in UTF-8, is nested too deeply, or sets __proto__.',
    fix: 'Send one JSON object, encoded as UTF-8.',
  },
  invalid_body: {
    status: 400,
    cause: 'The body lacks a required field or has a value that the field does not take.',
    fix: 'Correct the field that the message names.',
  },
  invalid_query: {
    status: 400,
    cause:
      'A query parameter is unknown, given twice, or has a value that it does not take. Nothing is ignored, since a misspelt filter would return the wrong animals.',
    fix: 'Correct or remove the parameter that the message names.',
  },
  invalid_cursor: {
    status: 400,
    cause: 'The cursor was not made by this service, or was made under other filters.',
    fix: 'Follow the Link header of the page before, unchanged; to change a filter, start again without a cursor.',
  },
  invalid_idempotency_key: {
    status: 400,
    cause: 'The Idempotency-Key is empty, longer than 255 characters, or has characters other than visible ASCII.',
    fix: 'Use a random UUID.',
  },
  category_not_found: {
    status: 400,
    cause: 'This deployment keeps a closed list of categories, and the given categoryId is not on it.',
    fix: 'Use the id of a category that exists.',
  },
  webhook_url_refused: {
    status: 400,
    cause: 'Events are sent only by https, to a host with public addresses, and not to a port below 1024 other than 443.',
    fix: 'Give an address such as https://example.org/hooks.',
  },
  api_key_missing: {
    status: 401,
    cause: 'The request has no Authorization header.',
    fix: "Send your key as 'Authorization: Bearer <API_KEY>'.",
  },
  api_key_invalid: {
    status: 401,
    cause: 'The Authorization header holds no key of this deployment: a typing error, another scheme, or a key of another environment.',
    fix: 'Compare the key with the one you saved; it is 46 characters long and starts with hw_.',
  },
  api_key_expired: {
    status: 401,
    cause: 'The key was created with an end, or rotated with an overlap, and that has passed.',
    fix: "Use the key that replaced it, or ask the store's staff for a new one.",
  },
  api_key_revoked: {
    status: 401,
    cause: 'The key was revoked.',
    fix: 'Use the key that replaced it, or ask for a new one.',
  },
  insufficient_scope: {
    status: 403,
    cause: 'The key is valid, but was not given the scope that this operation needs.',
    fix: 'Use a key that has the scope that the message names.',
  },
  route_not_found: {
    status: 404,
    cause: 'There is no operation at this path.',
    fix: 'Compare the path with the reference; every path starts with /v1.',
  },
  pet_not_found: {
    status: 404,
    cause: 'No animal has this id.',
    fix: 'List animals with GET /v1/pets; ids are never used again.',
  },
  order_not_found: {
    status: 404,
    cause: 'No order that this client may see has this id.',
    fix: 'List your orders with GET /v1/store/orders.',
  },
  webhook_not_found: {
    status: 404,
    cause: 'No endpoint of this client has this id.',
    fix: 'List your endpoints with GET /v1/webhooks.',
  },
  delivery_not_found: {
    status: 404,
    cause: 'No delivery of this endpoint has this id; deliveries are kept for 30 days.',
    fix: 'List them with GET /v1/webhooks/{webhookId}/deliveries.',
  },
  method_not_allowed: {
    status: 405,
    cause: 'The path exists, but not for this method.',
    fix: 'Use a method that the Allow header lists.',
  },
  request_timeout: {
    status: 408,
    cause: 'The request did not arrive completely in time.',
    fix: 'Send the headers within 5 s and the whole request within 10 s.',
  },
  pet_not_available: {
    status: 409,
    cause: 'The animal is pending or sold: someone was faster.',
    fix: 'Show the animal as it is now; it may become available again.',
  },
  pet_has_open_order: {
    status: 409,
    cause: 'The animal is promised by an open order, which forbids to override its status or to take it back.',
    fix: 'Cancel or complete the order that the message names first.',
  },
  order_state_conflict: {
    status: 409,
    cause: 'The order is in a state that does not allow this action.',
    fix: 'Read the order again; the message names what its state allows.',
  },
  webhook_limit_reached: {
    status: 409,
    cause: 'The client has 20 endpoints, and can have no more.',
    fix: 'Remove one that is no longer used.',
  },
  webhook_disabled: {
    status: 409,
    cause: 'The endpoint is disabled, so that nothing is sent to it.',
    fix: "Enable it with PATCH /v1/webhooks/{webhookId} and the status 'enabled'.",
  },
  idempotency_in_progress: {
    status: 409,
    cause: 'A request with the same Idempotency-Key is being answered at this moment.',
    fix: 'Repeat the request after the seconds that Retry-After gives: it will get the same answer.',
  },
  cursor_expired: {
    status: 410,
    cause: 'The events after this cursor are no longer kept, so that reading on would leave a gap.',
    fix: 'Read the animals anew with GET /v1/pets, then go on with GET /v1/events without a cursor.',
  },
  operation_removed: {
    status: 410,
    cause: 'The operation was deprecated and its removal date has passed.',
    fix: 'Use the successor that the message names.',
  },
  precondition_failed: {
    status: 412,
    cause: 'The animal has changed since the ETag in If-Match was given.',
    fix: 'Read the animal again, and repeat the request with its present ETag if it still applies.',
  },
  body_too_large: {
    status: 413,
    cause: 'The body is larger than 1 MiB.',
    fix: 'Send a smaller body.',
  },
  unsupported_media_type: {
    status: 415,
    cause: 'The body is not declared as application/json.',
    fix: "Send 'Content-Type: application/json' and a JSON body.",
  },
  idempotency_key_reused: {
    status: 422,
    cause: 'The Idempotency-Key was used within 24 hours for a request with another method, path or body.',
    fix: 'Use a new key for a new request, and the same key only to repeat one.',
  },
  rate_limit_exceeded: {
    status: 429,
    cause: 'The plan allows no further request in this window.',
    fix: 'Wait for the seconds that Retry-After gives. Going on before then counts towards a temporary ban of the key.',
  },
  api_key_banned: {
    status: 429,
    cause: 'The key kept sending after 429 without waiting, and is banned for a while: 1, then 5, 15 and 60 minutes.',
    fix: 'Wait for the seconds that Retry-After gives, and honour Retry-After from then on. Requests during the ban do not extend it.',
  },
  headers_too_large: {
    status: 431,
    cause: 'The request line and headers are together larger than 16 KiB.',
    fix: 'Send fewer or smaller headers.',
  },
  internal_error: {
    status: 500,
    cause: 'A fault of the service.',
    fix: 'Repeat the request later; if it persists, report the X-Request-Id.',
  },
  unavailable: {
    status: 503,
    cause: 'The service cannot reach its database at the moment, or is overloaded.',
    fix: 'Repeat the request after the seconds that Retry-After gives.',
  },
} as const satisfies Record<string, { status: number; cause: string; fix: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** The one error of the project: `message` is for the caller, `cause` for the log. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; headers?: Record<string, string> } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'AppError';
    this.code = code;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

export function unavailable(cause: unknown): AppError {
  const message = 'The service cannot reach its database at the moment. Repeat the request in 1 s.';
  return new AppError('unavailable', message, { cause, headers: { 'retry-after': '1' } });
}

export function internalError(cause: unknown): AppError {
  const message = 'Something went wrong here. Repeat the request later; if it persists, report the X-Request-Id.';
  return new AppError('internal_error', message, { cause });
}

/** Shows a received value in a message: JSON, cut short, so that no message grows with the request. */
export function show(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that cannot be kept exactly';
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, bigintAsText) ?? 'nothing');
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

const bigintAsText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
