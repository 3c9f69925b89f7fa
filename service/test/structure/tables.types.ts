// Compiled, never run: `npm run check` fails if a line below @ts-expect-error compiles, or if another line does not. What a complete row
// brings about is in planted-rows.test.ts.

import { type ActingKey, requireAccess } from '../../src/access/admission/access.ts';
import { recordTransitions } from '../../src/animals/history/history.ts';
import { petEvent } from '../../src/animals/pets/pet-json.ts';
import type { Pet } from '../../src/animals/pets/pet-schemas.ts';
import { recordEvents } from '../../src/changes/events/events.ts';
import type { Actor } from '../../src/domain/actor.ts';
import type { EventTypeRow } from '../../src/domain/event-types.ts';
import type { CallerAction, OrderAction, OrderState } from '../../src/domain/order-states.ts';
import type { ScopeRow } from '../../src/domain/scopes.ts';
import type { Transaction } from '../../src/platform/db/handles.ts';

declare const tx: Transaction;
declare const actor: Actor;
declare const key: ActingKey;
declare const pet: Pet;

const words = { meaning: '', event: '' };
const animal = { petId: 1n, shelterId: 1n };
const transition = { petId: 1n, from: 'available', to: 'available', why: '' };

export const orderStates: unknown[] = [
  { ...words, isOpen: true, reserves: true } satisfies OrderState,
  { ...words, isOpen: false, reserves: false, end: 'without adoption' } satisfies OrderState,
  // @ts-expect-error: nobody would know when the adopter's data is erased
  { ...words, isOpen: false, reserves: false } satisfies OrderState,
  // @ts-expect-error: there is no such end, and so no period
  { ...words, isOpen: false, reserves: false, end: 'by the store' } satisfies OrderState,
  // @ts-expect-error: the data of an open order is kept
  { ...words, isOpen: true, reserves: true, end: 'without adoption' } satisfies OrderState,
  // @ts-expect-error: another order could be placed for the same animal
  { ...words, isOpen: true, reserves: false } satisfies OrderState,
  // @ts-expect-error: its event would say nothing
  { meaning: '', isOpen: true, reserves: true } satisfies OrderState,
  // @ts-expect-error: there is no such status
  { from: ['placed'], to: 'lost', pet: undefined, by: 'staff', summary: '' } satisfies OrderAction,
  // @ts-expect-error: nobody would know who may request it
  { from: ['placed'], to: 'cancelled', pet: undefined, summary: '' } satisfies OrderAction,
  // @ts-expect-error: only the service expires orders
  'expire' satisfies CallerAction,
];

export const eventTypes: unknown[] = [
  { meaning: '', audience: 'private', data: 'pet', keepsListsValid: true } satisfies EventTypeRow,
  // @ts-expect-error: nobody would know who may read it
  { meaning: '', data: 'pet', keepsListsValid: true } satisfies EventTypeRow,
  // @ts-expect-error: cached lists might be stale
  { meaning: '', audience: 'public', data: 'pet' } satisfies EventTypeRow,
  recordEvents(
    tx,
    { type: 'order.placed', petId: 1n, clientId: 1n, data: '' },
    { type: 'pet.created', petId: 1n, clientId: null, data: '' },
  ),
  // @ts-expect-error: everybody would get a private event
  recordEvents(tx, { type: 'order.placed', petId: 1n, clientId: null, data: '' }),
  // @ts-expect-error: only one client would get a public event
  recordEvents(tx, { type: 'pet.created', petId: 1n, clientId: 1n, data: '' }),
  // @ts-expect-error: everybody would get a private event
  petEvent('order.placed', pet),
];

export const scopes: unknown[] = [
  { givenTo: 'staff', meaning: '', permits: {} } satisfies ScopeRow,
  // @ts-expect-error: nobody would know whether keys have it by default
  { meaning: '', permits: {} } satisfies ScopeRow,
  // @ts-expect-error: the documents and the command line would not explain it
  { givenTo: 'staff', permits: {} } satisfies ScopeRow,
  // @ts-expect-error: nobody would know what it permits
  { givenTo: 'staff', meaning: '' } satisfies ScopeRow,
  // @ts-expect-error: there is no such permission
  { givenTo: 'staff', meaning: '', permits: { sellPets: 'any shelter' } } satisfies ScopeRow,
  // @ts-expect-error: there is no such reach
  { givenTo: 'staff', meaning: '', permits: { changePets: 'everywhere' } } satisfies ScopeRow,
  requireAccess(key, 'changePets', animal),
  // @ts-expect-error: an order that is not visible is 404, not 403
  requireAccess(key, 'seeOrders', animal),
];

export const history: unknown[] = [
  recordTransitions(tx, actor, { ...transition, kind: 'pet_moved', move: { from: 1n, to: 2n } }),
  // @ts-expect-error: verify would have to guess
  recordTransitions(tx, actor, transition),
  // @ts-expect-error: nobody would know the shelters
  recordTransitions(tx, actor, { ...transition, kind: 'pet_moved' }),
  // @ts-expect-error: nobody would know the order
  recordTransitions(tx, actor, { ...transition, kind: 'order_status' }),
];
