import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { callerOf } from '../../partners/admission/admission-hook.ts';
import { alreadySerialized, respondOnce } from '../../partners/idempotency/idempotent-route.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { AppError } from '../../platform/errors.ts';
import { matchesEtag } from '../../platform/http/etags.ts';
import { nextLink, readPage, sendPage } from '../../platform/http/paging.ts';
import {
  bodyErrors,
  errorResponses,
  etagHeader,
  idempotencyErrors,
  idempotencyHeader,
  jsonResponse,
  locationHeader,
  notModified,
  PathIds,
  Ref,
} from '../../platform/http/schemas.ts';
import type { Api } from '../../platform/http/type-provider.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import { petNotFound } from '../pets/pets.ts';
import { movePetToShelter } from './moves.ts';
import { shelterEtag, shelterJson } from './shelter-json.ts';
import { selectShelters } from './shelter-queries.ts';
import {
  ListSheltersQuery,
  NewShelterSchema,
  PetShelterSchema,
  type Shelter,
  ShelterChangesSchema,
  ShelterSchema,
} from './shelter-schemas.ts';
import { changeShelter, createShelter, getShelter, shelterErrors, shelterNotFound } from './shelters.ts';

const path = '/v1/shelters';
const common = { tags: ['Shelters'], 'x-stability': 'experimental' } as const;
const shelterId = PathIds({ shelterId: 'Identifier of the shelter.' });
const ifMatch = Type.Object({
  'if-match': Type.Optional(Type.String({ description: "The shelter's ETag. Returns 412 if the shelter has changed since." })),
});

export function shelterRoutes(api: Api, { db, catalogue }: { readonly db: Transactor; readonly catalogue: Catalogue }): void {
  api.get(
    '/shelters',
    {
      config: { scope: 'pets:read' },
      schema: {
        ...common,
        operationId: 'listShelters',
        summary: 'List shelters',
        description: 'Returns a page of shelters in ascending order of id.',
        querystring: ListSheltersQuery,
        response: {
          200: jsonResponse('A page of shelters.', Type.Array(Ref(ShelterSchema)), { ...nextLink, ...etagHeader }),
          304: notModified,
          ...errorResponses('invalid_query', 'invalid_cursor'),
        },
      },
    },
    async ({ query }, reply) => sendPage(reply, await readPage(path, query, {}, (page) => selectShelters(db, page))),
  );

  api.post(
    '/shelters',
    {
      config: { scope: 'store:manage' },
      schema: {
        ...common,
        operationId: 'createShelter',
        summary: 'Add a shelter',
        description: 'Its staff get keys that are bound to it from the operators of the store.',
        headers: idempotencyHeader,
        body: Ref(NewShelterSchema),
        response: {
          201: jsonResponse('The created shelter.', Ref(ShelterSchema), { ...locationHeader, ...etagHeader }),
          ...errorResponses(...bodyErrors, ...idempotencyErrors),
        },
      },
    },
    (request, reply) =>
      respondOnce(db, request, reply, async (tx) => {
        const shelter = await createShelter(tx, request.body);
        return {
          status: 201,
          body: shelterJson(shelter),
          headers: { location: `${path}/${shelter.id}`, etag: shelterEtag(shelter) },
        };
      }),
  );

  api.get(
    '/shelters/:shelterId',
    {
      config: { scope: 'pets:read' },
      schema: {
        ...common,
        operationId: 'getShelter',
        summary: 'Get a shelter',
        params: shelterId,
        response: {
          200: jsonResponse('The shelter.', Ref(ShelterSchema), etagHeader),
          304: notModified,
          ...errorResponses(...shelterErrors.get),
        },
      },
    },
    async ({ params }, reply) => sendShelter(reply, await getShelter(db, readShelterId(params.shelterId))),
  );

  api.patch(
    '/shelters/:shelterId',
    {
      config: { scope: 'store:manage', mergePatch: true },
      schema: {
        ...common,
        operationId: 'updateShelter',
        summary: 'Update a shelter',
        description: 'A JSON merge patch: what is left out does not change, and null removes a value.',
        params: shelterId,
        headers: ifMatch,
        body: Ref(ShelterChangesSchema),
        response: {
          200: jsonResponse('The updated shelter.', Ref(ShelterSchema), etagHeader),
          ...errorResponses(...bodyErrors, ...shelterErrors.change, 'precondition_failed'),
        },
      },
    },
    async ({ params, headers, body }, reply) =>
      sendShelter(reply, await changeShelter(catalogue, readShelterId(params.shelterId), body, expectEtag(headers['if-match']))),
  );

  api.put(
    '/pets/:petId/shelter',
    {
      config: { scope: 'store:manage' },
      schema: {
        ...common,
        operationId: 'movePet',
        summary: 'Move an animal to a shelter',
        description: 'Its orders and its profile follow: the staff of the new shelter see and act on them from then on.',
        params: PathIds({ petId: 'Identifier of the animal.' }),
        body: Ref(PetShelterSchema),
        response: {
          200: jsonResponse('The shelter that the animal belongs to now.', Ref(PetShelterSchema)),
          ...errorResponses(...bodyErrors, ...shelterErrors.movePet),
        },
      },
    },
    async (request, reply) => {
      const petId = parseInt64(request.params.petId);
      if (petId === undefined) throw petNotFound(request.params.petId);
      const { shelterId: to } = request.body;
      await movePetToShelter({ db, catalogue }, petId, to, callerOf(request));
      return reply.send({ shelterId: to });
    },
  );
}

const sendShelter = (reply: FastifyReply, shelter: Shelter) =>
  reply
    .header('etag', shelterEtag(shelter))
    .type('application/json; charset=utf-8')
    .serializer(alreadySerialized)
    .send(shelterJson(shelter));

function readShelterId(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) throw shelterNotFound(text);
  return id;
}

const expectEtag = (ifMatch: string | undefined) => (shelter: Shelter) => {
  if (ifMatch === undefined || matchesEtag(ifMatch, shelterEtag(shelter))) return;
  throw new AppError(
    'precondition_failed',
    `${shelter.name} (id ${shelter.id}) has changed: its ETag is now ${shelterEtag(shelter)}. Read it again before you change it.`,
  );
};
