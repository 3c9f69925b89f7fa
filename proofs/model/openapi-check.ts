// Checks a response against the OpenAPI document that the service serves.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { inlineComponents } from '../../service/src/platform/http/openapi-components.ts';
import type { Response } from '../../testkit/http.ts';

interface ResponseObject {
  readonly headers?: Record<string, { readonly schema?: { readonly type?: string } }>;
  readonly content?: Record<string, object>;
}

interface Document {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, ResponseObject> } | undefined>>;
}

/** Documented headers that are not in every response. */
const optionalHeaders = ['link', 'x-ratelimit-strikes-remaining', 'etag'];

export type Check = (operation: { path: string; method: string }, response: Response, hasBody: boolean) => string | undefined;

/** Returns how a response differs from the document; undefined if it does not. */
export function createOpenApiCheck(served: Document): Check {
  const document = inlineComponents(served, served);
  const ajv = new Ajv2020({ strict: false, formats: { int64: true, 'date-time': true }, schemas: [{ ...document, $id: 'document' }] });
  return ({ path, method }, response, hasBody) => {
    const documented = document.paths[path]?.[method]?.responses[response.status];
    if (!documented) return `${response.status} is not documented for ${method} ${path}`;
    for (const [name, { schema }] of Object.entries(documented.headers ?? {})) {
      const value = response.headers[name.toLowerCase()];
      if (value === undefined && !optionalHeaders.includes(name.toLowerCase())) return `the header ${name} is missing`;
      if (value !== undefined && schema?.type === 'integer' && !/^-?\d+$/.test(String(value)))
        return `the header ${name} is not an integer: ${value}`;
    }
    if (!hasBody) return response.text === '' ? undefined : 'there is a body where none is allowed';
    const [type, ...more] = Object.keys(documented.content ?? {});
    if (!type || more.length > 0 || !response.headers['content-type']?.startsWith(type)) return `the media type is not ${type}`;
    const pointer = ['paths', path, method, 'responses', String(response.status), 'content', type, 'schema'];
    const $ref = `document#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    const validate = ajv.getSchema($ref);
    if (!validate) return `the document has no schema at ${$ref}`;
    return validate(JSON.parse(response.text)) ? undefined : `the body does not match: ${ajv.errorsText(validate.errors)}`;
  };
}
