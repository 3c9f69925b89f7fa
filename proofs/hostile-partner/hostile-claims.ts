// What the hostile partner got, which must be no more than its plan allows.

import { planBounds } from '../../service/src/access/rate-limit/plans.ts';
import { queryStore } from '../../testkit/adopters.ts';
import { HttpClient } from '../../testkit/http.ts';
import type { Store } from '../../testkit/store.ts';
import type { Claim } from '../proof.ts';
import type { Target } from './attack.ts';
import type { Report } from './hostile-caller.ts';

const bounds = planBounds.business;

export async function judgeOrders(store: Store, { keys }: Target, reports: readonly Report[]): Promise<Claim> {
  const [held] = await queryStore<{ orders: number; most: number; implausible: number }>(
    store,
    `with open as (select lower(adopter_email) as email from orders where client_id = $1 and status in ('placed', 'approved'))
      select (select count(*)::int from open) as orders,
        (select coalesce(max(count), 0)::int from (select count(*) from open group by email) as of_adopter) as most,
        (select count(*)::int from open where email = 'x@x') as implausible`,
    [keys['orders of every animal']?.clientId],
  );
  const { orders = -1, most = -1, implausible = -1 } = held ?? {};
  return {
    claim: `Open orders of the hostile client, in total, for one adopter and with an invalid address, after ${countOf(reports, 'orders of every animal').toLocaleString('en')} attempts`,
    bar: `${bounds.openOrders}, ${bounds.openOrdersOfAdopter}, 0`,
    figure: `${orders}, ${most}, ${implausible}`,
    holds: orders === bounds.openOrders && most === bounds.openOrdersOfAdopter && implausible === 0,
  };
}

const countOf = (reports: readonly Report[], name: string) =>
  reports.reduce((sum, { statuses }) => sum + Object.values(statuses[name] ?? {}).reduce((a, b) => a + b, 0), 0);

export async function judgeJunk(store: Store, { keys, urls }: Target, key: string): Promise<Claim> {
  using http = new HttpClient(1);
  const { text } = await http.send(`${urls[0]}/categories`, { key });
  const named = (JSON.parse(text) as Array<{ name?: string }>).filter(({ name }) => name !== undefined).length;
  const [count] = await queryStore<{ registered: number; raw: number }>(
    store,
    `select (select count(*)::int from categories where id < 0) as registered,
      (select count(*)::int from webhooks where client_id = $1 and (url || description) ~ '[\\u0001-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e]') as raw`,
    [keys['junk writes']?.clientId],
  );
  const { registered = -1, raw = -1 } = count ?? {};
  return {
    claim:
      'Named categories on the first page of the list; categories that the hostile client registered in a day; its endpoints with control characters or bidirectional overrides',
    bar: `10; at most ${bounds.newCategoriesPerDay}; 0`,
    figure: `${named}; ${registered}; ${raw}`,
    holds: named === 10 && registered <= bounds.newCategoriesPerDay && raw === 0,
  };
}

export function judgeResponses(reports: readonly Report[]): Claim {
  const faults = reports.flatMap((report) => report.faults);
  return {
    claim: '5xx responses to the hostile client, except 503 with Retry-After',
    bar: '0',
    figure: `${faults.length} of ${reports.reduce((sum, { responded }) => sum + responded, 0).toLocaleString('en')}${faults.length > 0 ? ` (${faults.slice(0, 3).join('; ')})` : ''}: ${summaryOf(reports)}`,
    holds: faults.length === 0,
  };
}

/** The statuses by load, which show that each did reach the store. */
function summaryOf(reports: readonly Report[]): string {
  const names = [...new Set(reports.flatMap(({ statuses }) => Object.keys(statuses)))];
  return names
    .map((name) => {
      const totals = new Map<string, number>();
      for (const { statuses } of reports) {
        for (const [status, count] of Object.entries(statuses[name] ?? {})) totals.set(status, (totals.get(status) ?? 0) + count);
      }
      return `${name} ${[...totals].map(([status, count]) => `${count}× ${status === '0' ? 'no response' : status}`).join(', ')}`;
    })
    .join('; ');
}
