import type { FastifyReply } from 'fastify';
import { whoMay } from '../../access/admission/access.ts';
import { callerOf, idReader, ifMatch, operation, read, requireEtag, sendJson, updated } from '../../access/admission/admission-hook.ts';
import { requestAuthor } from '../../access/audit/audit.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { type Api, etagHeader, PathIds, Ref } from '../../platform/http/schemas.ts';
import { questionsEtag, questionsJson } from './question-json.ts';
import { type Question, ShelterQuestionsSchema } from './question-schemas.ts';
import { getQuestions, questionErrors, setQuestions, shelterNotFound } from './questions.ts';

const common = {
  tags: ['Shelters'],
  'x-stability': 'experimental',
  params: PathIds({ shelterId: 'Identifier of the shelter.' }),
} as const;
const readShelterId = idReader(shelterNotFound);

export function questionRoutes(api: Api, { db }: { readonly db: Transactor }): void {
  api.get(
    '/shelters/:shelterId/questions',
    operation({
      ...common,
      scope: 'pets:read',
      operationId: 'getShelterQuestions',
      summary: 'Get the questions of a shelter',
      description: 'What it asks those who apply for its animals, in the order in which a form should ask it.',
      response: read('The questions. A shelter that asks nothing has an empty list.', ShelterQuestionsSchema),
      errors: questionErrors.get,
    }),
    async ({ params }, reply) => sendQuestions(reply, await getQuestions(db, readShelterId(params.shelterId))),
  );

  api.put(
    '/shelters/:shelterId/questions',
    operation({
      ...common,
      scope: scopesThat('manageShelters'),
      operationId: 'setShelterQuestions',
      summary: 'Replace the questions of a shelter',
      description: `An empty list removes them all. Applications that were sent before keep the questions as they were asked. Needs ${whoMay('manageShelters')}.`,
      headers: ifMatch('list'),
      body: Ref(ShelterQuestionsSchema),
      response: updated('The questions as they are now.', ShelterQuestionsSchema, etagHeader),
      errors: questionErrors.set,
    }),
    async (request, reply) => {
      const shelterId = readShelterId(request.params.shelterId);
      const key = callerOf(request);
      const access = { key, by: requestAuthor(key, request.ip), expect: expectEtag(request.headers['if-match'], shelterId) };
      return sendQuestions(reply, await setQuestions(db, shelterId, request.body.questions, access));
    },
  );
}

const sendQuestions = (reply: FastifyReply, questions: readonly Question[]) =>
  sendJson(reply.header('etag', questionsEtag(questions)), questionsJson(questions));

const expectEtag = (given: string | undefined, shelterId: bigint) => (questions: readonly Question[]) =>
  requireEtag(given, questionsEtag(questions), `The list of questions of shelter ${shelterId}`);
