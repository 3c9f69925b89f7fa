/** What a question of a shelter is answered with. Schemas, checks of questions and of answers, and the documents use this table. */
const table = {
  line: { meaning: 'one line of text', lengthMax: 200 },
  text: { meaning: 'a text of several lines', lengthMax: 2_000 },
  yes_no: { meaning: 'true or false', decides: true },
  choice: { meaning: 'one of the options', hasOptions: true, decides: true },
  choices: { meaning: 'an array of different options', hasOptions: true },
} as const satisfies Record<string, QuestionTypeRow>;

interface QuestionTypeRow {
  readonly meaning: string;
  /** In characters. */
  readonly lengthMax?: number;
  readonly hasOptions?: true;
  /** Whether a later question is asked may depend on the answer. */
  readonly decides?: true;
}

export type QuestionType = keyof typeof table;

export const questionTypeTable: Readonly<Record<QuestionType, QuestionTypeRow>> = table;
export const questionTypes = Object.keys(table) as QuestionType[];

const typesWhere = (matches: (row: QuestionTypeRow) => boolean) => questionTypes.filter((type) => matches(questionTypeTable[type]));

export const typesWithOptions = typesWhere(({ hasOptions }) => hasOptions === true);
export const decidingTypes = typesWhere(({ decides }) => decides === true);
/** For documents and messages. */
export function inWords(type: QuestionType): string {
  const { meaning, lengthMax } = questionTypeTable[type];
  return lengthMax === undefined ? meaning : `${meaning} of at most ${lengthMax.toLocaleString('en')} characters`;
}

export const answerLengthMax = Math.max(...questionTypes.map((type) => questionTypeTable[type].lengthMax ?? 0));
