import type { Command } from 'commander';
import { recordAudit } from '../../access/audit/audit.ts';
import { findKey } from '../../access/clients/client-queries.ts';
import { liftBan, listBans } from '../../access/rate-limit/bans.ts';
import type { Dependencies } from '../../dependencies.ts';
import { theService } from '../../domain/actor.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { commandAuthor } from '../terminal/command-records.ts';
import { named, printTable, UsageError } from '../terminal/output.ts';
import { type CommandResult, onStore, parseId, printsArray } from '../terminal/store-command.ts';
import { clientNamesOf } from './clients.ts';

export function addBanCommands(program: Command, config: ReadConfig): void {
  const bans = program.command('bans').description('list and lift temporary bans of keys');

  const list = bans.command('list').description('list active bans, the first to end first');
  onStore(list, config, () => listActive, printsArray);

  const lift = bans.command('lift').description("lift a key's ban and reset its strikes").argument('<id>', 'the key', parseId);
  onStore(lift, config, (id: bigint) => async ({ db, redis, redisKeys, clock }) => {
    const key = await findKey(db, id);
    if (!key) throw new UsageError(`There is no key ${id}.`);
    // No process has to be waited for: whether a key is banned is decided in Redis, by each request with a banned key.
    const lifted = await db.transaction(async (tx) => {
      await recordAudit(tx, commandAuthor(), 'ban.lifted', { targetId: id, shelterId: key.shelterId });
      return redis.call((client) => liftBan(client, redisKeys, key, clock.now()));
    }, theService);
    const text = lifted ? `The ban of key ${id} was lifted.` : `Key ${id} was not banned. Its strikes were reset.`;
    return { json: { id, lifted }, text };
  });
}

async function listActive({ db, redis, redisKeys, clock }: Dependencies): Promise<CommandResult> {
  const found = await redis.call((client) => listBans(client, redisKeys, clock.now()));
  const bans = found.map(({ keyId, clientId, until, level }) => ({
    keyId: BigInt(keyId),
    clientId: BigInt(clientId),
    until: new Date(until),
    level,
  }));
  const names = await clientNamesOf(db, bans);
  const json = bans.map(({ keyId, clientId, ...ban }) => ({ keyId, clientId, client: names.get(clientId), ...ban }));
  const rows = json.map(({ keyId, clientId, client, until, level }) => ({
    key: keyId,
    client: named(client, clientId),
    until,
    level,
  }));
  return { json, text: () => printTable(rows, 'No key is banned.') };
}
