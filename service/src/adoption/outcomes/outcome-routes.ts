import { Type } from 'typebox';
import { whoMay } from '../../access/admission/access.ts';
import {
  callerOf,
  created,
  idReader,
  ifMatch,
  operation,
  read,
  requireEtag,
  sendJson,
  updated,
} from '../../access/admission/admission-hook.ts';
import { respondOnce } from '../../access/idempotency/idempotent-route.ts';
import type { Catalogue } from '../../animals/list-cache/catalogue.ts';
import { petEtag, petJson } from '../../animals/pets/pet-json.ts';
import { petNotFound } from '../../animals/pets/pet-locks.ts';
import { PetSchema } from '../../animals/pets/pet-schemas.ts';
import { outcomeUndoing } from '../../domain/outcomes.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type Api, etagHeader, idempotencyErrors, idempotencyHeader, PathIds, Ref } from '../../platform/http/schemas.ts';
import { NewOutcomeSchema, OutcomeSchema, outcomeJson } from './outcome-schemas.ts';
import { getOutcome, outcomeErrors, recordOutcome, undoOutcome } from './outcomes.ts';

const path = '/pets/:petId/outcome';
const common = {
  tags: ['Pets'],
  'x-stability': 'experimental',
  scope: scopesThat('changePets'),
  params: PathIds({ petId: 'Identifier of the animal.' }),
} as const;
const needs = `Needs ${whoMay('changePets')}.`;
const conditionalPost = Type.Object({ ...idempotencyHeader.properties, ...ifMatch('animal').properties });
const readPetId = idReader(petNotFound);

export function outcomeRoutes(api: Api, { db, catalogue }: { readonly db: Db; readonly catalogue: Catalogue }): void {
  api.post(
    path,
    operation({
      ...common,
      operationId: 'recordOutcome',
      summary: 'Record an outcome',
      description: `For an animal that has left the shelter without being adopted here. It disappears from every list, its open applications are closed, and partners are not told the type. For ${outcomeUndoing.days} days it can be undone, and as long its profile and photos are kept. ${needs}`,
      headers: conditionalPost,
      body: Ref(NewOutcomeSchema),
      response: created('The outcome.', OutcomeSchema),
      errors: [...outcomeErrors.record, ...idempotencyErrors],
    }),
    (request, reply) => {
      const petId = readPetId(request.params.petId);
      const given = request.headers['if-match'];
      return respondOnce(catalogue, request, reply, async (tx) => {
        const outcome = await recordOutcome(tx, petId, request.body.type, callerOf(request), (pet) =>
          requireEtag(given, petEtag(pet), `${pet.name} (id ${pet.id})`),
        );
        return { status: 201, body: outcomeJson(outcome), headers: { location: `/v1/pets/${petId}/outcome` } };
      });
    },
  );

  api.get(
    path,
    operation({
      ...common,
      operationId: 'getOutcome',
      summary: 'Get an outcome',
      description: `How an animal has left the store. ${needs}`,
      response: read('The outcome.', OutcomeSchema),
      errors: outcomeErrors.get,
    }),
    async (request, reply) => sendJson(reply, outcomeJson(await getOutcome(db, readPetId(request.params.petId), callerOf(request)))),
  );

  api.delete(
    path,
    operation({
      ...common,
      operationId: 'undoOutcome',
      summary: 'Undo an outcome',
      description: `Brings the animal back with its profile and photos, within ${outcomeUndoing.days} days. It is ${outcomeUndoing.to}, until staff make it available. ${needs}`,
      response: updated('The animal, which is listed again.', PetSchema, etagHeader),
      errors: outcomeErrors.undo,
    }),
    async (request, reply) => {
      const pet = await undoOutcome({ db, catalogue }, readPetId(request.params.petId), callerOf(request));
      return sendJson(reply.header('etag', petEtag(pet)), petJson(pet));
    },
  );
}
