import type { FastifyReply, FastifyRequest } from 'fastify';
import { whoMay } from '../../access/admission/access.ts';
import { callerOf, idReader, ifMatch, operation, read, requireEtag, sendJson, updated } from '../../access/admission/admission-hook.ts';
import { fieldsOf, type ProfileChanges, type StoredProfile } from '../../domain/profile-fields.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/handles.ts';
import { mergePatchType } from '../../platform/http/json-body.ts';
import { type Api, etagHeader, PathIds, Ref } from '../../platform/http/schemas.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import { petNotFound } from '../pets/pet-locks.ts';
import type { Pet } from '../pets/pet-schemas.ts';
import { dayOf } from './profile-changes.ts';
import { profileEtag, profileJson } from './profile-json.ts';
import { ProfileChangesSchema, ProfileSchema } from './profile-schemas.ts';
import { getProfile, profileErrors, writeProfile } from './profiles.ts';

interface Parts {
  readonly db: Db;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
}

type WriteRequest = FastifyRequest & { readonly params: { readonly petId: string }; readonly body: ProfileChanges };

const petId = PathIds({ petId: 'Identifier of the animal.' });
const readPetId = idReader(petNotFound);
const mergedFields = new Intl.ListFormat('en-GB').format([...fieldsOf('group'), ...fieldsOf('fee'), ...fieldsOf('pairs')]);
const common = { tags: ['Profiles'], 'x-stability': 'experimental', params: petId } as const;
const written = {
  ...common,
  scope: scopesThat('describePets'),
  headers: ifMatch('profile'),
  body: Ref(ProfileChangesSchema),
  response: updated('The profile as it is now.', ProfileSchema, etagHeader),
  errors: profileErrors.write,
};

export function profileRoutes(api: Api, { db, catalogue, clock }: Parts): void {
  const write = async (how: 'replace' | 'merge', request: WriteRequest, reply: FastifyReply) => {
    const nowMs = clock.now();
    const profile = await writeProfile({ db, catalogue }, readPetId(request.params.petId), callerOf(request), {
      how,
      changes: request.body,
      nowMs,
      expect: expectEtag(request.headers['if-match'], nowMs),
    });
    return sendProfile(reply, profile, nowMs);
  };

  api.get(
    '/pets/:petId/profile',
    operation({
      ...common,
      scope: 'pets:read',
      operationId: 'getProfile',
      summary: 'Get the profile of an animal',
      description: 'Every animal has one. What nobody has written yet is null or unknown.',
      response: read('The profile.', ProfileSchema),
      errors: profileErrors.get,
    }),
    async ({ params }, reply) => sendProfile(reply, await getProfile(db, readPetId(params.petId)), clock.now()),
  );

  api.put(
    '/pets/:petId/profile',
    operation({
      ...written,
      operationId: 'putProfile',
      summary: 'Replace the profile of an animal',
      description: `What is left out is removed. Needs ${whoMay('describePets')}.`,
    }),
    async (request, reply) => write('replace', request, reply),
  );

  api.patch(
    '/pets/:petId/profile',
    operation({
      ...written,
      operationId: 'patchProfile',
      summary: 'Change the profile of an animal',
      description: `A merge patch (RFC 7396): what is left out stays, and null removes a value, also within ${mergedFields}. Needs ${whoMay('describePets')}.`,
      consumes: ['application/json', mergePatchType],
    }),
    async (request, reply) => write('merge', request, reply),
  );
}

const sendProfile = (reply: FastifyReply, profile: StoredProfile, nowMs: number) =>
  sendJson(reply.header('etag', profileEtag(profile, dayOf(nowMs))), profileJson(profile, dayOf(nowMs)));

const expectEtag = (given: string | undefined, nowMs: number) => (pet: Pet, profile: StoredProfile) =>
  requireEtag(given, profileEtag(profile, dayOf(nowMs)), `The profile of ${pet.name} (id ${pet.id})`);
