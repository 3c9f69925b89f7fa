import { listActsOfPet, type PastAct } from '../../animals/history/history.ts';
import type { OrderStatus } from '../../domain/order-states.ts';
import { petStatuses } from '../../domain/pet-statuses.ts';
import type { Db } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import type { StaffAnimal } from '../../search/listings/staff-list.ts';
import { pageLinks } from '../frame/elements.ts';
import { dayText } from '../frame/times.ts';
import type { Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { holdWords, outcomeWords, statusWords } from './animal-words.ts';
import { type AnimalParts, getAnimal, headOf, pathOf } from './one-animal.ts';

const pageSize = 50;

/** Everything that was done with an animal, the newest first. */
export function addAnimalHistory(screens: Screens, { db }: AnimalParts): void {
  screens.page({
    path: '/animals/:petId/history',
    needs: 'pets:read',
    show: async (visit) => {
      const animal = await getAnimal(db, visit);
      const beforeId = parseInt64(visit.query.get('cursor') ?? '');
      const found = await listActsOfPet(db, animal.id, { beforeId, limit: pageSize + 1 });
      const acts = found.slice(0, pageSize);
      return {
        title: `History of ${animal.name}`,
        main: html`${headOf(animal, 'History')}
<section class="card">${acts.length > 0 ? actList(visit, animal, acts) : html`<p class="soft">There is nothing older.</p>`}</section>
${pageLinks(`${pathOf(animal)}/history`, visit.query, found.length > pageSize ? acts.at(-1)?.id.toString() : undefined)}`,
      };
    },
  });
}

/** What was done with an animal, in words. An order is a link for those who may read it. */
export const actList = (visit: Visit, { name }: Pick<StaffAnimal, 'name'>, acts: readonly PastAct[]): Html => html`<ol class="deeds">
${acts.map((act) => {
  const text = capital(actText(act, name, visit));
  const order = act.orderId;
  return html`<li>
<span>${text}${order !== null && visit.may('orders:read') && html` <a href="/orders/${order}">Order ${order}</a>`}</span>
<span class="soft small">${visit.times.at(act.at)}</span>
</li>
`;
})}</ol>`;

/** The last thing that was done with the animal, for who has tried to change it at the same time. */
export async function explainChange(db: Db, visit: Visit): Promise<Html | string> {
  const animal = await getAnimal(db, visit);
  return (await lastAct(db, visit, animal)) ?? 'Somebody else has changed this animal meanwhile.';
}

const lookedThroughMax = 50;

/** Who did what and when, of these kinds or of all, as a sentence. For an animal that the person has found. */
export async function lastAct(
  db: Db,
  visit: Visit,
  { id, name }: Pick<StaffAnimal, 'id' | 'name'>,
  kinds?: readonly string[],
): Promise<Html | undefined> {
  const acts = await listActsOfPet(db, id, { limit: kinds ? lookedThroughMax : 1 });
  const last = kinds ? acts.find(({ kind }) => kind !== null && kinds.includes(kind)) : acts[0];
  return last && html`Meanwhile, ${actText(last, name, visit)} (${visit.times.at(last.at)}).`;
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** What became of an order. No history says who the adopter is. */
const orders: Readonly<Record<OrderStatus, string>> = {
  placed: 'placed an order',
  approved: 'approved the order',
  completed: 'completed the adoption',
  cancelled: 'cancelled the order',
  expired: 'let the order expire',
  returned: 'took the animal back',
};

/** Who reads it, and in which time zone. */
type Reader = Pick<Visit, 'caller' | 'workplace'>;

/** One line of a history: Ada set Biscuit to pending. */
function actText(act: PastAct, name: string, { caller, workplace: { zone } }: Reader): string {
  const who = authorOf(act, caller.shelterId);
  if (act.orderId !== null) return `${who} ${orders[act.to as OrderStatus] ?? `set the order to ${act.to}`}`;
  const known = acts[act.kind ?? 'pet_status'];
  return known ? `${who} ${known(act, name, zone)}` : `${who} changed ${name}`;
}

/** A person; a program with a key; or nobody, for what happens by itself. An animal may have been in another shelter, whose people stay unnamed. */
function authorOf({ personId, person, personShelterId, clientId }: PastAct, readersShelterId: bigint | null): string {
  if (readersShelterId !== null && personShelterId !== null && personShelterId !== readersShelterId) return 'somebody of another shelter';
  if (personId !== null) return person ?? 'somebody who has left';
  return clientId === null ? 'the store' : 'a program with a key';
}

type Line = (act: PastAct, name: string, zone: string) => string;

const acts: Readonly<Record<string, Line>> = {
  pet_added: (_, name) => `added ${name}`,
  pet_edited: (_, name) => `changed the name or the category of ${name}`,
  pet_status: ({ to }, name) => statusText(to, name),
  pet_removed: (_, name) => `removed ${name} from every list`,
  pet_moved: ({ fromShelter, toShelter }, name) => `moved ${name} from ${fromShelter ?? 'a shelter'} to ${toShelter ?? 'another'}`,
  pet_held: ({ holdReason, holdUntil }, name, zone) =>
    `held ${name}${holdUntil ? ` until ${dayText(zone, holdUntil)}` : ''}${holdReason ? `, ${holdWords[holdReason].name.toLowerCase()}` : ''}`,
  pet_hold_ended: (_, name) => `ended the hold of ${name}`,
  pet_outcome: ({ outcome }, name) => `noted that ${name} ${outcome ? outcomeWords[outcome].did : 'has left'}`,
  pet_outcome_undone: (_, name) => `brought ${name} back`,
  pet_described: ({ changed }, name) => `described ${name}: ${(changed ?? []).map(fieldText).join(', ')}`,
  pet_photo_added: (_, name) => `added a photo of ${name}`,
  pet_photo_removed: (_, name) => `removed a photo of ${name}`,
  pet_photo_changed: ({ changed }, name) =>
    changed?.includes('alt') ? `changed what a photo of ${name} shows` : `put the photos of ${name} in another order`,
};

/** A field of a profile in words: adoptionFee is adoption fee. */
const fieldText = (field: string): string => field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function statusText(to: string, name: string): string {
  const status = petStatuses.find((one) => one === to);
  if (status === 'available') return `made ${name} available`;
  if (status === 'sold') return `marked ${name} as adopted`;
  return `set ${name} to ${status ? statusWords[status].name.toLowerCase() : to}`;
}
