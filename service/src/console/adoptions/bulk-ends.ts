import { Type } from 'typebox';
import {
  bulkHeldSeconds,
  countToEnd,
  findBulkEndForStaff,
  listBulkEnds,
  listNotReopened,
  mayBeTakenBack,
  type NamedBulkEnd,
  type NotReopened,
  startBulkEnd,
  takeBulkEndBack,
} from '../../adoption/applications/bulk-ends.ts';
import { scopesThat } from '../../domain/scopes.ts';
import type { Db } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { findAnimalForStaff as findAnimal } from '../../search/listings/staff-list.ts';
import { emptyState, factList, icon, table } from '../frame/elements.ts';
import { notFound } from '../screens/page-error.ts';
import type { Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import type { AdoptionParts } from './adoption-parts.ts';
import { name, plural } from './adoption-words.ts';

const manages = scopesThat('manageOrders');
const shownMax = 50;
const heldMinutes = bulkHeldSeconds / 60;
const askedFields = Type.Object({ petId: Type.Optional(Type.Integer({ minimum: 1, 'x-must-be': 'the number of an animal' })) });
const nothing = Type.Object({});

/** Ending all applications of one client, and taking that back. */
export function addBulkEnds(screens: Screens, parts: AdoptionParts): void {
  const { db, mails } = parts;

  screens.page({
    path: '/applications/ends',
    needs: manages,
    show: async (visit) => {
      const jobs = await listBulkEnds(db, visit.caller, shownMax);
      return {
        title: 'Applications ended together',
        main: html`<a class="crumb" href="/applications">${icon('back')}Applications</a>
<h1>Applications ended together</h1>
${
  jobs.length === 0
    ? emptyState(
        'check',
        'None in the last 30 days',
        'If a program sends applications that nobody has made, open one of them: there you can end all that its sender has sent.',
      )
    : table('The newest first', jobs, [
        { name: 'Sent by', cell: (job) => html`<a href="/applications/ends/${job.id}" data-row>${name(job.client)}</a>` },
        { name: 'For', cell: animalOf },
        {
          name: 'Asked for',
          cell: (job) => html`<span>${visit.times.ago(job.createdAt)}${job.person !== null && html`, ${name(job.person)}`}</span>`,
        },
        { name: 'Now', cell: (job) => stateOf(job, mails) },
      ])
}`,
      };
    },
  });

  const ask = screens.page({
    path: '/applications/clients/:clientId/end',
    needs: manages,
    show: async (visit) => {
      const clientId = visit.id('clientId');
      const petId = parseInt64(visit.rejected?.values.get('petId') ?? visit.query.get('pet') ?? '') ?? null;
      const { client, submitted, reviewing, accepted } = await countToEnd(db, visit.caller, { clientId, petId });
      const pet = petId === null ? undefined : (await findAnimal(db, visit.caller, petId))?.name;
      const count = submitted + reviewing;
      // One that has sent nothing here is not named.
      if (client === null || count + accepted === 0) throw notFound('No application of this client waits for a decision here.');
      const what = html`${name(client)}${pet !== undefined && html` for ${name(pet)}`}`;
      const all = plural(count, 'application', 'applications');
      const where = visit.caller.shelterId === null ? '' : ' to your shelter';
      const told = mails
        ? `Their adopters are told by e-mail, ${heldMinutes} minutes after the last one was closed.`
        : `For ${heldMinutes} minutes after the last one was closed, they can be reopened together.`;
      return {
        title: `End all applications of ${client}`,
        main: html`<a class="crumb" href="/applications">${icon('back')}Applications</a>
<h1>End all applications of ${what}</h1>
<section class="card">
<p><b>${all}${where} ${count === 1 ? 'waits' : 'wait'} for a decision</b>:
${submitted.toLocaleString('en')} new, ${reviewing.toLocaleString('en')} in review.</p>
<p>All of them are closed, one after another. Real people may be among them.</p>
<p>${told} Until then you can take it back: what can be reopened is${mails && ', and those adopters get no mail'}.</p>
${accepted > 0 && html`<p>${plural(accepted, 'accepted one stays', 'accepted ones stay')}: you have chosen ${accepted === 1 ? 'it' : 'them'} yourselves.</p>`}
<p>What is sent from now on is not ended, nor what adopters have not confirmed yet. To stop a program, have its key revoked or its sender suspended.</p>
${count > 0 && endForm(visit, all, petId)}
${petId !== null && html`<p><a href="/applications/clients/${clientId}/end">Those for all animals instead</a></p>`}
</section>`,
      };
    },
  });

  const endForm = (visit: Visit, all: string, petId: bigint | null): Html => {
    const values = petId === null ? {} : { petId: Number(petId) };
    return visit.form(end, { submit: `End ${all}`, tone: 'danger', values }, (fields) => petId !== null && fields.hidden('petId'));
  };

  const end = screens.form({
    path: '/applications/clients/:clientId/end',
    page: ask,
    needs: manages,
    fields: askedFields,
    act: async ({ visit, tx, values }) => {
      const petId = values.petId === undefined ? null : BigInt(values.petId);
      const id = await startBulkEnd(tx, visit.caller, visit.caller, { clientId: visit.id('clientId'), petId });
      return { to: `/applications/ends/${id}`, done: 'The applications are being ended.' };
    },
  });

  const page = screens.page({
    path: '/applications/ends/:jobId',
    needs: manages,
    show: async (visit) => {
      const job = await getJob(parts, visit);
      const { client, found, ended, reopened, state, person, createdAt } = job;
      const failures = await listNotReopened(db, job, shownMax);
      const isWorking = state === 'ending' || state === 'reopening' || state === 'telling';
      return {
        title: `Applications of ${client}`,
        main: html`<a class="crumb" href="/applications/ends">${icon('back')}Applications ended together</a>
<h1>Applications of ${name(client)}</h1>
<section class="card" aria-live="polite">
<p><b>${stateOf(job, mails)}</b></p>
${progressOf(job)}
${factList({
  For: animalOf(job),
  'Asked for': html`${visit.times.at(createdAt)}, ${visit.times.ago(createdAt)}${person !== null && html`, by ${name(person)}`}`,
  Ended: `${ended.toLocaleString('en')} of ${found.toLocaleString('en')}`,
  Reopened: job.takenBackAt !== null && reopened.toLocaleString('en'),
})}
${state === 'held' && ended > reopened && html`<p>${untilOf(job, visit, mails)}</p>`}
${isWorking && html`<p><a class="button quiet" href="/applications/ends/${job.id}">Look again</a></p>`}
${mayBeTakenBack(job) && (state === 'ending' || ended > reopened) && takingBack(visit, job)}
</section>
${failures.length > 0 && notReopened(failures)}`,
      };
    },
  });

  const takingBack = (
    visit: Visit,
    { state, takenBackAt }: NamedBulkEnd,
  ): Html => html`<p>${state === 'ending' && 'No more are ended then. '}
Where the animal was adopted meanwhile, or has no place left, an application can’t be reopened.</p>
${visit.form(back, { submit: takenBackAt === null ? 'Take it back' : 'Try the others again', tone: 'quiet' })}`;

  const back = screens.form({
    path: '/applications/ends/:jobId/take-back',
    page,
    needs: manages,
    fields: nothing,
    act: async ({ visit, tx }) => {
      const { id } = await getJob({ db: tx }, visit);
      await takeBulkEndBack(tx, visit.caller, visit.caller, id);
      return { to: `/applications/ends/${id}`, done: 'The applications are being reopened.' };
    },
  });
}

async function getJob({ db }: { readonly db: Db }, visit: Visit): Promise<NamedBulkEnd> {
  const job = await findBulkEndForStaff(db, visit.caller, visit.id('jobId'));
  if (!job) throw notFound('There is no such job here.');
  return job;
}

const animalOf = ({ pet, petId }: NamedBulkEnd): Html =>
  petId === null ? html`every animal` : html`<a href="/animals/${petId}">${name(pet ?? String(petId))}</a>`;

/** What the job does, as a sentence without its end. */
function stateOf({ state, found, ended, reopened, takenBackAt }: NamedBulkEnd, mails: boolean): string {
  const count = (value: bigint) => value.toLocaleString('en');
  if (state === 'ending') return `${count(ended)} of ${count(found)} are ended`;
  if (state === 'reopening') return `Taken back: ${count(reopened)} of ${count(ended)} are open again`;
  const result = takenBackAt === null ? `${count(ended)} were ended` : `Taken back: ${count(reopened)} of ${count(ended)} are open again`;
  if (state === 'telling') return `${result}, and their adopters are being told`;
  return state === 'held' && mails ? `${result}, and ${ended > reopened ? 'no adopter was told yet' : 'no adopter is told'}` : result;
}

/** While the worker is at it. */
function progressOf({ state, found, ended, reopened }: NamedBulkEnd): Html | false {
  if (state !== 'ending' && state !== 'reopening') return false;
  const [done, of] = state === 'ending' ? [ended, found] : [reopened, ended];
  const label = state === 'ending' ? 'Ended' : 'Open again';
  return html`<p><progress class="wide" value="${done}" max="${of}" aria-label="${label}">${done} of ${of}</progress></p>`;
}

function untilOf({ changedAt, takenBackAt }: NamedBulkEnd, { times }: Visit, mails: boolean): Html {
  const until = times.at(new Date(changedAt.getTime() + bulkHeldSeconds * 1_000));
  if (!mails) return html`You can take it back until ${until}.`;
  return takenBackAt === null
    ? html`Their adopters are told at ${until}, unless you take it back before.`
    : html`The adopters of those that stay ended are told at ${until}.`;
}

const reasons: Readonly<Record<string, string>> = {
  pet_not_found: 'the animal was removed',
  pet_not_available: 'the animal was adopted',
  application_exists: 'the adopter has applied again',
  applications_full: 'the animal has no place left',
  application_state_conflict: 'somebody has acted on it since, or the adopter’s data was erased',
  application_not_found: 'it belongs to another shelter',
};

const failureLine = ({ id, failure }: NotReopened): Html => html`<li>
<a href="/applications/${id}">Application ${id}</a>
<span class="soft">${reasons[failure] ?? failure}</span>
</li>`;

const notReopened = (failures: readonly NotReopened[]): Html => html`<section class="card"><h2>Not open again</h2>
<ul class="lines">${failures.map(failureLine)}</ul>
${failures.length === shownMax && html`<p class="soft">These are the first ${shownMax}.</p>`}</section>`;
