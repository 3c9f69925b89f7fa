import { Type } from 'typebox';
import type { Question } from '../../adoption/questions/question-schemas.ts';
import { questionTypeTable } from '../../domain/question-types.ts';
import type { Html } from '../../platform/html.ts';
import type { Choice, Fields } from '../forms/fields.ts';

/** A shelter's questions as fields of a form: at the desk, and as a preview. */
export const answerFieldOf = ({ id }: Pick<Question, 'id'>) => `answer_${id}`;
const yesNo: readonly Choice[] = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
];

/** Whether it must be answered depends on other answers, so the field itself is not required then. */
export function answerPropertyOf({ type, required, onlyIf }: Question) {
  const { lengthMax } = questionTypeTable[type];
  const text = Type.String(lengthMax === undefined ? {} : { maxLength: lengthMax });
  return required && !onlyIf ? text : Type.Optional(text);
}

export function answerField(given: Fields, question: Question, all: readonly Question[]): Html {
  const { text, type, options = [], required, onlyIf } = question;
  const field = answerFieldOf(question);
  const asked = onlyIf && conditionText(onlyIf, all);
  const hint = asked === undefined ? {} : { hint: asked };
  const choices: Choice[] = options.map((value) => ({ value, label: value }));
  if (type === 'line') return given.text(field, text, hint);
  if (type === 'text') return given.area(field, text, hint);
  if (type === 'choices') return given.boxes(field, text, choices, hint);
  const unanswered: Choice[] = required && !onlyIf ? [] : [{ value: '', label: 'No answer' }];
  return given.choices(field, text, [...(type === 'yes_no' ? yesNo : choices), ...unanswered], hint);
}

export const conditionText = ({ question: id, is }: NonNullable<Question['onlyIf']>, all: readonly Question[]): string => {
  const earlier = all.find((one) => one.id === id)?.text ?? id;
  return `Only if “${earlier}” is answered with ${typeof is === 'boolean' ? (is ? 'yes' : 'no') : `“${is}”`}.`;
};
