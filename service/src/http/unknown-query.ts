import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { errorResponses } from './schemas.ts';

/** An operation without query parameters rejects every one, as the others reject the ones that they don't know. */
export function rejectUnknownQuery(api: FastifyInstance): void {
  api.addHook('onRoute', ({ schema }) => {
    if (!schema?.operationId || schema.querystring) return;
    schema.querystring = Type.Object({}, { additionalProperties: false });
    schema.response = { ...errorResponses('invalid_query'), ...(schema.response as object) };
  });
}
