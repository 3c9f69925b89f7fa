import type { Command } from 'commander';
import { pruneCategories } from '../categories/categories.ts';
import type { ReadConfig } from '../config.ts';
import { openDependencies } from '../dependencies.ts';
import { printJson, printLines } from './output.ts';

export function addCategoryCommands(program: Command, config: ReadConfig): void {
  const categories = program.command('categories').description('remove categories that nobody uses');

  categories
    .command('prune')
    .description('remove every category that has no name and no animal, not even one that was taken back')
    .option('--json', 'print one JSON object')
    .action(async ({ json }: { json?: boolean }) => {
      await using dependencies = await openDependencies(config());
      const pruned = await pruneCategories(dependencies.db);
      if (json) printJson({ pruned });
      else printLines(`${pruned} unused ${pruned === 1 ? 'category' : 'categories'} removed.`);
    });
}
