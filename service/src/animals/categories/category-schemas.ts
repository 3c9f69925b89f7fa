import { type Static, Type } from 'typebox';
import { pageQuery } from '../../platform/http/paging.ts';
import { Int64, PlainName } from '../../platform/http/schemas.ts';

export const CategorySchema = Type.Object(
  {
    id: Int64({ description: 'Identifier chosen by the store.', examples: [1] }),
    name: Type.Optional(Type.String({ description: 'Absent until the store has named the category.', examples: ['Dogs'] })),
  },
  { $id: 'Category', examples: [{ id: 1, name: 'Dogs' }] },
);
export type Category = Static<typeof CategorySchema>;

export const NewCategorySchema = Type.Object(
  { name: PlainName("The category's name.", ['Dogs']) },
  { $id: 'NewCategory', examples: [{ name: 'Dogs' }] },
);

export const categorySchemas = [CategorySchema, NewCategorySchema];

export const ListCategoriesQuery = Type.Object(pageQuery('categories'), { additionalProperties: false });
