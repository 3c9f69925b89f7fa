import { listActsOfPet, type PastAct } from '../../animals/history/history.ts';
import { type ChangedText, listTexts } from '../../animals/history/texts.ts';
import type { OrderStatus } from '../../domain/order-states.ts';
import { petStatuses } from '../../domain/pet-statuses.ts';
import type { Db } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import type { StaffAnimal } from '../../search/listings/staff-list.ts';
import { factList, pageLinks } from '../frame/elements.ts';
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
      const texts = await textsOf(db, visit, animal, acts);
      return {
        title: `History of ${animal.name}`,
        main: html`${headOf(animal, 'History')}
<section class="card">${acts.length > 0 ? actList(visit, animal, acts, texts) : html`<p class="soft">There is nothing older.</p>`}</section>
${pageLinks(`${pathOf(animal)}/history`, visit.query, found.length > pageSize ? acts.at(-1)?.id.toString() : undefined)}`,
      };
    },
  });
}

/** What the texts said before and after. */
export const textsOf = (db: Db, { caller }: Visit, { id }: Pick<StaffAnimal, 'id'>, acts: readonly PastAct[]): Promise<Texts> =>
  listTexts(
    db,
    id,
    acts.map((act) => act.id),
    caller.shelterId,
  );

type Texts = ReadonlyMap<bigint, readonly ChangedText[]>;

/** What was done with an animal, in words: one act is one line. An order is a link for those who may read it. */
export const actList = (
  visit: Visit,
  { name }: Pick<StaffAnimal, 'name'>,
  acts: readonly PastAct[],
  texts: Texts = new Map(),
): Html => html`<ol class="deeds">
${actsTogether(visit, name, acts).map(({ act, deeds, ids, orderIds }) => {
  const text = capital(`${authorOf(act, visit.caller.shelterId)} ${deeds.join(', ')}`);
  const orders = visit.may('orders:read') && orderIds.map((order) => html` <a href="/orders/${order}">Order ${order}</a>`);
  return html`<li>
<span>${text}${orders}${ids.flatMap((id) => texts.get(id) ?? []).map(textChange)}</span>
<span class="soft small">${visit.times.at(act.at)}</span>
</li>
`;
})}</ol>`;

/** Acts of one line. */
interface Together {
  /** The last of them. */
  readonly act: PastAct;
  readonly deeds: readonly string[];
  readonly ids: readonly bigint[];
  readonly orderIds: readonly bigint[];
}

const transactionMs = 5_000;
const repeatedMs = 60_000;

/** What one transaction has done, and what somebody has done again within a minute, such as moving photos. */
function actsTogether(visit: Visit, name: string, acts: readonly PastAct[]): Together[] {
  const lines: Together[] = [];
  for (const act of acts) {
    const deed = deedOf(act, name, visit);
    const last = lines.at(-1);
    const orderIds = act.orderId === null ? [] : [act.orderId];
    if (!last || !isTogether(last, act, deed)) lines.push({ act, deeds: [deed], ids: [act.id], orderIds });
    else
      lines[lines.length - 1] = {
        act: last.act,
        deeds: [...new Set([deed, ...last.deeds])],
        ids: [act.id, ...last.ids],
        orderIds: [...new Set([...orderIds, ...last.orderIds])],
      };
  }
  return lines;
}

function isTogether({ act: last, deeds }: Together, act: PastAct, deed: string): boolean {
  if (last.personId !== act.personId || last.clientId !== act.clientId) return false;
  const ms = last.at.getTime() - act.at.getTime();
  return (last.transactionId === act.transactionId && ms < transactionMs) || (deeds.length === 1 && deeds[0] === deed && ms < repeatedMs);
}

/** What a text says now, and what it said before. The note of a hold is what colleagues have to know. */
function textChange({ field, before, after }: ChangedText): Html {
  if (field === 'holdNote')
    return html`<br>${after === null ? 'Without the note' : html`<span class="story" dir="auto">“${after}”</span>`}`;
  const said = (text: string | null) =>
    text === null ? html`<span class="soft">nothing</span>` : html`<span class="story" dir="auto">${text}</span>`;
  return html`<details><summary>${capital(fieldText(field === 'alt' ? 'description of the photo' : field))}: before and after</summary>
${factList({ Before: said(before), After: said(after) })}</details>`;
}

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
const actText = (act: PastAct, name: string, reader: Reader): string =>
  `${authorOf(act, reader.caller.shelterId)} ${deedOf(act, name, reader)}`;

function deedOf(act: PastAct, name: string, { workplace: { zone } }: Pick<Reader, 'workplace'>): string {
  if (act.orderId !== null) return orders[act.to as OrderStatus] ?? `set the order to ${act.to}`;
  const known = acts[act.kind ?? 'pet_status'];
  return known ? known(act, name, zone) : `changed ${name}`;
}

/** A person; a program with a key; or nobody, for what happens by itself. An animal may have been in another shelter, whose people stay unnamed. */
export function authorOf(
  { personId, person, personShelterId, clientId }: Pick<PastAct, 'personId' | 'person' | 'personShelterId' | 'clientId'>,
  readersShelterId: bigint | null,
): string {
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
