// Writes service/src/doctor/expected-schema.json, by which doctor knows what the schema has to be: npm run schema
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from '../service/src/db/migrate.ts';
import { applicationRole } from '../service/src/db/pool.ts';
import { readSchema } from '../service/src/doctor/schema-queries.ts';
import { startPostgres } from '../testkit/servers.ts';

const file = fileURLToPath(new URL('../service/src/doctor/expected-schema.json', import.meta.url));

await using server = await startPostgres();
await migrate(server.url);
const client = new pg.Client({ connectionString: server.url });
await client.connect();
writeFileSync(file, `${JSON.stringify(await readSchema(client, applicationRole), undefined, 2)}\n`);
await client.end();
