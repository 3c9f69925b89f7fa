import type { Clock } from '../../platform/clock.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import type { Api } from '../../platform/http/schemas.ts';
import { callerOf, operation, read } from '../admission/admission-hook.ts';
import type { KeyCaller } from '../principals/principals.ts';
import { intervalsMax, readUsage, retentionDays } from './usage.ts';
import { GetUsageQuery, UsageSchema } from './usage-schemas.ts';

interface Parts {
  readonly db: Transactor;
  readonly clock: Clock;
  /** The bytes that a client's photos take, and may take. */
  readPhotoStorage(caller: KeyCaller): Promise<{ readonly usedBytes: number; readonly limitBytes: number }>;
}

export function usageRoutes(api: Api, { db, clock, readPhotoStorage }: Parts): void {
  api.get(
    '/usage',
    operation({
      // No scope: what a client has sent is no secret from any of its keys, and every response tells them its limits anyway.
      operationId: 'getUsage',
      tags: ['Usage'],
      summary: 'See how many requests you have sent',
      description: `Returns the requests of this client, by interval and by key, with errors by code and calls of deprecated operations, the limits in force, and what its photos take. Any valid key may read it. Usage is kept by minute for ${retentionDays} days. It is written every few seconds, so the last requests may be missing. At most ${intervalsMax} intervals are returned at once. Requests without a valid key belong to nobody and are not counted here.`,
      'x-stability': 'experimental',
      querystring: GetUsageQuery,
      response: read('The usage of the client.', UsageSchema),
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { clientId, quota } = caller;
      const usage = await readUsage(db, clientId, request.query, clock.now());
      // A client's quota always has a limit per day.
      const limits = { perMinute: quota.perMinute, perDay: quota.perDay as number };
      return reply.send({ ...usage, limits, photoStorage: await readPhotoStorage(caller) });
    },
  );
}
