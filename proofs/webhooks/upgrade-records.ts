// Compares what the release before has recorded about deliveries with what the API of this release shows.
import { queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import type { Store } from '../../testkit/store.ts';
import type { Endpoint } from './upgrade-cast.ts';

export interface Comparison {
  readonly compared: number;
  readonly differing: readonly string[];
}

interface Shown {
  readonly id: number;
  readonly status: string;
  readonly attemptCount: number;
  readonly attempts?: ReadonlyArray<{ readonly at: string; readonly durationMs: number; readonly status: number | null }>;
}

interface Recorded {
  readonly webhookId: number;
  readonly id: string;
  readonly status: string;
  readonly attemptCount: number;
}

const firstOldTest = 1_000_000_000_000_000;
const pagesMax = 1_000;
const requestsMax = 8;

/** As the API shows it: by the position of its event. */
const recordedId = `coalesce(position, ${firstOldTest} + deliveries.id)::text`;

/** Deliveries that are pending or failed, and their status and attempts. Nothing new may be sending; the release before may. */
export async function compareQueued(url: string, store: Store, endpoints: readonly Endpoint[]): Promise<Comparison> {
  using http = new HttpClient();
  const read = () =>
    queryStore<Recorded>(
      store,
      `select webhook_id::int as "webhookId", ${recordedId} as id, status::text, attempt_count::int as "attemptCount"
        from deliveries where status <> 'delivered' and webhook_id = any($1)`,
      [endpoints.map(({ id }) => id)],
    );
  const before = await read();
  const shown = new Map<string, Shown>();
  for (const { id, key } of endpoints) {
    for (const status of ['pending', 'failed']) {
      for (const delivery of await pagesOf(http, `${url}/webhooks/${id}/deliveries?limit=100&status=${status}`, key.key))
        shown.set(`${id} ${delivery.id}`, delivery);
    }
  }
  const nameOf = ({ webhookId, id, status, attemptCount }: Recorded) => `${webhookId} ${id} ${status} ${attemptCount}`;
  const after = new Set((await read()).map(nameOf));
  // The release before may have recorded a result meanwhile.
  const unchanged = before.filter((one) => after.has(nameOf(one)));
  const differing = unchanged.filter(({ webhookId, id, status, attemptCount }) => {
    const one = shown.get(`${webhookId} ${id}`);
    return one?.status !== status || (one.attemptCount !== attemptCount && !isLeftInFeed(one));
  });
  return { compared: unchanged.length, differing: differing.map(nameOf) };
}

/** A long queue stays in the feed, where nothing is known of earlier attempts. */
const isLeftInFeed = ({ attemptCount }: Shown) => attemptCount === 0;

/** Every attempt that the release before has recorded. */
export async function compareAttempts(url: string, store: Store, endpoints: readonly Endpoint[]): Promise<Comparison> {
  using http = new HttpClient();
  const rows = await queryStore<{ webhookId: number; id: string; at: Date; durationMs: number; status: number | null }>(
    store,
    `select webhook_id::int as "webhookId", ${recordedId} as id, delivery_attempts.at, duration_ms::int as "durationMs", delivery_attempts.status
      from delivery_attempts join deliveries on deliveries.id = delivery_id order by delivery_attempts.id`,
  );
  const keyOf = new Map(endpoints.map(({ id, key }) => [id, key.key]));
  const waiting = [...Map.groupBy(rows, ({ webhookId, id }) => `${url}/webhooks/${webhookId}/deliveries/${id}`)];
  const differing: string[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [path, recorded] = next;
      const { status, text } = await http.send(path, { key: keyOf.get(recorded[0]?.webhookId ?? 0) ?? '' });
      const shown = status === 200 ? ((JSON.parse(text) as Shown).attempts ?? []) : [];
      const missing = recorded.filter(
        (one) => !shown.some(({ at, durationMs, status: code }) => isSame(one, { at, durationMs, status: code })),
      );
      differing.push(...missing.map(({ at }) => `${path} ${at.toISOString()} (${status})`));
    }
  };
  await Promise.all(Array.from({ length: requestsMax }, work));
  return { compared: rows.length, differing };
}

const isSame = (
  recorded: { at: Date; durationMs: number; status: number | null },
  shown: { at: string; durationMs: number; status: number | null },
) => recorded.at.toISOString() === shown.at && recorded.durationMs === shown.durationMs && recorded.status === shown.status;

async function pagesOf(http: HttpClient, firstUrl: string, key: string): Promise<Shown[]> {
  const shown: Shown[] = [];
  let next: string | undefined = firstUrl;
  for (let pages = 0; next !== undefined; pages += 1) {
    if (pages === pagesMax) throw new Error(`${firstUrl} has more than ${pagesMax} pages`);
    const { status, text, headers } = await http.send(next, { key });
    if (status !== 200) throw new Error(`${next}: ${text}`);
    shown.push(...(JSON.parse(text) as Shown[]));
    const link = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1];
    next = link && new URL(link, firstUrl).href;
  }
  return shown;
}
