import { type Static, Type } from 'typebox';
import { answerLengthMax, decidingTypes, inWords, questionTypes, typesWithOptions } from '../../domain/question-types.ts';
import { closedBody, PlainName, Ref, StringEnum } from '../../platform/http/schemas.ts';

export const questionsMax = 40;
export const optionsMax = 30;
const textLengthMax = 500;
export const idLengthMax = 40;

/** The one name that a JSON body can't have: nobody could answer the question. */
const impossibleId = '__proto__';

const QuestionId = (description: string, example: string) =>
  Type.String({
    description,
    pattern: `^(?!${impossibleId}$)[a-z0-9_]{1,${idLengthMax}}$`,
    'x-must-be': `1–${idLengthMax} of the characters a–z, 0–9 and _, and not ${impossibleId}`,
    examples: [example],
  });

const aboutTypes = questionTypes.map((type) => `${type}: ${inWords(type)}.`).join(' ');

const ConditionSchema = closedBody(
  Type.Object(
    {
      question: QuestionId(`The id of an earlier question of the type ${decidingTypes.join(' or ')}.`, 'garden'),
      is: Type.Union([Type.Boolean(), Type.String()], {
        description: 'The answer to it with which this question is asked: true or false, or one of its options.',
        'x-must-be': 'true, false or an option of that question',
        examples: [true],
      }),
    },
    { description: 'Asks the question only of those who have answered an earlier one in this way.' },
  ),
);

export const QuestionSchema = closedBody(
  Type.Object(
    {
      id: QuestionId('Names the question in answers. Unique among the questions of the shelter.', 'fence'),
      text: PlainName('The question, as plain text of one line.', ['How high is the fence around your garden?'], textLengthMax),
      type: StringEnum(questionTypes, { description: `What it is answered with. ${aboutTypes}`, examples: ['choice'] }),
      options: Type.Optional(
        Type.Array(PlainName('An option.', ['Up to 1 m']), {
          description: `What can be chosen. For questions of the type ${typesWithOptions.join(' and ')} only, which need it.`,
          minItems: 2,
          maxItems: optionsMax,
          uniqueItems: true,
          'x-must-be': `a list of 2–${optionsMax} different strings`,
          examples: [['Up to 1 m', 'Higher']],
        }),
      ),
      required: Type.Boolean({ description: 'Whether everyone who is asked it must answer it.', 'x-must-be': 'true or false' }),
      onlyIf: Type.Optional(ConditionSchema),
    },
    { $id: 'Question', description: 'What a shelter asks those who apply for its animals.', 'x-must-be': 'an object' },
  ),
);
export type Question = Static<typeof QuestionSchema>;

const examples = [
  { id: 'garden', text: 'Do you have a garden?', type: 'yes_no', required: true },
  {
    id: 'fence',
    text: 'How high is the fence around your garden?',
    type: 'choice',
    options: ['Up to 1 m', 'Higher'],
    required: true,
    onlyIf: { question: 'garden', is: true },
  },
];

export const ShelterQuestionsSchema = closedBody(
  Type.Object(
    {
      questions: Type.Array(Ref(QuestionSchema), {
        description: 'In the order in which they are asked.',
        maxItems: questionsMax,
        'x-must-be': `a list of at most ${questionsMax} questions`,
      }),
    },
    { $id: 'ShelterQuestions', examples: [{ questions: examples }] },
  ),
);

export const questionSchemas = [QuestionSchema, ShelterQuestionsSchema];

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
