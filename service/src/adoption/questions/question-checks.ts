import { decidingTypes, type QuestionType, typesWithOptions } from '../../domain/question-types.ts';
import { show } from '../../platform/errors.ts';
import { listed, rejectFaults } from './invalid-parts.ts';
import { optionsMax, type Question } from './question-schemas.ts';

/** Of all questions of a shelter, as JSON. */
const questionsBytesMax = 65_536;

/** Rejects what the schema can't. */
export function requireValidQuestions(questions: readonly Question[]): void {
  const bytes = Buffer.byteLength(JSON.stringify(questions));
  const tooLarge = `questions take ${bytes.toLocaleString('en')} bytes as JSON; ${questionsBytesMax.toLocaleString('en')} are allowed. Shorten texts or options.`;
  rejectFaults([...questions.flatMap((_, i) => faultsOf(questions, i)), ...(bytes > questionsBytesMax ? [tooLarge] : [])]);
}

function faultsOf(questions: readonly Question[], index: number): string[] {
  const question = questions[index] as Question;
  const [path, earlier] = [`questions[${index}]`, questions.slice(0, index)];
  const same = earlier.findIndex(({ id }) => id === question.id);
  const repeated = same < 0 ? [] : [`${path}.id must be unique; ${show(question.id)} is also the id of questions[${same}].`];
  return [...repeated, ...faultsOfOptions(path, question), ...faultsOfCondition(path, question, earlier, questions)];
}

function faultsOfOptions(path: string, { type, options }: Question): string[] {
  const isNeeded = typesWithOptions.includes(type);
  if (isNeeded && !options) return [`${path}.options is required for the type ${type}: give 2–${optionsMax} of them.`];
  if (!isNeeded && options)
    return [`${path}.options is only for the types ${typesWithOptions.join(' and ')}; this is ${type}. Leave it out.`];
  return [];
}

function faultsOfCondition(path: string, { onlyIf }: Question, earlier: readonly Question[], all: readonly Question[]): string[] {
  if (!onlyIf) return [];
  const deciding = earlier.find(({ id }) => id === onlyIf.question);
  if (!deciding) {
    const later = all.findIndex(({ id }) => id === onlyIf.question);
    const place = later === earlier.length ? ', which is this question itself' : later < 0 ? '' : `, which is that of questions[${later}]`;
    return [`${path}.onlyIf.question must be the id of an earlier question; got ${show(onlyIf.question)}${place}.`];
  }
  if (!decidingTypes.includes(deciding.type)) {
    return [
      `${path}.onlyIf.question must be a question of the type ${decidingTypes.join(' or ')}; ${show(deciding.id)} is of the type ${deciding.type}.`,
    ];
  }
  const expected = possible(deciding.type, deciding.options ?? []);
  if (expected.values.includes(onlyIf.is)) return [];
  return [
    `${path}.onlyIf.is must be ${expected.inWords}, as ${show(deciding.id)} is of the type ${deciding.type}; got ${show(onlyIf.is)}.`,
  ];
}

const possible = (type: QuestionType, options: readonly string[]): { values: ReadonlyArray<string | boolean>; inWords: string } =>
  typesWithOptions.includes(type)
    ? { values: options, inWords: `one of ${listed(options.map(show))}` }
    : { values: [true, false], inWords: 'true or false' };
