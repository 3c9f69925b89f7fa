import fastJsonStringify from 'fast-json-stringify';
import { etagOf } from '../../platform/http/protocol/representations.ts';
import { jsonSchema } from '../../platform/http/schemas.ts';
import { type Question, QuestionSchema, ShelterQuestionsSchema } from './question-schemas.ts';

const write = fastJsonStringify(jsonSchema(ShelterQuestionsSchema), { schema: { Question: jsonSchema(QuestionSchema) } });

/** Serializes the questions of a shelter for a response. */
export const questionsJson = (questions: readonly Question[]): string => write({ questions });

/** The same for a read and a write, so that it works as If-Match. */
export const questionsEtag = (questions: readonly Question[]): string => etagOf(questionsJson(questions));
