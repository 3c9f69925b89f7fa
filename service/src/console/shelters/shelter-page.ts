import { getQuestions } from '../../adoption/questions/questions.ts';
import type { Shelter } from '../../adoption/shelters/shelter-schemas.ts';
import { getWaiting, type WaitingShelter } from '../../adoption/shelters/shelters.ts';
import { weekdays } from '../../domain/opening-hours.ts';
import { type Html, type HtmlValue, html } from '../../platform/html.ts';
import { factList, table } from '../frame/elements.ts';
import { dayText } from '../frame/times.ts';
import type { Screens, ShownPage } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { getSettled, type ShelterParts, shelterPath, shelterPathOf, toSettle } from './one-shelter.ts';
import { openingsText } from './opening-hours-text.ts';
import { shelterFinder } from './shelter-finder.ts';
import { weekdayName } from './shelter-hours.ts';
import { shelterWordsPath, wordLabels } from './shelter-words.ts';
import { sitePath } from './site-settings.ts';

const listPath = '/shelters';

/** The shelter of an admin; for staff of the store, all of them, and each. */
export function addShelterPage(screens: Screens, { db, mails }: ShelterParts): void {
  screens.page({
    path: listPath,
    needs: toSettle,
    place: { name: 'Shelters', nameInShelter: 'Shelter', icon: 'house', order: 70 },
    show: async (visit) => {
      const own = visit.caller.shelterId;
      if (own !== null) return pageOf(visit, await getSettled(db, visit, own));
      return {
        title: 'Shelters',
        main: html`<h1>Shelters</h1>
<p><a href="${shelterWordsPath}">What shelters have changed</a>, and mail does not have yet.
<a href="${sitePath}">The adopters' site</a>: colours, imprint and privacy.</p>
${await shelterFinder(db, visit, { path: listPath, linkTo: (id) => shelterPathOf({ id }) })}`,
      };
    },
  });

  screens.page({ path: shelterPath, needs: toSettle, show: async (visit) => pageOf(visit, await getSettled(db, visit)) });

  async function pageOf(visit: Visit, shelter: Shelter): Promise<ShownPage> {
    const waiting = await getWaiting(db, shelter.id, { mails });
    const questions = await getQuestions(db, shelter.id);
    const isStore = visit.caller.shelterId === null;
    const people = isStore ? `/people?shelter=${shelter.id}` : '/people';
    return {
      title: shelter.name,
      main: html`<h1><bdi>${shelter.name}</bdi></h1>
${isStore && html`<p class="soft">Shelter ${shelter.id}</p>`}
${waiting.waiting.length > 0 && html`<p><a href="#waiting">What waits for the staff of the store</a></p>`}
<div class="columns">
${card(shelter, 'contact', 'Name and contact', contactFacts(shelter))}
${card(shelter, 'hours', 'Opening hours', hoursFacts(shelter))}
${card(shelter, 'adoption', 'How animals are adopted', adoptionFacts(shelter))}
${card(shelter, 'questions', 'Questions', html`<p>${questions.length === 0 ? asksNothing : countText(questions.length, 'question')}</p>`)}
${card(shelter, 'mail', 'What mail adds', mailFacts(shelter))}
${
  visit.may('people:manage') &&
  html`<section class="card"><h2>People</h2>
<p><a href="${people}">Who works here</a>, and inviting others.</p></section>`
}
${
  visit.may('adopters:disclose') &&
  html`<section class="card"><h2>One person's data</h2>
<p><a href="${shelterPathOf(shelter)}/adopter">All that is stored about an adopter</a>, as a file, and its erasure.</p></section>`
}
</div>
${waiting.waiting.length > 0 && waitingCard(waiting, isStore)}`,
    };
  }
}

const asksNothing = 'You ask those who apply nothing yet.';

export const countText = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

const card = (shelter: Shelter, part: string, title: string, facts: Html): Html => html`<section class="card">
<div class="head"><h2>${title}</h2><a class="button quiet" href="${shelterPathOf(shelter)}/${part}">Change<span class="hidden">: ${title}</span></a></div>
${facts}
</section>`;

const given = (text: string | null): HtmlValue => text !== null && html`<bdi>${text}</bdi>`;

function contactFacts({ phone, email, website, address, postcode, town, country, timezone }: Shelter): Html {
  const place = [postcode, town, country].filter((part) => part !== null).join(' ');
  return factList({
    Telephone: given(phone) || missing,
    'E-mail address': given(email) || missing,
    Website: given(website),
    Address: given(address) || missing,
    Town: given(place === '' ? null : place),
    'Time zone': given(timezone) || missing,
  });
}

const missing = html`<span class="soft">not given</span>`;

function hoursFacts({ openingHours }: Shelter): Html {
  if (openingHours === null) return html`<p>Nobody has said when visitors may come.</p>`;
  const { weekly, exceptions } = openingHours;
  const days = weekdays.map((day) => [weekdayName(day), openingsText(weekly[day] ?? []) || 'closed'] as const);
  const others = exceptions.map(
    ({ date, hours }) => [dayText('UTC', new Date(`${date}T12:00:00Z`)), openingsText(hours) || 'closed'] as const,
  );
  return factList(Object.fromEntries([...days, ...others]));
}

const adoptionFacts = ({ adoption, applicationsMax, applicationNote, newAnimalsHeld }: Shelter): Html =>
  factList({
    How: adoption === 'application' ? 'Adopters apply, and you choose' : 'The first to ask reserves',
    'At most': adoption === 'application' && `${countText(applicationsMax, 'open application')} for an animal`,
    'New animals': newAnimalsHeld ? 'begin “not ready yet”' : 'can be adopted at once',
    'Before they apply': given(applicationNote),
  });

const mailFacts = ({ mailReceived, mailAccepted }: Shelter): Html =>
  mailReceived === null && mailAccepted === null
    ? html`<p>Nothing. You can add what to bring, for example.</p>`
    : factList({ 'An application has come in': given(mailReceived), 'It is accepted': given(mailAccepted) });

/** What its people have written, and mail and searches don't have yet. */
const waitingCard = ({ shelter, confirmed, waiting }: WaitingShelter, isStore: boolean): Html => html`<section class="card" id="waiting">
<h2>Waits for the store</h2>
<p>Everybody sees it already. Mail to adopters, and searches for places, have what was confirmed last.
${waiting.includes('email') && 'The e-mail address counts once somebody has followed the link that was mailed to it.'}
${isStore && html`<a href="${shelterWordsPath}">Confirm what shelters have changed</a>`}</p>
${table('What waits', waiting, [
  { name: 'What', cell: (field) => wordLabels[field] },
  { name: 'In mail', cell: (field) => html`<bdi>${confirmed[field] ?? 'nothing'}</bdi>` },
  { name: 'Now', cell: (field) => html`<bdi>${shelter[field] ?? ''}</bdi>` },
])}</section>`;
