import type { Question } from '@homeward/sdk';
import { type Html, html } from './html.ts';
import { type Answers, answerCharsMax, answerText, conditionText, fieldNameOf } from './question-answers.ts';

interface Given {
  readonly answers: Answers;
  /** What is wrong, by the ids of the questions. */
  readonly wrong: ReadonlyMap<string, string>;
}

/** More options are a list to open. */
const radiosMax = 7;

/**
 * The fields of a shelter's questions. Questions that only some are asked are in a group that says whom; `public/apply.js` hides the
 * group until it is asked.
 */
export const questionFields = (questions: readonly Question[], given: Given): Html =>
  html`${groupsOf(questions).map((group) => {
    const fields = group.map((question) => questionField(question, given));
    const [first] = group;
    if (!first?.onlyIf) return html`${fields}`;
    const { question: decidingId, is } = first.onlyIf;
    const deciding = questions.find(({ id }) => id === decidingId);
    const value = typeof is === 'string' ? is : answerText(is).toLowerCase();
    return html`<fieldset class="asked-if" data-if="${deciding && fieldNameOf(deciding)}" data-is="${value}"><legend>${conditionText(first, questions)}:</legend>${fields}</fieldset>`;
  })}`;

/** The element to go to if something is wrong with the answer. */
export const questionElementId = (id: string): string => `question-${id}`;

/** Neighbours that are asked under the same condition are one group. */
function groupsOf(questions: readonly Question[]): Question[][] {
  const groups: Question[][] = [];
  for (const question of questions) {
    const last = groups.at(-1);
    const isSame = last?.[0]?.onlyIf?.question === question.onlyIf?.question && last?.[0]?.onlyIf?.is === question.onlyIf?.is;
    if (last && isSame) last.push(question);
    else groups.push([question]);
  }
  return groups;
}

function questionField(question: Question, given: Given): Html {
  const { id, type, options = [] } = question;
  const isList = type === 'choice' && options.length > radiosMax;
  if (type === 'line' || type === 'text' || isList) return singleField(question, given, isList);
  const fault = given.wrong.get(id);
  return html`<fieldset class="field question"${fault !== undefined && html` aria-describedby="${questionElementId(id)}-help"`}><legend>${question.text}${optional(question)}</legend>
${type === 'choices' && html`<p class="small">Choose all that fit.</p>`}
<div class="options">${optionsOf(question, given)}</div>
${faultText(id, fault)}</fieldset>`;
}

function singleField(question: Question, { answers, wrong }: Given, isList: boolean): Html {
  const { id, type, text, options = [] } = question;
  const [elementId, fault, value] = [questionElementId(id), wrong.get(id), answers.get(id)];
  const attributes = html` id="${elementId}" name="${fieldNameOf(question)}"${requirement(question)}${fault !== undefined && html` aria-invalid="true" aria-describedby="${elementId}-help"`}`;
  const typed = typeof value === 'string' ? value : '';
  const field = isList
    ? html`<select${attributes}><option value="">Choose …</option>${options.map((option) => html`<option value="${option}"${option === value && html` selected`}>${option}</option>`)}</select>`
    : type === 'text'
      ? // The line feed after the tag is not part of the value, so that a value may begin with one.
        html`<textarea${attributes} rows="4" maxlength="${answerCharsMax.text}">\n${typed}</textarea>`
      : html`<input${attributes} maxlength="${answerCharsMax.line}" value="${typed}">`;
  return html`<div class="field question"><label for="${elementId}">${text}${optional(question)}</label>
${field}
${faultText(id, fault)}</div>`;
}

function optionsOf(question: Question, { answers }: Given): Html[] {
  const { id, type, required, onlyIf, options = [] } = question;
  const answer = answers.get(id);
  const kind = type === 'choices' ? 'checkbox' : 'radio';
  const isChosen = (value: string) =>
    Array.isArray(answer) ? answer.includes(value) : answer === (type === 'yes_no' ? value === 'yes' : value);
  const offered: ReadonlyArray<readonly [value: string, label: string]> =
    type === 'yes_no'
      ? [
          ['yes', 'Yes'],
          ['no', 'No'],
        ]
      : options.map((option) => [option, option] as const);
  const elementIdOf = (index: number) => `${questionElementId(id)}${index === 0 ? '' : `-${index}`}`;
  const chosen = offered.map(
    ([value, label], index) =>
      html`<label class="tick"><input type="${kind}" id="${elementIdOf(index)}" name="${fieldNameOf(question)}" value="${value}"${type !== 'choices' && requirement(question)}${answer !== undefined && isChosen(value) && html` checked`}> ${label}</label>`,
  );
  // Browsers don't let go of a choice once it is made.
  const isRevocable = kind === 'radio' && (!required || onlyIf !== undefined);
  const none = html`<label class="tick"${required && html` data-unless-guided`}><input type="radio" name="${fieldNameOf(question)}" value=""> ${required ? 'Does not apply' : 'No answer'}</label>`;
  return isRevocable ? [...chosen, none] : chosen;
}

/** Without the script, a field that only some are asked must not be required. */
const requirement = ({ required, onlyIf }: Question): Html | false => required && (onlyIf ? html` data-required` : html` required`);

const optional = ({ required }: Question): Html | false => !required && html` <span class="optional">(optional)</span>`;

const faultText = (id: string, fault: string | undefined): Html | false =>
  fault !== undefined && html`<span class="wrong" id="${questionElementId(id)}-help">${fault}</span>`;
