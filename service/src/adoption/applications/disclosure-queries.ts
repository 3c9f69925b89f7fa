import { unconfirmed } from '../../domain/application-states.ts';
import type { Transaction } from '../../platform/db/handles.ts';
import type { Addressee } from './applicant-queries.ts';

/** Rows about an adopter, as JSON that is ready to be read: ids and times as they are. */
export interface DisclosedRows {
  readonly ids: readonly bigint[];
  readonly json: string;
}

const named = (table: string) => `json_build_object('id', ${table}.id, 'name', ${table}.name)`;

/** Applications of this address: all that is stored of each, with what has become of it and what mail was sent. */
export async function selectDisclosedApplications(
  tx: Transaction,
  { email, address, shelterId }: Addressee,
  {
    mailKinds,
    withUnconfirmed,
    limit,
  }: { readonly mailKinds: readonly string[]; readonly withUnconfirmed: boolean; readonly limit: number },
): Promise<DisclosedRows> {
  const { rows } = await tx.query<DisclosedRows>({
    text: `with found as materialized (
        select * from applications where adopter_address = $2 and lower(adopter_email) = lower($1) and ($3::bigint is null or shelter_id = $3)
          and ($4 or status <> '${unconfirmed}') order by id limit $6)
      select coalesce(array_agg(found.id order by found.id), '{}') as ids, coalesce(json_agg(json_build_object(
        'id', found.id, 'animal', ${named('pets')}, 'shelter', ${named('shelters')}, 'sentBy', clients.name, 'status', found.status,
        'createdAt', found.created_at, 'updatedAt', found.updated_at, 'orderId', found.order_id, 'closedReason', found.closed_reason,
        'name', adopter_name, 'email', adopter_email, 'phone', adopter_phone, 'isAddressConfirmed', is_confirmed,
        'answers', answers::json, 'messageToAdopter', message,
        'notesOfStaff', (select json_agg(json_build_object('at', at, 'text', text) order by application_notes.id)
          from application_notes where application_id = found.id and text is not null),
        'history', (select json_agg(json_build_object('at', at, 'from', from_status, 'to', to_status, 'by', by) order by application_history.id)
          from application_history where application_id = found.id),
        'mail', (select json_agg(json_build_object('kind', kind, 'queuedAt', mail.created_at, 'state', state, 'endedAt', ended_at) order by mail.id)
          from mail where kind = any($5::text[]) and subject_id = found.id)) order by found.id)::text, '[]') as json
      from found join pets on pets.id = pet_id join shelters on shelters.id = found.shelter_id join clients on clients.id = found.client_id`,
    values: [email, address, shelterId, withUnconfirmed, mailKinds, limit],
  });
  return rows[0] ?? { ids: [], json: '[]' };
}

/** The same of orders. */
export async function selectDisclosedOrders(tx: Transaction, { email, shelterId }: Addressee, limit: number): Promise<DisclosedRows> {
  const { rows } = await tx.query<DisclosedRows>({
    text: `with found as materialized (
        select * from orders where lower(adopter_email) = lower($1) and ($2::bigint is null or shelter_id = $2) order by id + 0 limit $3)
      select coalesce(array_agg(found.id order by found.id), '{}') as ids, coalesce(json_agg(json_build_object(
        'id', found.id, 'animal', ${named('pets')}, 'shelter', ${named('shelters')}, 'placedBy', clients.name, 'status', found.status,
        'createdAt', found.created_at, 'updatedAt', found.updated_at, 'expiresAt', expires_at, 'applicationId', application_id,
        'name', adopter_name, 'email', adopter_email,
        'history', (select json_agg(json_build_object('at', at, 'from', from_status, 'to', to_status) order by history.id)
          from history where order_id = found.id and history.pet_id = found.pet_id)) order by found.id)::text, '[]') as json
      from found join pets on pets.id = pet_id join shelters on shelters.id = found.shelter_id join clients on clients.id = found.client_id`,
    values: [email, shelterId, limit],
  });
  return rows[0] ?? { ids: [], json: '[]' };
}
