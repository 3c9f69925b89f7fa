import { type ListedApplication, listApplicationsForStaff } from '../../adoption/applications/staff-applications.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, type HtmlValue, html, personal } from '../../platform/html.ts';
import { emptyState, icon, pageLinks } from '../frame/elements.ts';
import type { Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import {
  type AdoptionParts,
  bondedNote,
  getShelterOf,
  othersNote,
  readSituation,
  type Situation,
  whyUnavailable,
} from './adoption-parts.ts';
import { adopterName, answerText, applicationLabel, name, plural } from './adoption-words.ts';
import { actsOf, type InlineForms } from './decisions.ts';

/** Side by side. With the longest questions and answers, so many fit into a page of 60 kB. */
const applicantsMax = 3;
const briefLengthMax = 110;
const questionLengthMax = 120;
/** Of a name beside an answer, on a phone. */
const labelLengthMax = 30;
/** Of the answers that are longer. */
const foldedBytesMax = 12_000;

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
      const rows = await listApplicationsForStaff(db, visit.caller, {
        statuses: ['submitted', 'reviewing', 'accepted'],
        petId,
        cursor,
        limit: applicantsMax + 1,
        hasAnswers: true,
      });
      const shown = rows.slice(0, applicantsMax);
      return {
        title: `Who has applied for ${pet}`,
        main: html`<a class="crumb" href="/applications">${icon('back')}Applications</a>
<div class="head">
<h1>Who has applied for ${name(pet)}</h1>
<a class="button quiet" href="/applications/new?pet=${petId}" data-key="n">${icon('plus')}New application</a>
</div>
<p>${openNote(pet, situation, mails)} <a href="/applications?pet=${petId}&amp;state=ended">Those that have ended</a></p>
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

/** How many are open, and what accepting one does, or why none can be. */
function openNote(pet: string, situation: Situation, mails: boolean): Html | undefined {
  const obstacle = whyUnavailable(pet, situation);
  if (situation.open === 0) return obstacle;
  const accepting = html`When you accept one, ${name(pet)} is promised to that adopter. ${othersNote(pet, situation, mails)}`;
  return html`${plural(situation.open, 'application is', 'applications are')} open, the oldest first. ${obstacle ?? accepting}`;
}

/** A row for each question and a column for each applicant; on a phone, each question with all answers to it. */
function comparison(visit: Visit, applicants: readonly ListedApplication[], situation: Situation, forms: InlineForms): Html {
  const { times } = visit;
  const questions = new Map(
    applicants.flatMap(({ answers }) => (answers ?? []).map(({ question, text }) => [question, brief(text)] as const)),
  );
  const folded = new Folding(foldedBytesMax);
  const rows: readonly Row[] = [
    { label: 'State', cell: (one) => html`${applicationLabel(one.status)} ${linkTo(one)}` },
    { label: 'Sent', cell: ({ createdAt }) => times.ago(createdAt) },
    {
      label: 'Reach them',
      cell: ({ adopter }) =>
        adopter ? personal(html`${adopter.phone !== null && html`${name(adopter.phone)}<br>`}${adopter.email}`) : nothing,
    },
    ...[...questions].map(([question, label]) => ({
      label,
      cell: ({ id, answers }: ListedApplication) => {
        const answer = answers?.find((one) => one.question === question);
        return answer ? personal(folded.show(answerText(answer), `/applications/${id}`)) : nothing;
      },
    })),
    { label: 'Newest note', cell: ({ id, note }) => (note ? folded.show(note, `/applications/${id}`) : nothing) },
    { label: 'Decide', cell: (applicant) => html`<div class="decision">${actsOf(visit, applicant, situation, forms)}</div>` },
  ];
  const named = applicants.map((applicant) => ({ applicant, label: shortened(applicant.adopter?.name ?? 'Erased', labelLengthMax) }));
  return html`<div class="rows compare"><table>
<caption class="hidden">Answers of the applicants</caption>
<thead><tr><td></td>${applicants.map((applicant) => html`<th scope="col">${adopterName(applicant)}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ label, cell }) => html`
<tr><th scope="row" dir="auto">${label}</th>${named.map(({ applicant, label: who }) => html`<td data-label="${who}">${cell(applicant)}</td>`)}</tr>`,
  )}
</tbody></table></div>`;
}

const linkTo = (one: ListedApplication): Html =>
  html`<a href="/applications/${one.id}" data-row>Open<span class="hidden"> the application of ${adopterName(one)}</span></a>`;

interface Row {
  readonly label: string;
  readonly cell: (applicant: ListedApplication) => HtmlValue;
}

const nothing = html`<span class="soft">–</span>`;

/** What is long is folded. When a page has as much of it as it can take, the rest is on the pages of the applications. */
class Folding {
  #bytesLeft: number;

  constructor(bytes: number) {
    this.#bytesLeft = bytes;
  }

  show(text: string, path: string): Html {
    const start = shortened(text, briefLengthMax);
    if (start === text) return html`<span class="story" dir="auto">${text}</span>`;
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#bytesLeft) return html`<span class="story" dir="auto">${start}</span> <a href="${path}">All of it</a>`;
    this.#bytesLeft -= bytes;
    return html`<details><summary dir="auto"><span>${start}</span></summary><span class="story" dir="auto">${text}</span></details>`;
  }
}

const brief = (text: string): string => shortened(text, questionLengthMax);

function shortened(text: string, lengthMax: number): string {
  const characters = [...text];
  return characters.length <= lengthMax ? text : `${characters.slice(0, lengthMax - 1).join('')}…`;
}
