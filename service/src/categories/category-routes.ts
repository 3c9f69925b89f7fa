import { Type } from 'typebox';
import type { Transactor } from '../db/handles.ts';
import { parseInt64 } from '../db/int64.ts';
import { AppError, show } from '../errors.ts';
import { nextLink, readPage, sendPage } from '../http/paging.ts';
import { bodyErrors, errorResponses, etagHeader, jsonResponse, notModified, PathIds, Ref } from '../http/schemas.ts';
import type { Api } from '../http/type-provider.ts';
import { categoryUnknown, nameCategory, removeCategory } from './categories.ts';
import { selectCategories } from './category-queries.ts';
import { type Category, CategorySchema, ListCategoriesQuery, NewCategorySchema } from './category-schemas.ts';

const categoryId = PathIds({ categoryId: 'Identifier of the category.' });

export function categoryRoutes(api: Api, { db }: { readonly db: Transactor }): void {
  api.get(
    '/categories',
    {
      config: { scope: 'pets:read' },
      schema: {
        operationId: 'listCategories',
        tags: ['Categories'],
        summary: 'List categories',
        description:
          'A page of categories: those with a name first, then those without, each in ascending order of id. One that was registered by an animal has no name until the store gives it one.',
        'x-stability': 'beta',
        querystring: ListCategoriesQuery,
        response: {
          200: jsonResponse('A page of categories.', Type.Array(Ref(CategorySchema)), { ...nextLink, ...etagHeader }),
          304: notModified,
          ...errorResponses('invalid_query', 'invalid_cursor'),
        },
      },
    },
    async ({ query }, reply) =>
      sendPage(reply, await readPage('/v1/categories', query, {}, (page) => selectCategories(db, page), isUnnamed)),
  );

  api.put(
    '/categories/:categoryId',
    {
      config: { scope: 'store:manage' },
      schema: {
        operationId: 'putCategory',
        tags: ['Categories'],
        summary: 'Name a category',
        description: 'Makes the category where it does not exist. Any int64 can be its id.',
        'x-stability': 'beta',
        params: categoryId,
        body: Ref(NewCategorySchema),
        response: {
          200: jsonResponse('The category, named anew.', Ref(CategorySchema)),
          201: jsonResponse('The category, made.', Ref(CategorySchema)),
          ...errorResponses(...bodyErrors, 'route_not_found'),
        },
      },
    },
    async ({ params, body }, reply) => {
      const id = parseInt64(params.categoryId);
      if (id === undefined) throw new AppError('route_not_found', `A category's id is an int64; got ${show(params.categoryId)}.`);
      const { category, created } = await nameCategory(db, id, body.name);
      return reply.status(created ? 201 : 200).send(category);
    },
  );

  api.delete(
    '/categories/:categoryId',
    {
      config: { scope: 'store:manage' },
      schema: {
        operationId: 'removeCategory',
        tags: ['Categories'],
        summary: 'Remove a category',
        description: 'For one that was registered by mistake: it must have no name, and no animal, not even one that was taken back.',
        'x-stability': 'experimental',
        params: categoryId,
        response: {
          204: { type: 'null', description: 'The category is removed.' },
          ...errorResponses('category_unknown', 'category_in_use'),
        },
      },
    },
    async ({ params }, reply) => {
      const id = parseInt64(params.categoryId);
      if (id === undefined) throw categoryUnknown(params.categoryId);
      await removeCategory(db, id);
      return reply.status(204).send();
    },
  );
}

const isUnnamed = ({ name }: Category) => name === undefined;
