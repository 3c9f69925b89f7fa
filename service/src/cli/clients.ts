import type { Command } from 'commander';
import { listClients } from '../clients/client-queries.ts';
import { setPlan } from '../clients/clients.ts';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { quotaOf } from '../rate-limit/plans.ts';
import { addLimitOptions, announce, type LimitOptions, readLimits } from './client-changes.ts';
import { parseId, printJson, printTable } from './output.ts';

const listedMax = 1_000;

export function addClientCommands(program: Command, config: ReadConfig): void {
  const clients = program.command('clients').description('list clients and change their plans');

  clients
    .command('list')
    .description('list clients with their plans and numbers of keys in use')
    .option('--after <id>', `continue after this id; ${listedMax} are listed at once`)
    .option('--json', 'print one JSON array')
    .action(async (options: { after?: string; json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const rows = await listClients(dependencies.db, options.after ? parseId(options.after) : 0n, listedMax);
      const shown = rows.map((client) => ({ ...client, ...quotaOf(client) }));
      if (options.json) return printJson(shown);
      return printTable(
        shown.map(({ id, name, plan, perMinute, perDay, keys }) => ({ id, name, plan, 'per minute': perMinute, 'per day': perDay, keys })),
        'There are no clients.',
      );
    });

  addLimitOptions(
    clients
      .command('set-plan')
      .description("change a client's plan; in force from its next request")
      .argument('<name>', 'the client')
      .requiredOption('--plan <plan>', 'free, pro, business or enterprise'),
  )
    .option('--json', 'print one JSON object')
    .action(async (name: string, options: LimitOptions & { json?: boolean }) => {
      const limits = readLimits(options);
      await using dependencies = await openDependencies(config());
      const client = await setPlan(dependencies.db, name, limits);
      await announce(dependencies, client.id);
      const { perMinute, perDay } = quotaOf(client);
      if (options.json) printJson({ ...client, perMinute, perDay });
      else console.log(`${client.name} is on the plan ${client.plan}: ${perMinute} requests a minute, ${perDay} a day.`);
    });
}
