/** A request to an operation, and what a store returned to it. */
export interface Example {
  readonly request: ExampleRequest;
  readonly response: ExampleResponse;
}

export interface ExampleRequest {
  readonly operationId: string;
  readonly method: string;
  /** The path template, such as /v1/pets/{petId}. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, number>>;
  readonly query: Readonly<Record<string, string | number | readonly number[]>>;
  /** Whether it is sent with an Idempotency-Key, a new one each time. */
  readonly hasIdempotencyKey: boolean;
  readonly body?: unknown;
  /** The file that is sent as it is, in place of a body of JSON. */
  readonly file?: string;
}

export interface ExampleResponse {
  readonly status: number;
  /** The headers that not every response has, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined if the response has no body. */
  readonly body?: unknown;
}

/** A sample in one language. */
export interface Sample {
  readonly language: 'sh' | 'ts' | 'py';
  readonly code: string;
}

/** The path with its parameters, without the query. */
export const pathOf = ({ path, parameters }: ExampleRequest): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(parameters[name]));
