// Whether an answer is one that the service's own document describes.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { inlineComponents } from '../../service/src/http/openapi-components.ts';
import type { Response } from '../../testkit/http.ts';

interface ResponseObject {
  readonly headers?: Record<string, { readonly schema?: { readonly type?: string } }>;
  readonly content?: Record<string, object>;
}

interface Document {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, ResponseObject> } | undefined>>;
}

/** Documented, but only where there is something to say. */
const optionalHeaders = ['link', 'x-ratelimit-strikes-remaining', 'etag'];

export type Check = (operation: { path: string; method: string }, answer: Response, hasBody: boolean) => string | undefined;

/** What is wrong with the answer, by the document; undefined: nothing. */
export function createOpenApiCheck(served: Document): Check {
  const document = inlineComponents(served, served);
  const ajv = new Ajv2020({ strict: false, formats: { int64: true, 'date-time': true }, schemas: [{ ...document, $id: 'document' }] });
  return ({ path, method }, answer, hasBody) => {
    const response = document.paths[path]?.[method]?.responses[answer.status];
    if (!response) return `${answer.status} is not documented for ${method} ${path}`;
    for (const [name, { schema }] of Object.entries(response.headers ?? {})) {
      const value = answer.headers[name.toLowerCase()];
      if (value === undefined && !optionalHeaders.includes(name.toLowerCase())) return `the header ${name} is missing`;
      if (value !== undefined && schema?.type === 'integer' && !/^-?\d+$/.test(String(value)))
        return `the header ${name} is no integer: ${value}`;
    }
    if (!hasBody) return answer.text === '' ? undefined : 'there is a body where none belongs';
    const [type, ...more] = Object.keys(response.content ?? {});
    if (!type || more.length > 0 || !answer.headers['content-type']?.startsWith(type)) return `the media type is not ${type}`;
    const pointer = ['paths', path, method, 'responses', String(answer.status), 'content', type, 'schema'];
    const $ref = `document#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    const validate = ajv.getSchema($ref);
    if (!validate) return `the document has no schema at ${$ref}`;
    return validate(JSON.parse(answer.text)) ? undefined : `the body does not match: ${ajv.errorsText(validate.errors)}`;
  };
}
