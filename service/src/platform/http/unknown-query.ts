import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { errorResponses } from './schemas.ts';

/** Makes operations without query parameters reject any. The others reject unknown ones by their schemas. */
export function rejectUnknownQuery(api: FastifyInstance): void {
  api.addHook('onRoute', ({ schema }) => {
    if (!schema?.operationId || schema.querystring) return;
    schema.querystring = Type.Object({}, { additionalProperties: false });
    schema.response = { ...errorResponses('invalid_query'), ...(schema.response as object) };
  });
}
