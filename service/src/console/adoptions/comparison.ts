import { scopesThat } from '../../domain/scopes.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { type ListedApplication, listForStaff } from '../../store/applications/staff-applications.ts';
import { emptyState } from '../frame/empty-state.ts';
import { icon } from '../frame/icons.ts';
import { pageLinks } from '../frame/page-links.ts';
import type { Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { type AdoptionParts, getShelterOf, readSituation, type Situation } from './adoption-parts.ts';
import { adopterName, applicationLabel, name, plural } from './adoption-words.ts';
import { briefAnswer } from './answers.ts';
import { actsOf, type InlineForms } from './application-acts.ts';
import { unavailable } from './conflicts.ts';
import { bondedNote, othersNote } from './situation-notes.ts';

/** Side by side. With the longest questions and answers, so many fit into a page of 60 kB. */
const applicantsMax = 3;
const briefLengthMax = 160;
const questionLengthMax = 120;
const [sent, reach, yourNote] = ['Sent', 'Reach them', 'Your note'];

/** Those who want the same animal, with what they have answered. */
export function addComparison(screens: Screens, parts: AdoptionParts, forms: InlineForms): void {
  const { db, mails } = parts;
  screens.page({
    path: '/applications/pets/:petId',
    needs: scopesThat('manageOrders'),
    show: async (visit) => {
      const petId = visit.id('petId');
      await getShelterOf(parts, visit, petId);
      const situation = await readSituation(parts, visit, petId);
      const pet = situation.animal?.pet.name ?? '';
      const cursor = parseInt64(visit.query.get('cursor') ?? '');
      const rows = await listForStaff(db, visit.caller, {
        statuses: ['submitted', 'reviewing', 'accepted'],
        petId,
        cursor,
        limit: applicantsMax + 1,
        hasAnswers: true,
      });
      const shown = rows.slice(0, applicantsMax);
      const obstacle = unavailable(pet, situation);
      return {
        title: `Who has applied for ${pet}`,
        main: html`<a class="crumb" href="/applications">${icon('back')}Applications</a>
<div class="head"><h1>Who has applied for ${name(pet)}</h1><a class="button quiet" href="/applications/new?pet=${petId}" data-key="n">${icon('plus')}New application</a></div>
<p>${situation.open > 0 ? html`${plural(situation.open, 'application is', 'applications are')} open, the oldest first. ${obstacle ?? html`When you accept one, ${name(pet)} is promised to that adopter. ${othersNote(pet, situation, mails)}`}` : obstacle} <a href="/applications?pet=${petId}&amp;state=ended">Those that have ended</a></p>
${bondedNote(pet, situation)}
${
  shown.length === 0
    ? emptyState('heart', 'Nobody is waiting', `Applications for ${pet} appear here, the oldest first.`)
    : comparison(visit, shown, situation, forms)
}
${pageLinks(visit.path, visit.query, rows.length > applicantsMax ? String(shown.at(-1)?.id) : undefined)}`,
      };
    },
  });
}

/** Columns beside each other, whose rows are the questions; on a phone, cards one after the other. */
function comparison(visit: Visit, applicants: readonly ListedApplication[], situation: Situation, forms: InlineForms): Html {
  const questions = new Map(
    applicants.flatMap(({ answers }) => (answers ?? []).map(({ question, text }) => [question, brief(text)] as const)),
  );
  const { times } = visit;
  const row = (label: string, value: Html) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
  // For the eye alone: each answer has its question, which is hidden where the questions are beside.
  const beside = ['', sent, reach, ...questions.values(), yourNote].map((text) => html`<p>${text}</p>`);
  return html`<div class="compare"><div class="questions" aria-hidden="true">${beside}</div>${applicants.map((applicant) => {
    const { id, status, createdAt, adopter, note, answers } = applicant;
    const answerTo = new Map((answers ?? []).map((answer) => [answer.question, answer]));
    return html`<article aria-labelledby="applicant-${id}">
<h2 id="applicant-${id}"><a href="/applications/${id}" data-row>${adopterName(applicant)}</a> ${applicationLabel(status)}</h2>
<dl>${row(sent, times.ago(createdAt))}${row(reach, adopter ? html`${adopter.phone !== null && html`<bdi>${adopter.phone}</bdi><br>`}${adopter.email}` : html`–`)}${[
      ...questions,
    ].map(([question, text]) => {
      const answer = answerTo.get(question);
      return row(text, answer ? briefAnswer(answer, briefLengthMax) : html`<span class="soft">–</span>`);
    })}${row(yourNote, note ? html`<span class="story" dir="auto">${brief(note)}</span>` : html`<span class="soft">–</span>`)}</dl>
<div class="decision">${actsOf(visit, applicant, situation, forms)}</div>
</article>`;
  })}</div>`;
}

function brief(text: string): string {
  const characters = [...text];
  return characters.length <= questionLengthMax ? text : `${characters.slice(0, questionLengthMax - 1).join('')}…`;
}
