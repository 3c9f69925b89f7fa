import { callerOf, created, idReader, noContent, operation, page, updated } from '../../access/admission/admission-hook.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { AppError, show } from '../../platform/errors.ts';
import { readPage, sendPage } from '../../platform/http/paging.ts';
import { type Api, PathIds, Ref } from '../../platform/http/schemas.ts';
import { categoryErrors, categoryUnknown, nameCategory, removeCategory } from './categories.ts';
import { selectCategories } from './category-queries.ts';
import { type Category, CategorySchema, ListCategoriesQuery, NewCategorySchema } from './category-schemas.ts';

const categoryId = PathIds({ categoryId: 'Identifier of the category.' });
const readCategoryId = idReader(categoryUnknown);
const readNewId = idReader((text) => new AppError('route_not_found', `The id of a category must be an int64; got ${show(text)}.`));

export function categoryRoutes(api: Api, { db }: { readonly db: Transactor }): void {
  api.get(
    '/categories',
    operation({
      scope: 'pets:read',
      operationId: 'listCategories',
      tags: ['Categories'],
      summary: 'List categories',
      description:
        'Returns a page of categories: first the ones with a name, then the ones without, both in ascending order of id. A category that was registered by adding an animal has no name until the store names it.',
      'x-stability': 'beta',
      querystring: ListCategoriesQuery,
      response: page('A page of categories.', CategorySchema),
    }),
    async ({ query }, reply) =>
      sendPage(reply, await readPage('/v1/categories', query, {}, (page) => selectCategories(db, page), isUnnamed)),
  );

  api.put(
    '/categories/:categoryId',
    operation({
      scope: 'store:manage',
      operationId: 'putCategory',
      tags: ['Categories'],
      summary: 'Name a category',
      description: 'Creates the category if it does not exist. Its id can be any int64.',
      'x-stability': 'beta',
      params: categoryId,
      body: Ref(NewCategorySchema),
      response: { ...updated('The renamed category.', CategorySchema), ...created('The created category.', CategorySchema) },
      errors: ['route_not_found'],
    }),
    async (request, reply) => {
      const { params, body } = request;
      const id = readNewId(params.categoryId);
      const { category, created: isNew } = await nameCategory(db, id, body.name, callerOf(request));
      if (isNew) reply.status(201).header('location', `/v1/categories/${id}`);
      return reply.send(category);
    },
  );

  api.delete(
    '/categories/:categoryId',
    operation({
      scope: 'store:manage',
      operationId: 'removeCategory',
      tags: ['Categories'],
      summary: 'Remove a category',
      description: 'For a category that was registered by mistake. It must have no name and no animals; removed animals count too.',
      'x-stability': 'experimental',
      params: categoryId,
      response: noContent('The category was removed.'),
      errors: categoryErrors.remove,
    }),
    async (request, reply) => {
      await removeCategory(db, readCategoryId(request.params.categoryId), callerOf(request));
      return reply.status(204).send();
    },
  );
}

const isUnnamed = ({ name }: Category) => name === undefined;
