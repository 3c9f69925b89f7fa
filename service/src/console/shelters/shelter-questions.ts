import { Type } from 'typebox';
import { requireEtag } from '../../access/admission/admission-hook.ts';
import { questionsEtag } from '../../adoption/questions/question-json.ts';
import { idLengthMax, optionsMax, type Question, QuestionSchema, questionsMax } from '../../adoption/questions/question-schemas.ts';
import { getQuestions, setQuestions } from '../../adoption/questions/questions.ts';
import { decidingTypes, type QuestionType, questionTypes, typesWithOptions } from '../../domain/question-types.ts';
import { controls, findCharacter, reorderings } from '../../platform/characters.ts';
import { AppError } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';
import { StringEnum } from '../../platform/http/schemas.ts';
import { type Choice, Fields } from '../forms/fields.ts';
import { emptyState, icon, table } from '../frame/elements.ts';
import { FormError, faultsOf, notFound } from '../screens/page-error.ts';
import type { PageRoute, Screens, Submission } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { getSettled, type ShelterParts, shelterHead, shelterPath, shelterPathOf, toSettle } from './one-shelter.ts';
import { answerField, answerFieldOf, answerPropertyOf, conditionText } from './question-fields.ts';

const { id: questionId, text } = QuestionSchema.properties;
const one = Type.Object({ id: questionId });
const asked = Type.Object({
  /** Of the question that is changed; empty: a new one. */
  id: Type.Optional(Type.String({ maxLength: idLengthMax })),
  text,
  type: StringEnum(questionTypes),
  options: Type.Optional(Type.String({ maxLength: 8_000 })),
  required: Type.Boolean(),
  /** Which answer to an earlier question it depends on: `id=answer`. */
  onlyIf: Type.Optional(Type.String({ maxLength: 700 })),
});

const typeWords: Readonly<Record<QuestionType, { readonly name: string; readonly hint?: string }>> = {
  yes_no: { name: 'Yes or no' },
  choice: { name: 'One of several', hint: 'Write the answers to choose from below.' },
  choices: { name: 'Any of several', hint: 'Write the answers to choose from below.' },
  line: { name: 'A line of text' },
  text: { name: 'A longer text' },
};

/** What the shelter asks those who apply, and how that looks to them. */
export function addShelterQuestions(screens: Screens, { db }: ShelterParts): void {
  const path = `${shelterPath}/questions`;
  const pathIn = (visit: Visit) => `${shelterPathOf({ id: visit.id('shelterId') })}/questions`;

  const list: PageRoute = screens.page({
    path,
    needs: toSettle,
    show: async (visit) => {
      const shelter = await getSettled(db, visit);
      const questions = await getQuestions(db, shelter.id);
      const version = questionsEtag(questions);
      return {
        title: 'Questions',
        main: html`${shelterHead(shelter, 'Questions')}
<p>Everybody who applies for one of your animals answers them, here or on the site of a partner.
Applications that were sent before keep the questions as they were.</p>
${questions.length === 0 ? noQuestions : questionTable(visit, questions, version)}
${questions.length >= questionsMax ? noMore : html`<p><a class="button" href="${pathIn(visit)}/edit" data-key="n">${icon('plus')}Add a question</a></p>`}
${questions.length > 0 && preview(questions)}`,
      };
    },
  });

  const questionTable = (visit: Visit, questions: readonly Question[], version: string): Html =>
    table('Questions, in the order in which they are asked', questions, [
      {
        name: 'Question',
        cell: (question) => html`<span><a href="${pathIn(visit)}/edit?question=${question.id}" data-row><bdi>${question.text}</bdi></a>
${question.onlyIf && html`<span class="soft small">${conditionText(question.onlyIf, questions)}</span>`}</span>`,
      },
      { name: 'Answer', cell: ({ type }) => typeWords[type].name },
      { name: 'Must be answered', cell: ({ required }) => (required ? 'yes' : 'no') },
      {
        name: 'Acts',
        isActs: true,
        cell: (question) =>
          question !== questions[0] &&
          visit.form(
            raise,
            {
              submit: html`Ask earlier<span class="hidden">: ${question.text}</span>`,
              tone: 'quiet',
              isInline: true,
              values: { id: question.id },
              version,
            },
            (fields) => fields.hidden('id'),
          ),
      },
    ]);

  const edit: PageRoute = screens.page({
    path: `${path}/edit`,
    needs: toSettle,
    show: async (visit) => {
      const shelter = await getSettled(db, visit);
      const questions = await getQuestions(db, shelter.id);
      const version = questionsEtag(questions);
      const id = visit.rejected?.values.get('id') ?? visit.query.get('question') ?? '';
      const question = questions.find((known) => known.id === id);
      if (id !== '' && !question) throw notFound('There is no such question any more.');
      const earlier = question ? questions.slice(0, questions.indexOf(question)) : questions;
      const title = question ? 'Change a question' : 'New question';
      const values = question
        ? { ...question, options: question.options?.join('\n'), onlyIf: question.onlyIf && conditionValue(question.onlyIf) }
        : { type: 'yes_no', required: true };
      return {
        title,
        main: html`<a class="crumb" href="${pathIn(visit)}">${icon('back')}Questions</a>
<h1>${title}</h1>
<section class="card">${visit.form(
          save,
          { submit: 'Save', values, version },
          (fields) => html`${fields.hidden('id')}
${fields.text('text', 'Question', { isFirst: !question })}
${fields.choices('type', 'Answered with', typeChoices)}
${fields.area('options', 'Answers to choose from', { hint: `One on each line, ${2} to ${optionsMax}. For “one of several” and “any of several” alone.` })}
${fields.check('required', 'Must be answered')}
${conditionsOf(earlier).length > 1 && fields.select('onlyIf', 'Asked', conditionsOf(earlier))}`,
        )}</section>
${
  question &&
  html`<section class="card"><h2>Remove</h2>
<p>New forms ask it no more. Answers that were given stay with their applications.</p>
${visit.form(remove, { submit: 'Remove the question', tone: 'danger', values: { id: question.id }, version }, (fields) => fields.hidden('id'))}</section>`
}`,
      };
    },
  });

  const explainConflict = async () => 'Somebody else has changed the questions meanwhile.';

  /** Replaces the questions as the page has shown them. */
  async function replace(
    { visit, joined, version }: Pick<Submission<unknown>, 'visit' | 'joined' | 'version'>,
    change: (questions: readonly Question[]) => readonly Question[],
    done: string,
  ) {
    const { caller } = visit;
    const { id } = await getSettled(joined, visit);
    const changed = change(await getQuestions(joined, id));
    const expect = (now: readonly Question[]) => requireEtag(version, questionsEtag(now), 'The list of questions');
    await setQuestions(joined, id, changed, { key: caller, by: caller, expect }).catch((error: unknown) => {
      throw error instanceof AppError && error.code === 'invalid_body' ? new FormError(inOwnWords(error.message)) : error;
    });
    return { to: pathIn(visit), done };
  }

  const save = screens.form({
    path: `${path}/edit`,
    page: edit,
    needs: toSettle,
    fields: asked,
    explainConflict,
    check: async (_, values) => faultsOf(() => values.type && optionsFor(values.type, values.options)),
    act: (submission) => {
      const { id, text: words, type, options, required, onlyIf } = submission.values;
      const given = optionsFor(type, options);
      const condition = onlyIf ? readCondition(onlyIf) : undefined;
      const about = { text: words, type, ...(given && { options: given }), required, ...(condition && { onlyIf: condition }) };
      return replace(
        submission,
        (questions) =>
          id
            ? questions.map((known) => (known.id === id ? { id, ...about } : known))
            : [...questions, { id: newId(words, questions), ...about }],
        id ? 'The question is saved.' : 'The question is added. This is how the form looks now.',
      );
    },
  });

  const raise = screens.form({
    path: `${path}/earlier`,
    page: list,
    needs: toSettle,
    fields: one,
    explainConflict,
    act: (submission) =>
      replace(
        submission,
        (questions) => {
          const at = questions.findIndex(({ id }) => id === submission.values.id);
          const moved = questions[at];
          return moved && at > 0
            ? [...questions.slice(0, at - 1), moved, ...questions.slice(at - 1, at), ...questions.slice(at + 1)]
            : questions;
        },
        'It is asked earlier now.',
      ),
  });

  const remove = screens.form({
    path: `${path}/remove`,
    page: edit,
    needs: toSettle,
    fields: one,
    explainConflict,
    act: (submission) =>
      replace(submission, (questions) => questions.filter(({ id }) => id !== submission.values.id), 'The question is removed.'),
  });
}

const noQuestions = emptyState('heart', 'No questions yet', 'Ask what helps you to choose, such as whether there is a garden.');
const noMore = html`<p>These are ${questionsMax}, as many as there can be.</p>`;

const typeChoices: readonly Choice[] = questionTypes.map((type) => {
  const { name, hint } = typeWords[type];
  return { value: type, label: name, ...(hint !== undefined && { hint }) };
});

/** As adopters see them. Nothing can be sent. */
function preview(questions: readonly Question[]): Html {
  const schema = Type.Object(Object.fromEntries(questions.map((question) => [answerFieldOf(question), answerPropertyOf(question)])));
  const fields = new Fields(schema, {}, undefined, 'preview-');
  return html`<section class="card"><h2>What adopters see</h2>
<fieldset class="form preview" disabled><legend class="hidden">The form, to look at</legend>
${questions.map((question) => answerField(fields, question, questions))}</fieldset></section>`;
}

/** Undefined: a question of this type has none. */
function optionsFor(type: QuestionType, typed = ''): string[] | undefined {
  const options = [...new Set(typed.split('\n').map((line) => line.trim()))].filter((line) => line !== '');
  if (!typesWithOptions.includes(type)) {
    if (options.length > 0) throw new FormError(`“${typeWords[type].name}” has no answers to choose from: leave this empty.`, 'options');
    return undefined;
  }
  if (options.length < 2 || options.length > optionsMax)
    throw new FormError(`Write 2 to ${optionsMax} answers to choose from, each on its own line; these are ${options.length}.`, 'options');
  for (const option of options) {
    if ([...option].length > optionLengthMax) throw new FormError(`An answer has at most ${optionLengthMax} characters.`, 'options');
    const character = findCharacter(option, controls + reorderings);
    if (character) throw new FormError(`Remove the character ${character}, which can't be stored.`, 'options');
  }
  return options;
}

const optionLengthMax = 200;

/** Every answer to an earlier question that can decide. */
const conditionsOf = (earlier: readonly Question[]): Choice[] => [
  { value: '', label: 'of everybody' },
  ...earlier
    .filter(({ type }) => decidingTypes.includes(type))
    .flatMap((question) =>
      (question.type === 'yes_no' ? [true, false] : (question.options ?? [])).map((is) => ({
        value: conditionValue({ question: question.id, is }),
        label: `only if “${question.text}” is answered with ${typeof is === 'boolean' ? (is ? 'yes' : 'no') : `“${is}”`}`,
      })),
    ),
];

/** true and false are no texts: an option may be called so. */
const conditionValue = ({ question, is }: NonNullable<Question['onlyIf']>): string => `${question}=${JSON.stringify(is)}`;

function readCondition(value: string): NonNullable<Question['onlyIf']> {
  const [, question = '', is = ''] = /^([a-z0-9_]+)=(.*)$/s.exec(value) ?? [];
  try {
    const parsed: unknown = JSON.parse(is);
    if (typeof parsed === 'boolean' || typeof parsed === 'string') return { question, is: parsed };
  } catch {
    // Nobody types it: it was altered.
  }
  throw new FormError('Choose one of these.', 'onlyIf');
}

/** From the words of the question, which stay the same for programs when the words change later. */
function newId(words: string, questions: readonly Question[]): string {
  const base = words
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, idLengthMax - 3)
    .replace(/_+$/, '');
  const taken = new Set(questions.map(({ id }) => id));
  const free = (id: string) => id !== '' && !taken.has(id);
  if (free(base)) return base;
  for (let number = 2; ; number += 1) {
    const id = `${base || 'question'}_${number}`;
    if (free(id)) return id;
  }
}

/** The operation speaks of the fields of its body. */
const inOwnWords = (message: string): string =>
  /onlyIf/.test(message)
    ? 'A question that depends on another one must come after it, and on an answer that it still has. Change or remove the one that depends first.'
    : message;
