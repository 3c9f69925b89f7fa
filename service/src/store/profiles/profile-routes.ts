import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { fieldsOf, type ProfileChanges, type StoredProfile } from '../../domain/profile-fields.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { whoMay } from '../../partners/admission/access.ts';
import { callerOf } from '../../partners/admission/admission-hook.ts';
import { alreadySerialized } from '../../partners/idempotency/idempotent-route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { AppError } from '../../platform/errors.ts';
import { matchesEtag } from '../../platform/http/etags.ts';
import { mergePatchType } from '../../platform/http/json-body.ts';
import { bodyErrors, errorResponses, etagHeader, jsonResponse, notModified, PathIds, Ref } from '../../platform/http/schemas.ts';
import type { Api } from '../../platform/http/type-provider.ts';
import type { Catalogue } from '../list-cache/catalogue.ts';
import type { Pet } from '../pets/pet-schemas.ts';
import { petNotFound } from '../pets/pets.ts';
import { dayOf } from './profile-checks.ts';
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
const ifMatch = Type.Object({
  'if-match': Type.Optional(Type.String({ description: "The profile's ETag. Returns 412 if the profile has changed since." })),
});
const mergedFields = new Intl.ListFormat('en-GB').format([...fieldsOf('group'), ...fieldsOf('fee'), ...fieldsOf('pairs')]);
const written = {
  200: jsonResponse('The profile as it is now.', Ref(ProfileSchema), etagHeader),
  ...errorResponses(...bodyErrors, ...profileErrors.write, 'precondition_failed'),
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
    {
      config: { scope: 'pets:read' },
      schema: {
        operationId: 'getProfile',
        tags: ['Profiles'],
        summary: 'Get the profile of an animal',
        description: 'Every animal has one. What nobody has written yet is null or unknown.',
        'x-stability': 'experimental',
        params: petId,
        response: {
          200: jsonResponse('The profile.', Ref(ProfileSchema), etagHeader),
          304: notModified,
          ...errorResponses(...profileErrors.get),
        },
      },
    },
    async ({ params }, reply) => sendProfile(reply, await getProfile(db, readPetId(params.petId)), clock.now()),
  );

  api.put(
    '/pets/:petId/profile',
    {
      config: { scope: scopesThat('describePets') },
      schema: {
        operationId: 'putProfile',
        tags: ['Profiles'],
        summary: 'Replace the profile of an animal',
        description: `What is left out is removed. Needs ${whoMay('describePets')}.`,
        'x-stability': 'experimental',
        params: petId,
        headers: ifMatch,
        body: Ref(ProfileChangesSchema),
        response: written,
      },
    },
    async (request, reply) => write('replace', request, reply),
  );

  api.patch(
    '/pets/:petId/profile',
    {
      config: { scope: scopesThat('describePets'), mergePatch: true },
      schema: {
        operationId: 'patchProfile',
        tags: ['Profiles'],
        summary: 'Change the profile of an animal',
        description: `A merge patch (RFC 7396): what is left out stays, and null removes a value, also within ${mergedFields}. Needs ${whoMay('describePets')}.`,
        'x-stability': 'experimental',
        consumes: ['application/json', mergePatchType],
        params: petId,
        headers: ifMatch,
        body: Ref(ProfileChangesSchema),
        response: written,
      },
    },
    async (request, reply) => write('merge', request, reply),
  );
}

const sendProfile = (reply: FastifyReply, profile: StoredProfile, nowMs: number) =>
  reply
    .header('etag', profileEtag(profile, dayOf(nowMs)))
    .type('application/json; charset=utf-8')
    .serializer(alreadySerialized)
    .send(profileJson(profile, dayOf(nowMs)));

function readPetId(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) throw petNotFound(text);
  return id;
}

const expectEtag = (given: string | undefined, nowMs: number) => (pet: Pet, profile: StoredProfile) => {
  const etag = profileEtag(profile, dayOf(nowMs));
  if (given === undefined || matchesEtag(given, etag)) return;
  throw new AppError(
    'precondition_failed',
    `The profile of ${pet.name} (id ${pet.id}) has changed: its ETag is now ${etag}. Read it again before you change it.`,
  );
};
