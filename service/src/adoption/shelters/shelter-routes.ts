import type { FastifyReply } from 'fastify';
import { whoMay } from '../../access/admission/access.ts';
import {
  callerOf,
  created,
  idReader,
  ifMatch,
  operation,
  page,
  read,
  requireEtag,
  sendJson,
  updated,
} from '../../access/admission/admission-hook.ts';
import { requestAuthor } from '../../access/audit/audit.ts';
import { respondOnce } from '../../access/idempotency/idempotent-route.ts';
import type { Catalogue } from '../../animals/list-cache/catalogue.ts';
import { petNotFound } from '../../animals/pets/pet-locks.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { readPage, sendPage } from '../../platform/http/paging.ts';
import { type Api, etagHeader, idempotencyHeader, PathIds, Ref } from '../../platform/http/schemas.ts';
import { shelterNotFound } from '../questions/questions.ts';
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
import { changeShelter, createShelter, getShelter, shelterErrors } from './shelters.ts';

const path = '/v1/shelters';
const common = { tags: ['Shelters'], 'x-stability': 'experimental' } as const;
const shelterId = PathIds({ shelterId: 'Identifier of the shelter.' });
const readShelterId = idReader(shelterNotFound);
const readPetId = idReader(petNotFound);

interface Parts {
  readonly db: Transactor;
  readonly catalogue: Catalogue;
  /** Mail is on. */
  readonly mails: boolean;
}

export function shelterRoutes(api: Api, { db, catalogue, mails }: Parts): void {
  api.get(
    '/shelters',
    operation({
      scope: 'pets:read',
      ...common,
      operationId: 'listShelters',
      summary: 'List shelters',
      description: 'Returns a page of shelters in ascending order of id.',
      querystring: ListSheltersQuery,
      response: page('A page of shelters.', ShelterSchema),
    }),
    async ({ query }, reply) => sendPage(reply, await readPage(path, query, {}, (page) => selectShelters(db, page))),
  );

  api.post(
    '/shelters',
    operation({
      scope: 'store:manage',
      ...common,
      operationId: 'createShelter',
      summary: 'Add a shelter',
      description: 'Its staff get keys that are bound to it from the operators of the store.',
      headers: idempotencyHeader,
      body: Ref(NewShelterSchema),
      response: created('The created shelter.', ShelterSchema, etagHeader),
      errors: shelterErrors.create,
    }),
    (request, reply) =>
      respondOnce(db, request, reply, async (tx) => {
        const shelter = await createShelter(tx, requestAuthor(callerOf(request), request.ip), request.body);
        return {
          status: 201,
          body: shelterJson(shelter),
          headers: { location: `${path}/${shelter.id}`, etag: shelterEtag(shelter) },
        };
      }),
  );

  api.get(
    '/shelters/:shelterId',
    operation({
      scope: 'pets:read',
      ...common,
      operationId: 'getShelter',
      summary: 'Get a shelter',
      params: shelterId,
      response: read('The shelter.', ShelterSchema),
      errors: shelterErrors.get,
    }),
    async ({ params }, reply) => sendShelter(reply, await getShelter(db, readShelterId(params.shelterId))),
  );

  api.patch(
    '/shelters/:shelterId',
    operation({
      scope: scopesThat('manageShelters'),
      ...common,
      operationId: 'updateShelter',
      summary: 'Update a shelter',
      description: `A JSON merge patch: what is left out does not change, and null removes a value. Needs ${whoMay('manageShelters')}.`,
      params: shelterId,
      headers: ifMatch('shelter'),
      body: Ref(ShelterChangesSchema),
      response: updated('The updated shelter.', ShelterSchema, etagHeader),
      errors: shelterErrors.change,
    }),
    async (request, reply) => {
      const key = callerOf(request);
      const access = { key, by: requestAuthor(key, request.ip), expect: expectEtag(request.headers['if-match']), mails };
      return sendShelter(reply, await changeShelter(catalogue, readShelterId(request.params.shelterId), request.body, access));
    },
  );

  api.put(
    '/pets/:petId/shelter',
    operation({
      scope: 'store:manage',
      ...common,
      operationId: 'movePet',
      summary: 'Move an animal to a shelter',
      description:
        'Its orders and its profile follow: the staff of the new shelter see and act on them from then on. A client that has added the animal without a shelter may no longer change it, also if the shelter stays the same.',
      params: PathIds({ petId: 'Identifier of the animal.' }),
      body: Ref(PetShelterSchema),
      response: updated('The shelter that the animal belongs to now.', PetShelterSchema),
      errors: shelterErrors.movePet,
    }),
    async (request, reply) => {
      const { shelterId: to } = request.body;
      await movePetToShelter({ db, catalogue }, readPetId(request.params.petId), to, callerOf(request));
      return reply.send({ shelterId: to });
    },
  );
}

const sendShelter = (reply: FastifyReply, shelter: Shelter) => sendJson(reply.header('etag', shelterEtag(shelter)), shelterJson(shelter));

const expectEtag = (given: string | undefined) => (shelter: Shelter) =>
  requireEtag(given, shelterEtag(shelter), `${shelter.name} (id ${shelter.id})`);
