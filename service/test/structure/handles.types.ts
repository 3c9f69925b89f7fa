// Compiled, never run: `npm run check` fails if a line below @ts-expect-error compiles, or if another line does not.

import { runOnce } from '../../src/access/idempotency/idempotent-route.ts';
import { actOnOrder, cancelOpenOrders, expireDueOrders, placeOrder } from '../../src/adoption/orders/orders.ts';
import { recordTransitions } from '../../src/animals/history/history.ts';
import type { Catalogue, CatalogueTransaction } from '../../src/animals/list-cache/catalogue.ts';
import { insertPet, lockAndMovePet, lockPet, markPetRemoved, movePets, updatePet } from '../../src/animals/pets/pet-queries.ts';
import type { Pet } from '../../src/animals/pets/pet-schemas.ts';
import { addPetToCategory, changePet, createPet, movePetsWithOrders, removePet, reservePet } from '../../src/animals/pets/pets.ts';
import { recordEvents } from '../../src/changes/events/events.ts';
import type { Actor } from '../../src/domain/actor.ts';
import type { Db, Transaction, Transactor } from '../../src/platform/db/handles.ts';
import type { Pool } from '../../src/platform/db/pool.ts';

declare const db: Db;
declare const pool: Pool;
declare const tx: Transaction;
declare const catalogue: Catalogue;
declare const catalogueTx: CatalogueTransaction;
declare const pet: Pet;
declare const newPet: Omit<Pet, 'id'>;
declare const actor: Actor;
declare const placing: Parameters<typeof placeOrder>;
declare const changing: Parameters<typeof changePet>;
declare const removing: Parameters<typeof removePet>;
declare const cancelling: Parameters<typeof cancelOpenOrders>;
declare const creating: Parameters<typeof createPet>;
declare const request: Parameters<typeof runOnce>[1];
declare const lock: Parameters<typeof lockAndMovePet>[1];

export function aWriteToAnimalsInvalidates(): unknown[] {
  return [
    insertPet(catalogue.writerOf(1n), newPet, actor, 1n),
    insertPet(catalogueTx, newPet, actor, 1n),
    // @ts-expect-error: the pool invalidates no list
    insertPet(pool, newPet, actor, 1n),
    // @ts-expect-error: a plain transaction invalidates no list
    insertPet(tx, newPet, actor, 1n),
    // @ts-expect-error: a plain transaction invalidates no list
    movePets(tx, [1n], 'available', 'sold'),
    // @ts-expect-error: a plain transaction invalidates no list
    lockAndMovePet(tx, lock, 1n, { from: 'available', to: 'pending', managed: 'all' }),
    // @ts-expect-error: a plain transaction invalidates no list
    updatePet(tx, pet, newPet),
    // @ts-expect-error: a plain transaction invalidates no list
    markPetRemoved(tx, pet),
    // @ts-expect-error: the pool invalidates no list
    addPetToCategory(pool, newPet, actor, creating[3]),
    // @ts-expect-error: a plain transaction invalidates no list
    createPet(tx, creating[1], creating[2], creating[3]),
    // @ts-expect-error: the pool invalidates no list
    changePet(pool, changing[1], changing[2], changing[3], changing[4]),
    // @ts-expect-error: the pool invalidates no list
    removePet(pool, removing[1], removing[2], removing[3]),
    // @ts-expect-error: a plain transaction invalidates no list
    reservePet(tx, 1n, lock, 'all'),
    // @ts-expect-error: a plain transaction invalidates no list
    movePetsWithOrders(tx, [1n], { from: 'pending', to: 'sold' }),
    // @ts-expect-error: a plain transaction invalidates no list
    placeOrder(tx, placing[1], placing[2], placing[3]),
    // @ts-expect-error: a plain transaction invalidates no list
    actOnOrder(tx, 1n, 'cancel', actor),
    // @ts-expect-error: the pool invalidates no list
    expireDueOrders(db, pool, 1),
    // @ts-expect-error: the pool invalidates no list
    cancelOpenOrders(db, pool, cancelling[2], cancelling[3]),
    // @ts-expect-error: the pool opens a plain transaction, which invalidates no list
    runOnce(pool, request, async (own) => createPet(own, creating[1], creating[2], creating[3])),
  ];
}

export function aWriteSaysWhatItChanges(): unknown[] {
  return [
    catalogueTx.writePets<Pet>({ text: '' }, (after) => ({ id: after.id, before: undefined, after })),
    // @ts-expect-error: nobody would learn which lists have changed
    catalogueTx.writePets({ text: '' }),
    // @ts-expect-error: nobody would learn which lists showed the animal before
    catalogue.writerOf(undefined).writePets<Pet>({ text: '' }, (after) => ({ id: after.id, after })),
  ];
}

export function aTransactionIsNotAPool(): unknown[] {
  return [
    lockPet(tx, 1n),
    lockPet(catalogueTx, 1n),
    // @ts-expect-error: outside a transaction, a lock is released when its statement ends
    lockPet(pool, 1n),
    // @ts-expect-error: an event must be recorded in the transaction of its change
    recordEvents(pool),
    // @ts-expect-error: history must be recorded in the transaction of its change
    recordTransitions(pool, actor),
    // @ts-expect-error: `db` may be the pool
    recordEvents(db),
  ];
}

export function theCatalogueIsNotThePool(): unknown[] {
  // @ts-expect-error: the catalogue would have to know whether a statement only reads
  const reading: Db = catalogue;
  // @ts-expect-error: so would a transaction of another feature
  const transacting: Transactor = catalogue;
  // @ts-expect-error: a transaction can't open another
  const opening: Transactor = tx;
  return [reading, transacting, opening];
}
