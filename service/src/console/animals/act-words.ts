import type { OrderStatus } from '../../domain/order-states.ts';
import { petStatuses } from '../../domain/pet-statuses.ts';
import type { PastAct } from '../../store/history/history-list.ts';
import { dayText } from '../frame/times.ts';
import type { Visit } from '../screens/visit.ts';
import { holdWords, outcomeWords, statusWords } from './animal-words.ts';

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
export function actText(act: PastAct, name: string, { caller, workplace: { zone } }: Reader): string {
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
};

function statusText(to: string, name: string): string {
  const status = petStatuses.find((one) => one === to);
  if (status === 'available') return `made ${name} available`;
  if (status === 'sold') return `marked ${name} as adopted`;
  return `set ${name} to ${status ? statusWords[status].name.toLowerCase() : to}`;
}
