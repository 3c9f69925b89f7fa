import { whoMay } from '../../access/admission/access.ts';
import { callerOf, idReader, noContent, operation, read, updated } from '../../access/admission/admission-hook.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/handles.ts';
import { type Api, PathIds, Ref } from '../../platform/http/schemas.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import { HoldSchema, NewHoldSchema } from './hold-schemas.ts';
import { endHold, type FindOrderedPets, getHold, holdErrors, holdPet } from './holds.ts';
import { petNotFound } from './pet-locks.ts';

interface Parts {
  readonly db: Db;
  readonly catalogue: Catalogue;
  readonly findOrderedPets: FindOrderedPets;
  readonly clock: Clock;
}

const path = '/pets/:petId/hold';
const common = {
  tags: ['Pets'],
  'x-stability': 'experimental',
  scope: scopesThat('changePets'),
  params: PathIds({ petId: 'Identifier of the animal.' }),
} as const;
const readPetId = idReader(petNotFound);

export function holdRoutes(api: Api, { db, catalogue, findOrderedPets, clock }: Parts): void {
  api.get(
    path,
    operation({
      ...common,
      operationId: 'getHold',
      summary: 'Get the hold of an animal',
      description: `With the note of staff. Needs ${whoMay('changePets')}.`,
      response: read('The hold.', HoldSchema),
      errors: holdErrors.get,
    }),
    async (request, reply) => reply.send(await getHold(db, readPetId(request.params.petId), callerOf(request))),
  );

  api.put(
    path,
    operation({
      ...common,
      operationId: 'putHold',
      summary: 'Hold an animal',
      description: `For an animal that is not ready to be adopted for a while: an available one becomes pending, and nobody can order it. Applications are still taken, and staff decide on them. Whatever would make the animal available leaves it pending until the hold ends. Replaces the hold that it has. Needs ${whoMay('changePets')}.`,
      body: Ref(NewHoldSchema),
      response: updated('The hold as it is now.', HoldSchema),
      errors: holdErrors.put,
    }),
    async (request, reply) => {
      const options = { findOrderedPets, nowMs: clock.now() };
      return reply.send(await holdPet(catalogue, readPetId(request.params.petId), request.body, callerOf(request), options));
    },
  );

  api.delete(
    path,
    operation({
      ...common,
      operationId: 'endHold',
      summary: 'End the hold of an animal',
      description: `The animal becomes available, unless an order is open or it was pending before. Also succeeds if it is not held. Needs ${whoMay('changePets')}.`,
      response: noContent('The animal is not held.'),
      errors: holdErrors.end,
    }),
    async (request, reply) => {
      await endHold(catalogue, readPetId(request.params.petId), callerOf(request), findOrderedPets);
      return reply.status(204).send();
    },
  );
}
