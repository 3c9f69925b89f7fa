import { requireShelter } from '../../access/admission/access.ts';
import { type AuditAuthor, recordAudit } from '../../access/audit/audit.ts';
import type { Acting, KeyRights } from '../../domain/actor.ts';
import { decidingTypes, inWords, type QuestionType, questionTypeTable, typesWithOptions } from '../../domain/question-types.ts';
import { controls, controlsButLineFeed, findCharacter, reorderings } from '../../platform/characters.ts';
import type { Db, Transactor } from '../../platform/db/handles.ts';
import { AppError, type ErrorCode, show } from '../../platform/errors.ts';
import { findQuestions, lockQuestions, upsertQuestions } from './question-queries.ts';
import { type Answer, optionsMax, type Question } from './question-schemas.ts';

/** The errors of the operations, for the documents. */
export const questionErrors = {
  get: ['shelter_not_found'],
  set: ['shelter_not_found', 'recorded_change_limit'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** Throws if the questions are not those that the caller expects. */
type Expectation = (questions: readonly Question[]) => void;

/** What a shelter asks those who apply for its animals. */
export async function getQuestions(db: Db, shelterId: bigint): Promise<readonly Question[]> {
  const questions = await findQuestions(db, shelterId);
  if (!questions) throw shelterNotFound(String(shelterId));
  return questions;
}

/** Replaces the questions of a shelter. Applications that were sent before keep those of their day. */
export async function setQuestions(
  db: Transactor,
  shelterId: bigint,
  questions: readonly Question[],
  { key, by, expect }: { key: KeyRights & Acting; by: AuditAuthor; expect: Expectation },
): Promise<readonly Question[]> {
  return db.transaction(async (tx) => {
    if (!(await lockQuestions(tx, shelterId))) throw shelterNotFound(String(shelterId));
    requireShelter(key, 'manageShelters', shelterId);
    expect(await getQuestions(tx, shelterId));
    requireValidQuestions(questions);
    await upsertQuestions(tx, shelterId, questions);
    await recordAudit(tx, by, 'shelter.questions_set', { targetId: shelterId, shelterId, after: { questions: questions.length } });
    return questions;
  }, key);
}

/** Here, since this folder is below that of shelters. */
export const shelterNotFound = (id: string) => new AppError('shelter_not_found', `There is no shelter with id ${id.slice(0, 40)}.`);

/** Of all questions of a shelter, as JSON. */
const questionsBytesMax = 65_536;

/** Rejects what the schema can't. */
export function requireValidQuestions(questions: readonly Question[]): void {
  const bytes = Buffer.byteLength(JSON.stringify(questions));
  const [taken, allowed] = [bytes.toLocaleString('en'), questionsBytesMax.toLocaleString('en')];
  const tooLarge = `questions take ${taken} bytes as JSON; ${allowed} are allowed. Shorten texts or options.`;
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

const shownMax = 5;

/** Throws if there is a fault. Each is a sentence; the first five are shown, and the others are counted. */
export function rejectFaults(faults: readonly string[]): void {
  if (faults.length === 0) return;
  const others = faults.length > shownMax ? [`And ${faults.length - shownMax} more.`] : [];
  throw new AppError('invalid_body', [...faults.slice(0, shownMax), ...others].join(' '));
}

/** As an error lists them: not all, if they are many. */
export function listed(items: readonly string[]): string {
  const itemsMax = 10;
  const others = items.length > itemsMax ? [`${items.length - itemsMax} more`] : [];
  return [...items.slice(0, itemsMax), ...others].join(', ');
}
