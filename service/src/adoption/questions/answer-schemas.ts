import { type Static, Type } from 'typebox';
import { answerLengthMax } from '../../domain/question-types.ts';
import { idLengthMax, optionsMax, questionsMax } from './question-schemas.ts';

const length = answerLengthMax.toLocaleString('en');
const example = { garden: true, fence: 'Higher' };

/** The answers in the body of an application. Only their size and their kind: `checkAnswers` compares them to the questions. */
export const GivenAnswersSchema = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  description:
    "The adopter's answers by the ids of the questions: see GET /v1/shelters/{shelterId}/questions. An empty text or array is no answer.",
  maxProperties: questionsMax,
  // More than ids may have, so that a misspelt one is named by an error; less than what an error should show.
  propertyNames: { pattern: `^[\\w-]{1,${idLengthMax}}$` },
  additionalProperties: {
    anyOf: [
      { type: 'string', maxLength: answerLengthMax },
      { type: 'boolean' },
      { type: 'array', maxItems: optionsMax, items: { type: 'string', maxLength: answerLengthMax } },
    ],
    'x-must-be': `a string of at most ${length} characters, true, false, or a list of at most ${optionsMax} strings`,
  },
  'x-must-be': `an object of at most ${questionsMax} answers, by the ids of their questions`,
  examples: [example],
});

/** As it is stored and shown. */
export const AnswerSchema = Type.Object(
  {
    question: Type.String({ description: 'The id of the question.', examples: ['garden'] }),
    text: Type.String({ description: 'The question as it was asked.', examples: ['Do you have a garden?'] }),
    answer: Type.Union([Type.Boolean(), Type.String(), Type.Array(Type.String())], {
      description: 'What the adopter answered.',
      examples: [example.garden],
    }),
  },
  { $id: 'Answer', description: 'An answer, with the question as it was when the application was sent.' },
);
export type Answer = Static<typeof AnswerSchema>;
