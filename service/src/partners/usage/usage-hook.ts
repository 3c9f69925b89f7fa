import type { Clock } from '../../platform/clock.ts';
import type { ObserveRequest } from '../../platform/http/finished-requests.ts';
import type { UsageTally } from './usage-tally.ts';

/** Counts each request with a valid key. One without belongs to nobody. */
export const countUsage =
  (tally: UsageTally, clock: Clock): ObserveRequest =>
  ({ caller, code, method, route, isDeprecated }) => {
    if (!caller) return;
    const deprecated = isDeprecated && route !== undefined ? operationOf(method, route) : null;
    tally.count({ keyId: caller.keyId, atMs: clock.now(), error: code, deprecated });
  };

/** As OpenAPI writes it: `GET /v1/pets/{petId}`. A HEAD is a GET without its body. */
const operationOf = (method: string, route: string) => `${method === 'HEAD' ? 'GET' : method} ${route.replaceAll(/:(\w+)/g, '{$1}')}`;
