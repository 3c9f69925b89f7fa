import { Type } from 'typebox';
import { NewApplicationSchema } from '../../adoption/applications/application-schemas.ts';
import { submitApplication } from '../../adoption/applications/submissions.ts';
import type { Question } from '../../adoption/questions/question-schemas.ts';
import { getQuestions } from '../../adoption/questions/questions.ts';
import { applicationWriteScopes } from '../../domain/application-states.ts';
import { questionTypeTable } from '../../domain/question-types.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { listAnimalsForStaff, type StaffAnimal } from '../../search/listings/staff-list.ts';
import { busySearch, unlessBusy } from '../animals/animal-list.ts';
import { categoryName, stateLabel } from '../animals/animal-words.ts';
import { icon, withQuery } from '../frame/elements.ts';
import { FormError, faultsOf, notFound } from '../screens/page-error.ts';
import type { Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { answerField, answerFieldOf, answerPropertyOf, conditionText } from '../shelters/question-fields.ts';
import { type AdoptionParts, bondedNote, getShelterOf, readSituation } from './adoption-parts.ts';
import { name, plural } from './adoption-words.ts';

const { adopter } = NewApplicationSchema.properties;
const shownMax = 10;
const nameLengthMax = 100;
const fields = Type.Object({
  petId: Type.Integer({ minimum: 1, 'x-must-be': 'the number of an animal' }),
  ...adopter.properties,
});

/** What reaches a shelter by telephone or at the desk. */
export function addDesk(screens: Screens, parts: AdoptionParts): void {
  const { db, clock, mails } = parts;

  const page = screens.page({
    path: '/applications/new',
    needs: scopesThat('manageOrders'),
    show: async (visit) => {
      const asked = (visit.rejected?.values.get('petId') ?? visit.query.get('pet') ?? '').trim().slice(0, nameLengthMax);
      const petId = parseInt64(asked);
      return {
        title: 'New application',
        main: html`<a class="crumb" href="/applications">${icon('back')}Applications</a>
${petId === undefined ? await choose(visit, asked) : await entry(visit, petId)}`,
      };
    },
  });

  /** By its number, or by its name: then those that may be meant are listed. */
  async function choose({ caller }: Visit, asked: string): Promise<Html> {
    const page = { cursor: undefined, limit: shownMax, nowMs: clock.now() };
    const found = asked === '' ? undefined : await unlessBusy(listAnimalsForStaff(db, caller, { q: asked }, page));
    return html`<h1>New application</h1>
<section class="card"><p>Which animal is it for?</p>
<form action="/applications/new" class="form">
<div class="field">
<label for="pet">Name or number of the animal</label>
<input id="pet" name="pet" value="${asked}" maxlength="${nameLengthMax}" autocomplete="off" required>
</div>
<div class="acts"><button class="button">Go on</button></div>
</form>
${asked !== '' && (found ? foundAnimals(asked, found.animals) : busySearch)}</section>`;
  }

  async function entry(visit: Visit, petId: bigint): Promise<Html> {
    const shelterId = await getShelterOf(parts, visit, petId);
    const situation = await readSituation(parts, visit, petId);
    const pet = situation.animal?.pet;
    if (!pet) throw notFound('There is no such animal here.');
    if (pet.status === 'sold')
      return html`<h1>${name(pet.name)} was adopted</h1><p>Nobody can apply any more. <a href="/animals">Find another animal</a></p>`;
    const questions = await getQuestions(db, shelterId);
    const all = Type.Object({
      ...fields.properties,
      ...Object.fromEntries(questions.map((one) => [answerFieldOf(one), answerPropertyOf(one)])),
    });
    const areOpen = plural(situation.open, 'application is', 'applications are');
    return html`<h1>New application for ${name(pet.name)}</h1>
${situation.open > 0 && html`<p><a href="/applications/pets/${petId}">${areOpen} open</a> for ${name(pet.name)}.</p>`}
${bondedNote(pet.name, situation)}
<section class="card">${visit.form(
      { path: submit.path, fields: all },
      { submit: 'Enter the application', values: { petId } },
      (given) => html`${given.hidden('petId')}
${given.text('name', 'Name of the adopter', { isFirst: visit.rejected === undefined })}
${given.text('email', 'E-mail address', { type: 'email', hint: mails ? mailedHint : 'So that you can reach them.' })}
${given.text('phone', 'Telephone', { type: 'tel' })}
${questions.map((question) => answerField(given, question, questions))}`,
    )}</section>`;
  }

  const submit = screens.form({
    path: '/applications/new',
    page,
    needs: applicationWriteScopes,
    fields,
    check: async (visit, { petId }, sent) => {
      if (petId === undefined) return new Map();
      const questions = await getQuestions(db, await getShelterOf(parts, visit, BigInt(petId)));
      return faultsOf(() => readAnswers(questions, sent));
    },
    act: async ({ visit, tx, values, sent }) => {
      const { petId: given, name: adopterName, email, phone } = values;
      const petId = BigInt(given);
      const answers = readAnswers(await getQuestions(tx, await getShelterOf({ db: tx }, visit, petId)), sent);
      const { caller } = visit;
      const terms = { clientId: caller.clientId, bounds: caller.bounds, mails };
      const { id } = await submitApplication(
        tx,
        { petId, adopter: { name: adopterName, email, ...(phone !== undefined && { phone }) }, answers, confirmed: true },
        caller,
        terms,
      );
      return { to: `/applications/${id}`, done: 'The application is entered.' };
    },
  });
}

const mailedHint =
  'They get a link there to this application. Once they have confirmed the address on that page, mail says what becomes of it.';

/** Those that may be meant. */
function foundAnimals(asked: string, animals: readonly StaffAnimal[]): Html {
  if (animals.length === 0)
    return html`<p role="status">No animal here is called “${asked}”.
Check how it is written, or <a href="/animals">find it among the animals</a>.</p>`;
  const all = withQuery('/animals', new URLSearchParams(), { q: asked });
  const line = (animal: StaffAnimal) => html`<li>
<a href="/applications/new?pet=${animal.id}">${name(animal.name)}</a>
<span class="soft">${categoryName(animal)}, number ${animal.id}</span>
${stateLabel(animal)}
</li>`;
  return html`<p role="status">Choose one of these, or <a href="${all}">look among all animals</a>.</p>
<ul class="lines">${animals.map(line)}</ul>`;
}

/** The answers as the operation takes them. What is missing, or not asked, is said beside its field. */
function readAnswers(questions: readonly Question[], sent: URLSearchParams): Record<string, unknown> {
  const answers: Record<string, unknown> = {};
  const faults = new Map<string, string>();
  for (const question of questions) {
    const { id, type, required, onlyIf } = question;
    const given = sent.getAll(answerFieldOf(question)).filter((one) => one.trim() !== '');
    const isAsked = !onlyIf || answers[onlyIf.question] === onlyIf.is;
    if (given.length === 0) {
      if (required && isAsked) faults.set(answerFieldOf(question), 'Answer this.');
    } else if (!isAsked)
      faults.set(answerFieldOf(question), `${conditionText(onlyIf, questions)} Leave it empty, or change the other answer.`);
    else answers[id] = type === 'choices' ? given : type === 'yes_no' ? given[0] === 'true' : given[0];
    const { lengthMax } = questionTypeTable[type];
    if (lengthMax !== undefined && [...(given[0] ?? '').replaceAll('\r\n', '\n')].length > lengthMax)
      faults.set(answerFieldOf(question), `At most ${lengthMax.toLocaleString('en')} characters.`);
  }
  if (faults.size > 0) throw new FormError('The answers need another look.', faults);
  return answers;
}
