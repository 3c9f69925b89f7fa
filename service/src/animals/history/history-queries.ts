import type { Author } from '../../domain/actor.ts';
import type { HoldReason, holdChanges } from '../../domain/holds.ts';
import type { OutcomeType, outcomeKind, undoneKind } from '../../domain/outcomes.ts';
import type { StoredProfile } from '../../domain/profile-fields.ts';
import type { ShelterMove } from '../../domain/shelters.ts';
import type { restoredKind } from '../../domain/undo.ts';
import { actIdsOf, type Db, recentTransactionOf, type Transaction } from '../../platform/db/handles.ts';

export type Transition = {
  readonly petId: bigint;
  readonly from: string | null;
  readonly to: string;
  /** For people. Programs read the kind. */
  readonly why: string;
} & (
  | { readonly kind: 'order_status'; readonly orderId: bigint }
  | { readonly kind: 'pet_edited' | 'pet_status' | 'pet_removed' | typeof undoneKind }
  | { readonly kind: typeof outcomeKind; readonly outcome: OutcomeType }
  | { readonly kind: 'pet_moved'; readonly move: ShelterMove }
  | { readonly kind: typeof holdChanges.begin.kind; readonly hold: { readonly reason: HoldReason; readonly until: Date | null } }
  | { readonly kind: typeof holdChanges.end.kind }
  | { readonly kind: 'pet_described'; readonly changed: ReadonlyArray<keyof StoredProfile> }
  | { readonly kind: 'pet_photo_changed'; readonly changed: readonly ('alt' | 'position')[] }
  | { readonly kind: 'pet_photo_added' | 'pet_photo_removed' | typeof restoredKind }
);

const insertion = `insert into history (client_id, key_id, person_id, pet_id, order_id, from_status, to_status, why, kind, from_shelter_id,
      to_shelter_id, hold_reason, hold_until, outcome, changed, act_id, undoes_act_id)
    select $1, $2, $3, pet_id, order_id, from_status, to_status, why, kind, from_shelter_id, to_shelter_id, hold_reason, hold_until, outcome,
      string_to_array(changed, ' '), $16, $17
    from unnest($4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::text[],
        $13::timestamptz[], $14::text[], $15::text[])
      with ordinality as row (pet_id, order_id, from_status, to_status, why, kind, from_shelter_id, to_shelter_id, hold_reason, hold_until,
        outcome, changed, n)
    order by n`;

/** Inserts any number of rows with one statement, in the given order. */
export async function insertTransitions(tx: Transaction, author: Author, transitions: readonly Transition[]): Promise<void> {
  const moves = transitions.map((transition) => (transition.kind === 'pet_moved' ? transition.move : undefined));
  const holds = transitions.map((transition) => (transition.kind === 'pet_held' ? transition.hold : undefined));
  await tx.query({
    name: author.personId === null ? 'insert-transitions' : 'insert-transitions-of-person',
    text:
      author.personId === null
        ? insertion
        : `with added as (${insertion} returning person_id, at, id)
      insert into person_history (person_id, at, history_id) select person_id, at, id from added`,
    values: [
      author.clientId,
      author.keyId,
      author.personId,
      transitions.map(({ petId }) => petId),
      transitions.map((transition) => (transition.kind === 'order_status' ? transition.orderId : null)),
      transitions.map(({ from }) => from),
      transitions.map(({ to }) => to),
      transitions.map(({ why }) => why),
      transitions.map(({ kind }) => kind),
      moves.map((move) => move?.from ?? null),
      moves.map((move) => move?.to ?? null),
      holds.map((hold) => hold?.reason ?? null),
      holds.map((hold) => hold?.until ?? null),
      transitions.map((transition) => ('outcome' in transition ? transition.outcome : null)),
      transitions.map((transition) => ('changed' in transition ? transition.changed.join(' ') : null)),
      ...actIdsOf(tx),
    ],
  });
}

/**
 * The transactions that have changed an animal itself within the last minute, of its last `limit` transitions. The partitions of earlier
 * months are not read.
 */
export async function selectRecentTransactions(tx: Transaction, petId: bigint, limit: number): Promise<string[]> {
  const { rows } = await tx.query<{ transactionId: string }>({
    name: 'recent-transactions',
    text: `select distinct "transactionId" from (
        select ${recentTransactionOf('history', 'at')} as "transactionId" from history
        where pet_id = $1 and order_id is null and at > now() - interval '1 day' order by id desc limit $2) as last
      where "transactionId" is not null`,
    values: [petId, limit],
  });
  return rows.map(({ transactionId }) => transactionId);
}

/**
 * Creates the partitions of the coming months. Returns how many. Writers of animals and orders queue behind the lock: rather later than
 * for long.
 */
export async function makePartitions(tx: Transaction): Promise<number> {
  await tx.query({ text: `set local lock_timeout = '200ms'` });
  const { rows } = await tx.query<{ made: bigint }>({ text: 'select make_history_partitions() as made' });
  return Number(rows[0]?.made ?? 0);
}

/** What was done with an animal or with an order for it, and by whom. */
export interface PastAct {
  readonly id: bigint;
  readonly at: Date;
  /** Null: of the first releases, which recorded changes of the status alone. */
  readonly kind: string | null;
  /** Of the animal, or of the order if it is about one. Null: there was none before. */
  readonly from: string | null;
  readonly to: string;
  readonly orderId: bigint | null;
  readonly holdReason: HoldReason | null;
  readonly holdUntil: Date | null;
  readonly outcome: OutcomeType | null;
  /** Which fields of the profile or of a photo were changed; null: it is about something else. */
  readonly changed: readonly string[] | null;
  /** Names of shelters. */
  readonly fromShelter: string | null;
  readonly toShelter: string | null;
  readonly personId: bigint | null;
  /** Null: nobody, or the name was erased. */
  readonly person: string | null;
  /** Null: of the store. */
  readonly personShelterId: bigint | null;
  /** Null: no key and no person. */
  readonly clientId: bigint | null;
  /** Another one may have the same number, at another time. */
  readonly transactionId: string;
}

/** The newest first, before an id. */
export async function selectActsOfPet(db: Db, petId: bigint, page: { beforeId: bigint; limit: number }): Promise<PastAct[]> {
  const { rows } = await db.query<PastAct>({
    name: 'acts-of-pet',
    text: `select page.id, page.at, kind, from_status as "from", to_status as "to", order_id as "orderId", hold_reason as "holdReason",
        hold_until as "holdUntil", outcome, changed, origin.name as "fromShelter", destination.name as "toShelter",
        person_id as "personId", people.name as person, people.shelter_id as "personShelterId", client_id as "clientId", "transactionId"
      from (select *, xmin::text as "transactionId" from history where pet_id = $1 and id < $2 order by pet_id desc, id desc limit $3) as page
        left join people on people.id = person_id
        left join shelters as origin on origin.id = from_shelter_id left join shelters as destination on destination.id = to_shelter_id
      order by page.id desc`,
    values: [petId, page.beforeId, page.limit],
  });
  return rows;
}
