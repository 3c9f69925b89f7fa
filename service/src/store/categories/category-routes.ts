import { Type } from 'typebox';
import type { Transactor } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { AppError, show } from '../../platform/errors.ts';
import { nextLink, readPage, sendPage } from '../../platform/http/paging.ts';
import {
  bodyErrors,
  errorResponses,
  etagHeader,
  jsonResponse,
  locationHeader,
  notModified,
  PathIds,
  Ref,
} from '../../platform/http/schemas.ts';
import type { Api } from '../../platform/http/type-provider.ts';
import { categoryErrors, categoryUnknown, nameCategory, removeCategory } from './categories.ts';
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
          'Returns a page of categories: first the ones with a name, then the ones without, both in ascending order of id. A category that was registered by adding an animal has no name until the store names it.',
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
        description: 'Creates the category if it does not exist. Its id can be any int64.',
        'x-stability': 'beta',
        params: categoryId,
        body: Ref(NewCategorySchema),
        response: {
          200: jsonResponse('The renamed category.', Ref(CategorySchema)),
          201: jsonResponse('The created category.', Ref(CategorySchema), locationHeader),
          ...errorResponses(...bodyErrors, 'route_not_found'),
        },
      },
    },
    async ({ params, body }, reply) => {
      const id = parseInt64(params.categoryId);
      if (id === undefined) throw new AppError('route_not_found', `The id of a category must be an int64; got ${show(params.categoryId)}.`);
      const { category, created } = await nameCategory(db, id, body.name);
      if (created) reply.status(201).header('location', `/v1/categories/${id}`);
      return reply.send(category);
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
        description: 'For a category that was registered by mistake. It must have no name and no animals; removed animals count too.',
        'x-stability': 'experimental',
        params: categoryId,
        response: {
          204: { type: 'null', description: 'The category was removed.' },
          ...errorResponses(...categoryErrors.remove),
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
