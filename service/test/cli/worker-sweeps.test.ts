// What a worker deletes and erases: more than one batch of everything is gone without waiting for the next minute.
import pg from 'pg';
import { expect, inject, test, vi } from 'vitest';
import { cloneTemplate } from '../databases.ts';
import { startWorker } from './homeward-command.ts';

/** Two and a half batches of each kind. */
const fill = `
  insert into clients (name, plan) values ('Paws', 'free');
  insert into pets (name, category_id, status) select 'Animal ' || i, 1, 'available' from generate_series(1, 250) as i;
  insert into orders (client_id, pet_id, expires_at, status, updated_at, adopter_name, adopter_email)
    select 1, id, now(), 'cancelled', now() - interval '1 year', 'Ada', 'ada@example.org' from pets;
  insert into applications (client_id, pet_id, shelter_id, status, is_mailed, closed_reason, updated_at, adopter_name, adopter_email, adopter_address, answers)
    select 1, id, 1, 'closed', false, 'adopted', now() - interval '1 year', 'Ada', 'ada@example.org', 'ada@example.org', '[]' from pets;
  insert into idempotent_answers (client_id, key, fingerprint, shelter_id, created_at, status, headers, body)
    select 1, i::text, '', 0, now() - interval '2 days', 201, '{}', '{}' from generate_series(1, 2500) as i;
  insert into webhooks (client_id, removed_at, status, with_orders, url, secret)
    select 1, now() - interval '40 days', 'disabled', false, 'https://example.org', '' from generate_series(1, 2500) as i;
  insert into delivery_exceptions (webhook_id, delivery_id, created_at, status)
    select 1, i, now() - interval '40 days', 'failed' from generate_series(1, 2500) as i`;

const left = `select
  (select count(*)::int from orders where adopter_email is not null) as adopters,
  (select count(*)::int from applications where coalesce(adopter_name, adopter_email, adopter_address, answers) is not null) as applicants,
  (select count(*)::int from idempotent_answers) as responses,
  (select count(*)::int from delivery_exceptions) as exceptions,
  (select count(*)::int from webhooks) as webhooks`;

test('sweeps repeat at once until nothing is left', async () => {
  const url = await cloneTemplate(inject('postgresUrl'));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // Without the rows that foreign keys ask for.
    await client.query(`set session_replication_role = replica; ${fill}; set session_replication_role = default`);
    expect((await client.query(left)).rows).toEqual([
      { adopters: 250, applicants: 250, responses: 2_500, exceptions: 2_500, webhooks: 2_500 },
    ]);
    await using _ = startWorker({ env: { DATABASE_URL: url, REDIS_URL: inject('redisUrl'), HOMEWARD_ADOPTER_RETENTION: '30' } });
    const isSwept = async () => Object.values((await client.query(left)).rows[0]).every((count) => count === 0);
    // Half of the minute after which a sweep that found nothing runs again.
    await vi.waitUntil(isSwept, { timeout: 30_000, interval: 100 });
  } finally {
    await client.end();
  }
});
