import type { Command } from 'commander';
import { findClientNames, findKey } from '../clients/client-queries.ts';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { liftBan, listBans } from '../rate-limit/bans.ts';
import { named } from './names.ts';
import { parseId, printJson, printLines, printTable, UsageError } from './output.ts';

export function addBanCommands(program: Command, config: ReadConfig): void {
  const bans = program.command('bans').description('list and lift temporary bans of keys');

  bans
    .command('list')
    .description('list active bans, the first to end first')
    .option('--json', 'print one JSON array')
    .action(async ({ json }: { json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const { db, redis, redisKeys, clock } = dependencies;
      const bans = await redis.call((client) => listBans(client, redisKeys, clock.now()));
      const names = await findClientNames(db, [...new Set(bans.map(({ clientId }) => BigInt(clientId)))]);
      const rows = bans.map(({ keyId, clientId, until, level }) => {
        const id = BigInt(clientId);
        return { keyId: BigInt(keyId), clientId: id, client: names.get(id), until: new Date(until), level };
      });
      if (json) return printJson(rows);
      return printTable(
        rows.map(({ keyId, clientId, client, until, level }) => ({ key: keyId, client: named(client, clientId), until, level })),
        'No key is banned.',
      );
    });

  bans
    .command('lift')
    .description("lift a key's ban and reset its strikes")
    .argument('<id>', 'the key')
    .option('--json', 'print one JSON object')
    .action(async (id: string, { json }: { json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const { db, redis, redisKeys, clock } = dependencies;
      const key = await findKey(db, parseId(id));
      if (!key) throw new UsageError(`There is no key ${id}.`);
      // No process has to be waited for: whether a key is banned is decided in Redis, by each request with a banned key.
      const lifted = await redis.call((client) => liftBan(client, redisKeys, key, clock.now()));
      if (json) printJson({ id: key.id, lifted });
      else printLines(lifted ? `The ban of key ${id} was lifted.` : `Key ${id} was not banned. Its strikes were reset.`);
    });
}
