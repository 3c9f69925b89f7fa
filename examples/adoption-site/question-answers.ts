// What a visitor has answered to a shelter's questions, as the form sends it, and what is missing or wrong.
import type { Question } from '@homeward/sdk';

type Answer = string | boolean | readonly string[];
/** By the ids of the questions. What was left empty is not there. */
export type Answers = ReadonlyMap<string, Answer>;

/** A store accepts as many characters. */
export const answerCharsMax = { line: 200, text: 2_000 };
const contactFaults = /\badopter\.(name|email|phone)\b/g;
/** Not the question that a condition is about. */
const answerFaults = /(?<!\bif )\banswers\.([a-z0-9_]{1,40})\b/g;
/** The kind is in the name of a field, so that what was sent can be read without the questions, which may have changed since. */
const fieldName = /^(text|yes_no|choices)\.([a-z0-9_]{1,40})$/;

export function fieldNameOf({ id, type }: Pick<Question, 'id' | 'type'>): string {
  return `${type === 'yes_no' || type === 'choices' ? type : 'text'}.${id}`;
}

export function readAnswers(sent: URLSearchParams): Answers {
  const answers = new Map<string, Answer>();
  for (const [name, value] of sent) {
    const [, kind, id = ''] = fieldName.exec(name) ?? [];
    if (kind === undefined || value.trim() === '') continue;
    if (kind === 'yes_no') answers.set(id, value === 'yes');
    else if (kind === 'choices') answers.set(id, sent.getAll(name));
    else answers.set(id, value.replaceAll('\r\n', '\n'));
  }
  return answers;
}

/** An answer that others depend on, as the form shows it. */
export const answerText = (answer: string | boolean): string => (typeof answer === 'string' ? answer : answer ? 'Yes' : 'No');

/** Who is asked a question that not everyone is asked. */
export function conditionText({ onlyIf }: Question, questions: readonly Question[]): string {
  const deciding = questions.find(({ id }) => id === onlyIf?.question);
  return `If you answered “${answerText(onlyIf?.is ?? '')}” to “${deciding?.text ?? ''}”`;
}

/**
 * What to say at each question that the store rejects the answer to. The store decides: this repeats its rules only to say all at once, and
 * in words for visitors.
 */
export function findFaults(questions: readonly Question[], answers: Answers): Map<string, string> {
  const faults = new Map<string, string>();
  /** Whether those that depend on these are asked is not known. */
  const unclear = new Set<string>();
  for (const question of questions) {
    const { id, onlyIf } = question;
    const fault = onlyIf && unclear.has(onlyIf.question) ? undefined : faultOf(question, questions, answers);
    if (fault !== undefined) faults.set(id, fault);
    if (fault !== undefined || (onlyIf && unclear.has(onlyIf.question))) unclear.add(id);
  }
  return faults;
}

function faultOf(question: Question, questions: readonly Question[], answers: Answers): string | undefined {
  const { id, type, required, onlyIf } = question;
  const answer = answers.get(id);
  const isAsked = !onlyIf || answers.get(onlyIf.question) === onlyIf.is;
  if (answer === undefined) {
    if (!required || !isAsked) return undefined;
    return type === 'line' || type === 'text' ? 'Please answer this question.' : 'Please choose an answer.';
  }
  if (!isAsked) return `This is asked only ${lowerFirst(conditionText(question, questions))}. Leave it empty, or change that answer.`;
  const charsMax = type === 'line' || type === 'text' ? answerCharsMax[type] : undefined;
  if (charsMax !== undefined && [...String(answer)].length > charsMax)
    return `Please use at most ${charsMax.toLocaleString('en')} characters.`;
  return undefined;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** The fields and questions that a message of the store names. */
export const namedIn = (message: string): { contacts: readonly string[]; questions: readonly string[] } => ({
  contacts: [...message.matchAll(contactFaults)].map(([, field = '']) => field),
  questions: [...message.matchAll(answerFaults)].map(([, id = '']) => id),
});
