import { listUntold, listWaitingApplications, type WaitingApplication } from '../../adoption/applications/staff-applications.ts';
import { type ListedOrder, listOldPromises, listUnapproved } from '../../adoption/orders/staff-orders.ts';
import { listWaitingShelters as listChangedShelters } from '../../adoption/shelters/shelters.ts';
import { listActsOfOthers } from '../../adoption/undo/undo.ts';
import { listEndingHolds } from '../../animals/pets/holds.ts';
import { listFailedPhotos } from '../../animals/photos/photos.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { photoFailures } from '../../images/image-types.ts';
import { type Html, html, personal } from '../../platform/html.ts';
import { type AdoptionParts, timesAt } from '../adoptions/adoption-parts.ts';
import { adopterName, name, whyHeld } from '../adoptions/adoption-words.ts';
import { emptyState } from '../frame/elements.ts';
import { endOfToday } from '../frame/times.ts';
import type { Needs, Screens } from '../screens/screens.ts';
import { deedOf } from '../screens/undo-strip.ts';
import type { Visit } from '../screens/visit.ts';
import { shelterWordsPath } from '../shelters/shelter-words.ts';

/** One thing that needs somebody. */
interface Item {
  readonly what: Html;
  readonly since: Html;
  readonly href: string;
  /** A verb: what to do next. */
  readonly act: string;
  /** How many wait together. Undefined: one. */
  readonly count?: number;
}

interface Kind {
  readonly title: string;
  readonly needs: Needs;
  /** One more than is counted. */
  readonly find: (visit: Visit, limit: number) => Promise<readonly Item[]>;
  /** Where the others are. Undefined: there is no list of them. */
  readonly all?: string;
}

const shownMax = 5;
const countedMax = 100;
const reviewingDays = 7;
const promisedDays = 14;
const mailDays = 14;

/** What needs a person: each kind the oldest first. */
export function addToday(screens: Screens, parts: AdoptionParts): void {
  const kinds = kindsOf(parts);
  screens.page({
    path: '/',
    needs: 'a person',
    place: { name: 'Today', icon: 'today', order: 1 },
    show: async (visit) => {
      const sections: Html[] = [];
      // One after the other: a page takes no more than one connection.
      for (const kind of kinds) {
        const items = visit.may(kind.needs) ? await kind.find(visit, countedMax + 1) : [];
        if (items.length > 0) sections.push(section(kind, items));
      }
      return {
        title: 'Today',
        main: html`<h1>Today</h1>
${
  sections.length > 0
    ? sections
    : emptyState(
        'check',
        'Nothing needs you.',
        `All is done for now, ${firstName(visit.person.name)}. What needs somebody appears here, the oldest first.`,
      )
}`,
      };
    },
  });
}

function kindsOf(parts: AdoptionParts): readonly Kind[] {
  const { db } = parts;
  const decides = scopesThat('manageOrders');
  const shelterOf = ({ caller }: Visit) => caller.shelterId;
  const waiting = (days: number, status: 'submitted' | 'reviewing') => async (visit: Visit, limit: number) =>
    byAnimal(await listWaitingApplications(db, visit.caller, { status, days, limit })).map((rows, _, all) => ({
      ...(rows.length === 1 ? application(rows[0]) : applicationsFor(rows, sum(all), limit)),
      since: visit.times.ago(rows[0].since),
      act: rows.length > 1 ? 'Compare' : status === 'submitted' ? 'Review' : 'Decide',
    }));
  return [
    {
      title: 'Orders that wait for you',
      needs: decides,
      all: '/orders',
      find: async (visit, limit) =>
        (await listUnapproved(db, visit.caller, limit)).map((order) => ({
          ...promise(order),
          since: html`expires ${timesAt(parts, order).ago(order.expiresAt)}`,
          act: 'Approve or decline',
        })),
    },
    { title: 'New applications', needs: decides, all: '/applications', find: waiting(0, 'submitted') },
    {
      title: `In review for more than ${reviewingDays} days`,
      needs: decides,
      all: '/applications',
      find: waiting(reviewingDays, 'reviewing'),
    },
    {
      title: 'Adopters whom no mail reaches',
      needs: decides,
      find: async (visit, limit) =>
        (await listUntold(db, visit.caller, { days: mailDays, limit })).map((row) => ({
          ...application(row),
          since: visit.times.ago(row.since),
          act: 'Call them',
        })),
    },
    {
      title: `Promised for more than ${promisedDays} days`,
      needs: decides,
      all: '/orders',
      find: async (visit, limit) =>
        (await listOldPromises(db, visit.caller, { days: promisedDays, limit })).map((order) => ({
          ...promise(order),
          since: visit.times.ago(order.updatedAt),
          act: 'Hand over or cancel',
        })),
    },
    {
      title: 'Holds that end today',
      needs: scopesThat('changePets'),
      find: async (visit, limit) =>
        (await listEndingHolds(db, shelterOf(visit), { before: endOfToday(visit.workplace.zone, new Date(parts.clock.now())), limit })).map(
          ({ petId, pet, reason, until }) => ({
            what: html`${name(pet)} ${whyHeld[reason]}`,
            since: html`until ${visit.times.at(until)}`,
            href: `/animals/${petId}`,
            act: 'Look',
          }),
        ),
    },
    {
      title: 'Shelters that have changed their details',
      needs: 'store:manage',
      all: shelterWordsPath,
      find: async (_, limit) =>
        (await listChangedShelters(db, { afterId: 0n, limit, mails: parts.mails })).map(({ shelter, waiting: { length } }) => ({
          what: name(shelter.name),
          since: html`${length} ${length === 1 ? 'change' : 'changes'}`,
          href: shelterWordsPath,
          act: 'Look and confirm',
        })),
    },
    {
      title: 'Just done by others, and can be undone',
      needs: 'acts:undo',
      find: async (visit, limit) =>
        (await listActsOfOthers(db, visit.caller, limit)).map((act) => ({
          what: deedOf(act, visit),
          since: html`until ${visit.times.second(act.finalAt)}`,
          href: `/acts/${act.id}`,
          act: 'Look',
        })),
    },
    {
      title: 'Photos that failed',
      needs: [...scopesThat('describePets', 'any shelter'), ...scopesThat('describePets', 'own shelter')],
      find: async (visit, limit) =>
        (await listFailedPhotos(db, shelterOf(visit), limit)).map(({ petId, pet, failure, since }) => ({
          what: html`${name(pet)}<br><span class="soft small">${photoFailures[failure]}</span>`,
          since: visit.times.ago(since),
          href: `/animals/${petId}/photos`,
          act: 'Send again',
        })),
    },
  ];
}

const application = ({ id, pet, adopter }: WaitingApplication) => ({
  what: html`${adopter === null ? 'An erased adopter' : personal(name(adopter))} for ${name(pet)}`,
  href: `/applications/${id}`,
});

type Rows = readonly [WaitingApplication, ...WaitingApplication[]];

/** An animal is decided on once. Its first application says where it stands. */
const byAnimal = (rows: readonly WaitingApplication[]): Rows[] =>
  [...Map.groupBy(rows, ({ petId }) => petId).values()] as unknown as Rows[];

const sum = (groups: readonly Rows[]): number => groups.reduce((count, { length }) => count + length, 0);

/** Of as many as are counted, an animal may have more. */
const applicationsFor = (rows: Rows, found: number, limit: number) => ({
  what: html`${name(rows[0].pet)}: ${rows.length}${found >= limit && '+'} applications`,
  href: `/applications/pets/${rows[0].petId}`,
  count: rows.length,
});

const promise = (order: ListedOrder) => ({
  what: html`${name(order.pet)} for ${adopterName(order)}`,
  href: `/orders/${order.id}`,
});

function section({ title, all }: Kind, items: readonly Item[]): Html {
  const total = countOf(items);
  const more = countOf(items.slice(shownMax));
  const count = total > countedMax ? `${countedMax}+` : String(total);
  const others = total > countedMax ? `More than ${more - 1} more` : `${more} more`;
  const where =
    all === undefined ? html`<span class="soft">${others}: they move up as you go on.</span>` : html`<a href="${all}">${others}</a>`;
  return html`<section><div class="head"><h2>${title} <span class="soft number">${count}</span></h2></div>
<ul class="queue">${items.slice(0, shownMax).map(lineOf)}
${more > 0 && html`<li>${where}</li>`}</ul></section>`;
}

const countOf = (items: readonly Item[]): number => items.reduce((sum, { count = 1 }) => sum + count, 0);

const lineOf = ({ what, since, href, act }: Item): Html => html`
<li>
<a href="${href}" data-row>${what}</a>
<span class="soft small">${since}</span>
<a class="button quiet" href="${href}" tabindex="-1" aria-hidden="true">${act}</a>
</li>`;

const firstName = (full: string): string => full.split(/\s/, 1)[0] ?? full;
