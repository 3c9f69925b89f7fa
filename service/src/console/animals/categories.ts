import type { Db } from '../../platform/db/handles.ts';
import { readNamedCategories } from '../../store/categories/categories.ts';
import type { Choice } from '../forms/fields.ts';

const namedMax = 200;

/** The categories that staff have named, by name. A store without names has none to choose from: then a number is typed. */
export async function categoryChoices(db: Db): Promise<Choice[]> {
  const categories = await readNamedCategories(db, namedMax);
  return categories.toSorted((a, b) => a.name.localeCompare(b.name)).map(({ id, name }) => ({ value: id, label: name }));
}
