import type { Command } from 'commander';
import { pruneCategories } from '../../animals/categories/categories.ts';
import { selectCategories, selectCategoriesByName } from '../../animals/categories/category-queries.ts';
import type { ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { describePostgres } from '../../platform/server-urls.ts';
import { type ConfirmOptions, confirm, named, UsageError } from '../terminal/output.ts';
import { onStore, yesOption } from '../terminal/store-command.ts';

export function addCategoryCommands(program: Command, config: ReadConfig): void {
  const categories = program.command('categories').description('remove unused categories');

  const prune = categories
    .command('prune')
    .description('remove every category that has no name and no animals; removed animals count too')
    .option(...yesOption);
  onStore(prune, config, (options: ConfirmOptions) => async (dependencies) => {
    const store = describePostgres(dependencies.config.databaseUrl);
    await confirm(`Every category without a name and without animals, in ${store}`, 'Remove them?', options);
    const pruned = await pruneCategories(dependencies.db);
    return { json: { pruned }, text: `Removed ${pruned} unused ${pruned === 1 ? 'category' : 'categories'}.` };
  });
}

const listedMax = 20;

/** The id of a category that is given by its id or by its name. An id is not looked up. */
export async function readCategoryId(db: Db, text: string): Promise<bigint> {
  const id = parseInt64(text);
  if (id !== undefined) return id;
  const found = await selectCategoriesByName(db, text, listedMax);
  const [only] = found;
  if (!only) throw new UsageError(`There is no category "${text}". ${await describeCategories(db)}`);
  if (found.length === 1) return only.id;
  throw new UsageError(`Several categories have the name "${text}". Give the id of one: ${found.map((one) => one.id).join(', ')}.`);
}

/** The categories that have a name, as far as they fit a message. */
export async function describeCategories(db: Db): Promise<string> {
  const page = await selectCategories(db, { afterId: undefined, inSecondPart: false, limit: listedMax + 1 });
  const withName = page.filter(({ name }) => name !== undefined);
  if (withName.length === 0) return 'No category has a name yet. Give an id.';
  const shown = withName.slice(0, listedMax).map(({ id, name }) => named(name, id));
  return `There are ${shown.join(', ')}${withName.length > listedMax ? ' and more' : ''}.`;
}
