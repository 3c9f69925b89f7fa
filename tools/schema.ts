// Writes service/src/operations/doctor/expected-schema.json, by which doctor knows what the schema has to be: npm run schema
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readSchema } from '../service/src/operations/doctor/schema-queries.ts';
import { migrate } from '../service/src/platform/db/migrate.ts';
import { applicationRole } from '../service/src/platform/db/pool.ts';
import { connectTo } from '../testkit/postgres.ts';
import { startPostgres } from '../testkit/servers.ts';

const file = fileURLToPath(new URL('../service/src/operations/doctor/expected-schema.json', import.meta.url));

await using server = await startPostgres();
await migrate(server.url);
await using client = await connectTo(server.url);
writeFileSync(file, `${JSON.stringify(await readSchema(client, applicationRole), undefined, 2)}\n`);
