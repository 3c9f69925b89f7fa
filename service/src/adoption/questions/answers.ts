import { inWords, type QuestionType, questionTypeTable } from '../../domain/question-types.ts';
import { controls, controlsButLineFeed, findCharacter, reorderings } from '../../platform/characters.ts';
import { show } from '../../platform/errors.ts';
import type { Answer } from './answer-schemas.ts';
import { listed, rejectFaults } from './invalid-parts.ts';
import type { Question } from './question-schemas.ts';

type Given = Readonly<Record<string, unknown>>;

/**
 * Compares what an adopter has answered, by the ids of the questions, to what the shelter asks. Returns the answers as they are stored, in
 * the order of the questions. Throws `invalid_body` if one is missing, wrong, to a question that does not exist, or to one that is not
 * asked after the other answers: what somebody has written is never lost in silence. An empty text or array is no answer, since forms
 * send them for what was left empty.
 */
export function checkAnswers(questions: readonly Question[], given: Given = {}): Answer[] {
  const found = new Map<string, Answer>();
  const faults = unknownAnswers(questions, given);
  /** Whether those that depend on these are asked is not known. */
  const faulty = new Set<string>();
  for (const question of questions) {
    const { id, text, onlyIf } = question;
    if (onlyIf && faulty.has(onlyIf.question)) {
      faulty.add(id);
      continue;
    }
    const isAsked = !onlyIf || found.get(onlyIf.question)?.answer === onlyIf.is;
    const value = unified(Object.hasOwn(given, id) ? given[id] : undefined);
    const fault = isEmpty(value) ? missing(question, isAsked) : isAsked ? wrong(question, value) : notAsked(question);
    if (fault !== undefined) {
      faults.push(`answers.${id} ${fault}`);
      faulty.add(id);
    } else if (!isEmpty(value)) found.set(id, { question: id, text, answer: value as Answer['answer'] });
  }
  rejectFaults(faults);
  const answers = [...found.values()];
  const bytes = Buffer.byteLength(JSON.stringify(answers));
  if (bytes > answersBytesMax)
    rejectFaults([
      `answers together take ${bytes.toLocaleString('en')} bytes with their questions; at most ${answersBytesMax.toLocaleString('en')} are stored. Shorten them.`,
    ]);
  return answers;
}

/** Of one application, as they are stored. The plan of a client bounds only how many applications are open. */
const answersBytesMax = 65_536;

/** Forms of browsers end lines with both. */
const unified = (value: unknown) => (typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value);

const isEmpty = (value: unknown) =>
  value === undefined || (typeof value === 'string' && value.trim() === '') || (Array.isArray(value) && value.length === 0);

function unknownAnswers(questions: readonly Question[], given: Given): string[] {
  const ids = questions.map(({ id }) => id);
  const unknown = Object.keys(given).filter((name) => !ids.includes(name));
  const asked = ids.length > 0 ? `It asks ${listed(ids)}.` : 'It asks nothing.';
  return unknown.map((name) => `answers.${/^[\w-]{1,40}$/.test(name) ? name : show(name)} is not a question of this shelter. ${asked}`);
}

const missing = ({ required, text }: Question, isAsked: boolean) =>
  isAsked && required ? `is required. The question is ${show(text)}.` : undefined;

const notAsked = ({ onlyIf }: Question) =>
  `is only asked if answers.${onlyIf?.question} is ${show(onlyIf?.is)}. Leave it out, or change the other answer.`;

/** What texts must not contain. */
const rejectedIn: Partial<Record<QuestionType, string>> = { line: controls + reorderings, text: controlsButLineFeed + reorderings };

const checks: Readonly<Record<QuestionType, (value: unknown, question: Question) => string | undefined>> = {
  line: wrongText,
  text: wrongText,
  yes_no: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  choice: (value, { options = [] }) => (isOption(options, value) ? undefined : `must be one of ${listed(options.map(show))}`),
  choices: (value, { options = [] }) =>
    Array.isArray(value) && value.every((one) => isOption(options, one)) && new Set(value).size === value.length
      ? undefined
      : `must be an array of different options: of ${listed(options.map(show))}`,
};

/** What is wrong with an answer that is not empty. */
function wrong(question: Question, value: unknown): string | undefined {
  const fault = checks[question.type](value, question);
  if (fault === undefined) return undefined;
  const rejected = rejectedIn[question.type];
  const character = rejected !== undefined && typeof value === 'string' ? findCharacter(value, rejected) : undefined;
  return `${fault}; got ${show(value)}.${character ? ` It contains ${character}.` : ''}`;
}

function wrongText(value: unknown, { type }: Question): string | undefined {
  const { lengthMax = 0 } = questionTypeTable[type];
  // In characters, as schemas count them. The first comparison bounds the work.
  const fits = typeof value === 'string' && value.length <= 2 * lengthMax && [...value].length <= lengthMax;
  if (fits && findCharacter(value, rejectedIn[type] ?? '') === undefined) return undefined;
  const except = type === 'text' ? ' other than line feeds' : '';
  return `must be ${inWords(type)}, without control characters${except}, lone surrogates or bidirectional overrides`;
}

const isOption = (options: readonly string[], value: unknown) => typeof value === 'string' && options.includes(value);
