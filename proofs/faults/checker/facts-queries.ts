// Reads what a database contains at the end of a history.
import type pg from 'pg';
import { connectTo } from '../../../testkit/postgres.ts';
import { type AnimalFact, type EventFact, type Facts, monotonicMs, type OrderFact } from '../history.ts';

const statementTimeoutMs = 30_000;

/** From one snapshot. Works on a standby too. */
export async function readFacts(databaseUrl: string): Promise<Facts> {
  await using client = await connectTo(databaseUrl, { statement_timeout: statementTimeoutMs });
  const read = async <Row extends pg.QueryResultRow>(text: string) => (await client.query<Row>(text)).rows;
  await client.query('begin transaction isolation level repeatable read read only');
  return {
    animals: await read<AnimalFact>(
      `select id::float, name, category_id::float as "categoryId", status, removed_at is not null as "isRemoved" from pets order by id`,
    ),
    orders: await read<OrderFact>(
      `select id::float, pet_id::float as "petId", client_id::float as "clientId", status, coalesce(adopter_email, '') as "adopterEmail"
        from orders order by id`,
    ),
    events: await read<EventFact>(
      `select position::float, type, pet_id::float as "petId", client_id::float as "clientId", data from events order by position`,
    ),
    unpublished: await read<Omit<EventFact, 'position'>>(
      `select type, pet_id::float as "petId", client_id::float as "clientId", data from outbox order by id`,
    ),
    readAtMs: monotonicMs(),
  };
}
