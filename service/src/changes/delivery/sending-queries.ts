import { testType } from '../../domain/event-types.ts';
import type { Db } from '../../platform/db/handles.ts';
import { eventContent, interestCondition, type SubjectNames } from '../events/event-conditions.ts';
import type { EventRow } from '../events/events.ts';
import { isServed, managedShelter, mayReadPrivate, mayReadPublic } from '../webhooks/endpoint-conditions.ts';

/** Something to send to an endpoint: an event, or a test. */
interface Candidate {
  readonly webhookId: bigint;
  readonly deliveryId: bigint;
  readonly event: EventRow | undefined;
  /** It has a row in delivery_exceptions. */
  readonly isRow: boolean;
  readonly isReplay: boolean;
  /** If it was delivered since then, it is not sent again. */
  readonly checkedSince: Date | undefined;
}

/**
 * - send: to this address, with these secrets.
 * - wait: nothing may be sent to the endpoint now.
 * - skip: the endpoint may not get this event (any more).
 * - held: an earlier event of the same animal must be delivered first.
 * - decided: it was delivered or has a row already.
 */
export interface DeliveryVerdict {
  readonly verdict: 'send' | 'wait' | 'skip' | 'held' | 'decided';
  readonly url: string | null;
  readonly secret: string | null;
  /** While it still signs. */
  readonly previousSecret: string | null;
}

const subject: SubjectNames = {
  type: 'item.type',
  shelter: ['item.shelter_id', 'item.previous_shelter_id'],
  category: ['item.category_id', 'item.previous_category_id'],
};

/** Decides for each candidate, immediately before it is sent, by what the endpoint may get at this moment. */
export async function decideDeliveries(db: Db, candidates: readonly Candidate[]): Promise<DeliveryVerdict[]> {
  const { rows } = await db.query<DeliveryVerdict>({
    name: 'decide-deliveries',
    text: `select url, secret, case when previous_secret_until > now() then previous_secret end as "previousSecret",
        case when webhooks.id is null or not ${isServed} or (api_keys.revoked_at is null and api_keys.expires_at <= now()) then 'wait'
          when item.type = '${testType}' then 'send'
          when verified_at is null then 'wait'
          when not ((types = '{}' or item.type = any(types)) and ${interestCondition('shelter_ids', 'category_ids', subject)} and case when item.client_id is null then ${mayReadPublic}
            else (item.client_id = webhooks.client_id or coalesce(item.shelter_id = ${managedShelter}, false)) and ${mayReadPrivate} end) then 'skip'
          when not is_row and exists (select from delivery_exceptions where webhook_id = item.webhook_id
            and delivery_id = item.delivery_id and (status = 'pending' or not item.is_replay)) then 'decided'
          when exists (select from delivery_exceptions as earlier where webhook_id = item.webhook_id and pet_id = item.pet_id
            and status = 'pending' and earlier.is_replay = item.is_replay and delivery_id < item.delivery_id) then 'held'
          when checked_since is not null and exists (select from webhook_attempts as attempt where attempt.webhook_id = item.webhook_id
            and attempt.delivery_id = item.delivery_id and at >= checked_since and attempt.status between 200 and 299) then 'decided'
          else 'send' end as verdict
      from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[], $7::boolean[], $8::timestamptz[],
        $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[])
        with ordinality as item (webhook_id, delivery_id, type, client_id, pet_id, is_row, is_replay, checked_since, shelter_id,
          previous_shelter_id, category_id, previous_category_id, n)
      left join webhooks on webhooks.id = item.webhook_id left join api_keys on api_keys.id = key_id
      order by n`,
    values: [
      candidates.map(({ webhookId }) => webhookId),
      candidates.map(({ deliveryId }) => deliveryId),
      candidates.map(({ event }) => event?.type ?? testType),
      candidates.map(({ event }) => event?.clientId ?? null),
      candidates.map(({ event }) => event?.petId ?? null),
      candidates.map(({ isRow }) => isRow),
      candidates.map(({ isReplay }) => isReplay),
      candidates.map(({ checkedSince }) => checkedSince ?? null),
      candidates.map(({ event }) => event?.shelterId ?? null),
      candidates.map(({ event }) => event?.previousShelterId ?? null),
      candidates.map(({ event }) => event?.categoryId ?? null),
      candidates.map(({ event }) => event?.previousCategoryId ?? null),
    ],
  });
  return rows;
}

/** A row of delivery_exceptions that may be sent now. */
export interface DueRow {
  readonly webhookId: bigint;
  readonly deliveryId: bigint;
  readonly petId: bigint | null;
  readonly createdAt: Date;
  readonly attemptCount: number;
  readonly retryCount: number;
  readonly isReplay: boolean;
  /** False: the schedule says later; the endpoint fails and is tried. */
  readonly isScheduled: boolean;
  /** Undefined: a test, or the feed no longer has the event. */
  readonly event: EventRow | undefined;
}

type EventColumns = Omit<EventRow, 'position' | 'publishedAt' | 'petId'>;
type DueRowColumns = Omit<DueRow, 'event'> & (EventColumns | { readonly [Column in keyof EventColumns]: null });

/** Which rows of an endpoint are read: every one that is due, the oldest and tests that are due, or only tests that are due. */
export type RowChoice = 'due' | 'oldest' | 'tests';

export async function selectDueRows(
  db: Db,
  endpoints: ReadonlyArray<{ readonly id: bigint; readonly choice: RowChoice }>,
  limit: number,
): Promise<DueRow[]> {
  const columns = `webhook_id as "webhookId", delivery_id as "deliveryId", pet_id as "petId", created_at as "createdAt",
    attempt_count::int as "attemptCount", retry_count::int as "retryCount", is_replay as "isReplay", next_attempt_at <= now() as "isScheduled"`;
  const { rows } = await db.query<DueRowColumns>({
    name: 'due-rows',
    text: `with row as materialized (
        select due.* from unnest($1::bigint[], $2::text[]) as endpoint (id, choice) cross join lateral (
          (select ${columns} from delivery_exceptions where webhook_id = endpoint.id and status = 'pending' and pet_id is null
            and next_attempt_at <= now() order by delivery_id limit $3)
          union all
          (select ${columns} from delivery_exceptions where choice = 'due' and webhook_id = endpoint.id and status = 'pending'
            and pet_id is not null and next_attempt_at <= now() order by next_attempt_at, delivery_id limit $3)
          union all
          (select ${columns} from delivery_exceptions where choice = 'oldest' and webhook_id = endpoint.id and status = 'pending'
            and pet_id is not null and next_attempt_at < 'infinity' order by delivery_id limit 1)) as due)
      select row.*, event.* from row left join lateral (
        select ${eventContent} from events where position = row."deliveryId" and row."petId" is not null
          and published_at >= row."createdAt" and published_at < row."createdAt" + interval '1 ms') as event on true`,
    values: [endpoints.map(({ id }) => id), endpoints.map(({ choice }) => choice), limit],
  });
  return rows.map((row) => ({ ...row, event: eventOf(row) }));
}

function eventOf(row: DueRowColumns): EventRow | undefined {
  if (row.type === null || row.petId === null) return undefined;
  const { deliveryId, createdAt, petId, ...event } = row;
  return { ...event, petId, position: deliveryId, publishedAt: createdAt };
}
