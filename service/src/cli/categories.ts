import type { Command } from 'commander';
import { pruneCategories } from '../categories/categories.ts';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { describePostgres } from '../server-addresses.ts';
import { confirm, printJson, printLines } from './output.ts';

export function addCategoryCommands(program: Command, config: ReadConfig): void {
  const categories = program.command('categories').description('remove unused categories');

  categories
    .command('prune')
    .description('remove every category that has no name and no animals; removed animals count too')
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async ({ yes, json }: { yes?: boolean; json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const store = describePostgres(dependencies.config.databaseUrl);
      await confirm({ target: `Every category without a name and without animals, in ${store}`, question: 'Remove them?', yes, json });
      const pruned = await pruneCategories(dependencies.db);
      if (json) printJson({ pruned });
      else printLines(`Removed ${pruned} unused ${pruned === 1 ? 'category' : 'categories'}.`);
    });
}
