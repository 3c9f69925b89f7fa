import { Type } from 'typebox';
import { endAdopterLinks, isReached } from '../../adoption/applications/adopter-links.ts';
import { findUndelivered } from '../../adoption/applications/application-mail.ts';
import { ApplicationNoteSchema } from '../../adoption/applications/application-schemas.ts';
import { type ApplicationNote, listNotes, setNote } from '../../adoption/applications/applications.ts';
import { type ApplicationMoment, type ListedApplication, listApplicationMoments } from '../../adoption/applications/staff-applications.ts';
import { findOrderForStaff as findOrder } from '../../adoption/orders/staff-orders.ts';
import { allowsApplicationAction, scopesForApplication } from '../../domain/application-states.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { type Html, html, personal } from '../../platform/html.ts';
import { linkToAnimal } from '../animals/one-animal.ts';
import { factList, icon } from '../frame/elements.ts';
import { ifUnrecorded } from '../screens/page-error.ts';
import type { FormRoute, PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { type AdoptionParts, bondedNote, getListedApplication, othersNote, readSituation } from './adoption-parts.ts';
import {
  adopterName,
  answerList,
  applicationDeed,
  applicationLabel,
  closedReasonWords,
  deedsCard,
  mailLink,
  name,
  noteAuthor,
  noteDeed,
} from './adoption-words.ts';
import { actsOf, addInlineForms, type InlineForms } from './decisions.ts';

const manages = scopesThat('manageOrders');
const momentsMax = 50;
const noteFields = Type.Object({ note: ApplicationNoteSchema.properties.note.anyOf[0] });

export function addApplicationPage(screens: Screens, parts: AdoptionParts): InlineForms {
  const { db, mails } = parts;

  const page: PageRoute = screens.page({
    path: '/applications/:applicationId',
    needs: manages,
    show: async (visit) => {
      const application = await getListedApplication(parts, visit);
      const { id, pet, petId, status, adopter, message, orderId, closedReason, note } = application;
      const situation = await readSituation(parts, visit, petId);
      const phone = adopter?.phone ?? undefined;
      const failures = await findUndelivered(db, id);
      const moments = await listApplicationMoments(db, id, momentsMax);
      const notes = await listNotes(db, id);
      // A closed one stays in its shelter when the animal moves to another, with the order.
      const order = orderId === null ? undefined : await findOrder(db, visit.caller, orderId);
      const isWaiting = status === 'submitted' || status === 'reviewing';
      return {
        title: `${adopter?.name ?? 'An erased adopter'} for ${pet}`,
        main: html`<a class="crumb" href="/applications">${icon('back')}Applications</a>
<div class="head"><h1>${adopterName(application)} for ${name(pet)}</h1>${applicationLabel(status)}</div>
${failures.length > 0 && undelivered(application, failures)}
<div class="columns">
<section class="card"><h2>About</h2>${factList({
          Number: String(id),
          Animal: await linkToAnimal(db, visit, { id: petId, name: pet }),
          Shelter: visit.caller.shelterId === null && name(application.shelter),
          'E-mail': adopter !== null && mailLink(adopter.email),
          Telephone: phone !== undefined && html`<a href="tel:${phone.replaceAll(/[^+\d]/g, '')}">${personal(name(phone))}</a>`,
          Sent: html`${visit.times.at(application.createdAt)}, ${visit.times.ago(application.createdAt)}`,
          'Sent by': name(application.client),
          Order:
            orderId !== null && (order ? html`<a href="/orders/${orderId}">Order ${orderId}</a>` : `Order ${orderId}, in another shelter`),
          'Why closed': closedReason !== null && closedReasonWords[closedReason],
        })}${message !== null && html`<h3>What you wrote to the adopter</h3><p class="story" dir="auto">${message}</p>`}</section>
<section class="card"><h2>Next</h2>
${isWaiting && html`<p>${othersNote(pet, situation, mails)} <a href="/applications/pets/${petId}">Compare all side by side</a></p>`}
${bondedNote(pet, situation)}
${actsOf(visit, application, situation, forms)}
${adopter !== null && withdrawal(visit, application)}
${isWaiting && endingAll(application)}
${adopter !== null && linkDetails(visit, endLink, application, parts)}</section>
</div>
<section class="card"><h2>Answers</h2>${answersOf(application)}</section>
<div class="columns">
${adopter !== null && notesCard(visit, note, notes)}
${deedsCard(deedsOf(visit, application, moments, notes), visit.times)}</div>`,
      };
    },
  });

  /** For what the adopter has told the shelter. */
  function withdrawal(visit: Visit, application: ListedApplication): Html | false {
    const { status, pet, orderId, isMailed } = application;
    if (!allowsApplicationAction(application, 'withdraw') || !visit.may(scopesForApplication('withdraw'))) return false;
    const unpromised = html` ${name(pet)} is no longer promised to them, and order ${orderId ?? ''} is cancelled.`;
    return html`<details><summary>The adopter has changed their mind</summary>
<p>Withdraw it if they have told you so.${status === 'accepted' && unpromised}${isMailed && ' They get an e-mail that says so.'}</p>
${visit.form(forms.withdraw, { submit: 'Withdraw it for them', tone: 'danger' })}</details>`;
  }

  const forms = addInlineForms(screens, parts, page);
  const endLink = addLinkForm(screens, parts, page);

  const addNote = screens.form({
    path: '/applications/:applicationId/note',
    page,
    needs: manages,
    fields: noteFields,
    act: async ({ visit, tx, values }) => {
      const { id } = await getListedApplication({ db: tx }, visit);
      await setNote(tx, id, values.note, visit.caller);
      return { to: `/applications/${id}`, done: 'The note is added.' };
    },
  });

  const removeNote = screens.form({
    path: '/applications/:applicationId/note/remove',
    page,
    needs: manages,
    fields: Type.Object({}),
    act: async ({ visit, tx }) => {
      const { id } = await getListedApplication({ db: tx }, visit);
      await setNote(tx, id, null, visit.caller);
      return { to: `/applications/${id}`, done: 'The note is removed.' };
    },
  });

  /** `earlier` is all that is known of a note from before 1.1.0. */
  function notesCard(visit: Visit, earlier: string | null, notes: readonly ApplicationNote[]): Html {
    const shown = notes.length > 0 ? notes.filter(({ text }) => text !== null) : earlier === null ? [] : [{ ...noNote, text: earlier }];
    const removable = shown.find(({ at, personId }) => at === null || personId === visit.person.id);
    const line = (one: (typeof shown)[number]) => html`
<li>
<span>${personal(html`<span class="story" dir="auto">${one.text ?? ''}</span>`)}
<span class="soft small">${one.at ? html`${noteAuthor(one, visit.person)}, ${visit.times.at(one.at)}` : 'Before notes had a name'}</span></span>
${one === removable && visit.form(removeNote, { submit: 'Remove', tone: 'quiet', isInline: true })}
</li>`;
    return html`<section class="card"><h2>Notes</h2>
${shown.length > 0 && html`<ol class="deeds">${shown.map(line)}</ol>`}
${visit.form(addNote, { submit: 'Add the note', tone: 'quiet' }, (fields) => fields.area('note', 'Only staff see it', { rows: 3 }))}</section>`;
  }

  return forms;
}

/** Against a program that sends applications. */
const endingAll = ({ client, clientId, pet, petId }: ListedApplication): Html => html`<details><summary>Nobody has made it</summary>
<p>If a program sends such applications, you can end all that ${name(client)} has sent.
You see how many that is before, and can take it back for some minutes.</p>
<p><a href="/applications/clients/${clientId}/end?pet=${petId}">End all of them for ${name(pet)}</a></p></details>`;

function answersOf({ answers }: ListedApplication): Html {
  if (answers === null || answers === undefined) return html`<p class="soft">The answers have been erased.</p>`;
  return answers.length === 0 ? html`<p class="soft">The shelter asked nothing.</p>` : answerList(answers);
}

function undelivered({ adopter }: ListedApplication, failures: ReadonlyArray<{ kind: string; code: string }>): Html {
  const about: Readonly<Record<string, string>> = {
    received: 'that you have the application',
    accepted: 'that it is accepted',
    declined: 'that it is declined',
    closed: 'that it has ended',
    withdrawn: 'that it was withdrawn by a link',
    withdraw_link: 'how to withdraw it',
    erase_link: 'how to have their data erased',
    status_link: 'the new link to its page',
  };
  const list = failures.map(({ kind, code }) => html`<li>${about[kind] ?? kind} <span class="soft small">(${code})</span></li>`);
  const next = adopter?.phone ? html`Call ${personal(name(adopter.phone))} and say` : 'They don’t know';
  return html`<div class="banner warn">
${icon('mail')}
<div>Mail did not reach the adopter. ${next}:<ul>${list}</ul></div>
</div>`;
}

const noNote = { id: 0n, at: null, personId: null, person: null, personShelterId: null, isProgram: false };

/** What became of it, and that there were notes, also those that are erased. */
const deedsOf = (
  visit: Visit,
  application: ListedApplication,
  moments: readonly ApplicationMoment[],
  notes: readonly ApplicationNote[],
): ReadonlyArray<{ readonly at: Date; readonly deed: Html }> =>
  [
    ...moments.map((moment) => ({ at: moment.at, deed: applicationDeed(moment, visit.person, application) })),
    ...notes.flatMap((note) => (note.at ? [{ at: note.at, deed: noteDeed(note, visit.person) }] : [])),
  ].sort((a, b) => b.at.getTime() - a.at.getTime());

const linkFields = Type.Object({ mails: Type.Optional(Type.Boolean()) });
type LinkForm = FormRoute<typeof linkFields>;

/** Ends the adopter's link, on the page of the application. */
const addLinkForm = (screens: Screens, parts: AdoptionParts, page: PageRoute): LinkForm =>
  screens.form({
    path: '/applications/:applicationId/end-link',
    page,
    needs: scopesThat('manageOrders'),
    fields: linkFields,
    act: async ({ visit, tx, values }) => {
      const { id } = await getListedApplication({ db: tx }, visit);
      const mails = parts.mails && values.mails === true;
      const { isMailed, isJournaled } = await endAdopterLinks(tx, id, visit.caller, { journal: parts.journal, by: visit.caller, mails });
      const next = isMailed ? ' The adopter gets the new one by e-mail.' : '';
      return { to: `/applications/${id}`, done: `The links to the adopter’s page have ended.${next}${ifUnrecorded(isJournaled)}` };
    },
  });

function linkDetails(visit: Visit, form: LinkForm, application: ListedApplication, { mails }: AdoptionParts): Html {
  const mayMail = mails && isReached(application);
  return html`<details><summary>The adopter’s link is in the wrong hands</summary>
<p>Anyone who has the link sees where this application stands${!mails && ', can withdraw it and have the adopter’s data erased'}.
End it if it was posted or passed on. Links in earlier e-mails end too.</p>
${!mayMail && html`<p>The site on which they applied has the new link. Tell the adopter to look there.</p>`}
${visit.form(form, { submit: 'End the link', tone: 'danger', values: { mails: 'true' } }, (fill) =>
  mayMail ? fill.check('mails', 'Mail the adopter a new one', { hint: 'Not if somebody else reads their e-mail.' }) : html``,
)}</details>`;
}
