import type { Command } from 'commander';
import type { ReadConfig } from '../platform/config.ts';
import { describePostgres } from '../platform/server-addresses.ts';
import { pruneCategories } from '../store/categories/categories.ts';
import { type Asked, confirm } from './output.ts';
import { onStore, yesOption } from './store-command.ts';

export function addCategoryCommands(program: Command, config: ReadConfig): void {
  const categories = program.command('categories').description('remove unused categories');

  const prune = categories
    .command('prune')
    .description('remove every category that has no name and no animals; removed animals count too')
    .option(...yesOption);
  onStore(prune, config, (options: Asked) => async (dependencies) => {
    const store = describePostgres(dependencies.config.databaseUrl);
    await confirm(`Every category without a name and without animals, in ${store}`, 'Remove them?', options);
    const pruned = await pruneCategories(dependencies.db);
    return { json: { pruned }, text: `Removed ${pruned} unused ${pruned === 1 ? 'category' : 'categories'}.` };
  });
}
