import type { FastifyReply } from 'fastify';
import { whoMay } from '../../access/admission/access.ts';
import {
  callerOf,
  created,
  idReader,
  ifMatch,
  noContent,
  operation,
  page,
  read,
  requireEtag,
  sendJson,
  updated,
} from '../../access/admission/admission-hook.ts';
import { respondOnce } from '../../access/idempotency/idempotent-route.ts';
import type { KeyCaller } from '../../access/principals/principals.ts';
import { deprecations } from '../../domain/deprecations.ts';
import { isUnlimited, scopesThat } from '../../domain/scopes.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import type { Pool } from '../../platform/db/pool.ts';
import { AppError, unavailable } from '../../platform/errors.ts';
import { addLink, type Filters, linkToNext, readCursor, sizeDefault, writeCursor } from '../../platform/http/paging.ts';
import { compress, etagOf } from '../../platform/http/protocol/representations.ts';
import { type Api, etagHeader, idempotencyHeader, PathIds, Ref } from '../../platform/http/schemas.ts';
import type { Catalogue, CatalogueTransaction } from '../list-cache/catalogue.ts';
import { listPage, type PageCache, type PetPage } from '../list-cache/page-cache.ts';
import { petEtag, petJson, petTextJson } from './pet-json.ts';
import { petNotFound } from './pet-locks.ts';
import { type PetText, selectPetTexts } from './pet-queries.ts';
import { type ListPets, ListPetsQuery, NewPetSchema, type Pet, PetChangesSchema, PetSchema } from './pet-schemas.ts';
import { type Adoptions, addPetToCategory, changePet, createPet, getPet, petErrors, removePet } from './pets.ts';

interface Parts {
  readonly db: Db & Pick<Pool, 'isBusy'>;
  readonly catalogue: Catalogue;
  readonly adoptions: Adoptions;
  readonly pages: PageCache;
  readonly clock: Clock;
  readonly config: Pick<Config, 'categories'>;
}

const getPetDeprecation = deprecations['GET /v1/pets/{petId}'];

const petId = PathIds({ petId: 'Identifier of the animal.' });
const common = { tags: ['Pets'] };
const readPetId = idReader(petNotFound);

export function petRoutes(api: Api, { db, catalogue, adoptions, pages, clock, config }: Parts): void {
  api.get(
    '/pets',
    operation({
      scope: 'pets:read',
      ...common,
      operationId: 'listPets',
      summary: 'List animals',
      description: 'Returns a page of animals in ascending order of id. Follow the Link header to read all pages.',
      querystring: ListPetsQuery,
      response: page('A page of animals.', PetSchema),
    }),
    async ({ url, listVersion, query }, reply) => {
      const page = await pages.read(url, listVersion ?? undefined, () => readPetPage(db, query));
      reply.compressBody = (coding) => pages.readCompressed(url, page, coding, () => compress(page.body, coding, 'fast'));
      return sendPetPage(reply, page);
    },
  );

  api.post(
    '/pets',
    operation({
      scope: 'pets:write',
      ...common,
      operationId: 'createPet',
      summary: 'Add an animal',
      description:
        'Unknown fields are ignored. An unknown categoryId registers a new category without a name, up to the daily limit of the plan, unless the store has a closed list of categories.',
      headers: idempotencyHeader,
      body: Ref(NewPetSchema),
      response: created('The created animal.', PetSchema, etagHeader),
      errors: petErrors.create,
    }),
    (request, reply) => {
      const caller = callerOf(request);
      const rules = { categories: config.categories, shelterId: caller.shelterId, registrant: registrantOf(caller) };
      const create = async (tx: CatalogueTransaction) => createdResponse(await createPet(tx, request.body, caller, rules));
      const addToCategory = async () => {
        const pet = await addPetToCategory(catalogue, request.body, caller, rules);
        return pet && createdResponse(pet);
      };
      return respondOnce(catalogue, request, reply, create, { byOneStatement: addToCategory });
    },
  );

  api.get(
    '/pets/:petId',
    operation({
      scope: 'pets:read',
      deprecation: getPetDeprecation,
      ...common,
      operationId: 'getPet',
      summary: 'Get an animal',
      description: 'Deprecated. It will be removed on 5 December 2030 and return 410 from then on. Use GET /pets?id={petId} instead.',
      deprecated: true,
      'x-sunset': getPetDeprecation.sunset.toISOString().slice(0, 10),
      params: petId,
      response: read('The animal.', PetSchema, {
        Deprecation: { type: 'string', description: 'The date since which the operation is deprecated (RFC 9745).' },
        Sunset: { type: 'string', description: 'The date on which it will be removed (RFC 8594).' },
        Link: {
          type: 'string',
          description: 'The deprecation notice, as rel="deprecation", and the replacement, as rel="successor-version".',
        },
      }),
      errors: [...petErrors.get, 'operation_removed'],
    }),
    async ({ params, rehearsal }, reply) => {
      if ((rehearsal?.nowMs ?? clock.now()) >= getPetDeprecation.sunset.getTime()) {
        throw new AppError(
          'operation_removed',
          `This operation was removed on 5 December 2030. Use GET /v1/pets?id=${params.petId.slice(0, 40)} instead.`,
        );
      }
      return sendPet(reply, await getPet(db, readPetId(params.petId)));
    },
  );

  api.patch(
    '/pets/:petId',
    operation({
      scope: scopesThat('editPets'),
      ...common,
      operationId: 'updatePet',
      summary: 'Update an animal',
      description: `Changes the name, the category or the status. The status can't be changed while the animal has an open order, and only by staff: it needs ${whoMay('changePets')}. The rest needs ${whoMay('editPets')}.`,
      'x-stability': 'experimental',
      params: petId,
      headers: ifMatch('animal'),
      body: Ref(PetChangesSchema),
      response: updated('The updated animal.', PetSchema, etagHeader),
      errors: petErrors.change,
    }),
    async (request, reply) => {
      const expect = expectEtag(request.headers['if-match']);
      const caller = callerOf(request);
      const pet = await changePet(catalogue, readPetId(request.params.petId), request.body, caller, {
        expect,
        ...adoptions,
        categories: config.categories,
        registrant: registrantOf(caller),
      });
      return sendPet(reply, pet);
    },
  );

  api.delete(
    '/pets/:petId',
    operation({
      scope: scopesThat('editPets'),
      ...common,
      operationId: 'removePet',
      summary: 'Remove an animal',
      description: `For an animal that was added by mistake. It disappears from every list; its history is kept. An animal with an open order can't be removed. Needs ${whoMay('editPets')}.`,
      'x-stability': 'experimental',
      params: petId,
      headers: ifMatch('animal'),
      response: noContent('The animal was removed.'),
      errors: petErrors.remove,
    }),
    async (request, reply) => {
      const expect = expectEtag(request.headers['if-match']);
      await removePet(catalogue, readPetId(request.params.petId), callerOf(request), { expect, ...adoptions });
      return reply.status(204).send();
    },
  );
}

function createdResponse(pet: Pet) {
  const body = petJson(pet);
  return { status: 201, body, headers: { location: `/v1/pets/${pet.id}`, etag: etagOf(body) } };
}

const registrantOf = ({ scopes, clientId, bounds }: KeyCaller) =>
  isUnlimited(scopes) ? undefined : { clientId, perDayMax: bounds.newCategoriesPerDay };

async function readPetPage(db: Parts['db'], query: ListPets): Promise<PetPage> {
  if (db.isBusy) throw unavailable(new Error('too many statements are in flight to read a list'));
  const { status, categoryId, id, limit = sizeDefault, cursor } = query;
  const filters = filtersOf(query);
  const after = cursor === undefined ? 0n : readCursor(cursor, filters);
  // One more than the page has: it shows that another page follows.
  const found = await selectPetTexts(db, { status, categoryId, ids: id }, { afterId: after, limit: limit + 1 });
  const rows = found.slice(0, limit).map(petTextJson);
  const [last = 0n, following] = found.slice(limit - 1).map(idOf);
  const link = following === undefined ? undefined : linkToNext('/v1/pets', { limit, filters, cursor: writeCursor(last, filters) });
  const body = `[${rows.join(',')}]`;
  const [only] = rows;
  // For a single id it is the animal's own ETag, the same as the deprecated operation returns.
  const etag = only && id?.length === 1 ? etagOf(only) : etagOf(body, link);
  return listPage(body, { link, etag, footprint: { status, categoryId, ids: id && new Set(id), after, last: following } });
}

const idOf = ([id]: PetText): bigint => BigInt(id ?? 0);

const sendPet = (reply: FastifyReply, pet: Pet) => sendJson(reply.header('etag', petEtag(pet)), petJson(pet));

function sendPetPage(reply: FastifyReply, { body, etag, link }: PetPage): FastifyReply {
  if (link) addLink(reply, link);
  return sendJson(reply.header('etag', etag), body);
}

const filtersOf = ({ status, categoryId, id }: ListPets): Filters => ({ status, categoryId: categoryId?.toString(), id: id?.map(String) });

const expectEtag = (given: string | undefined) => (pet: Pet) => requireEtag(given, petEtag(pet), `${pet.name} (id ${pet.id})`);
