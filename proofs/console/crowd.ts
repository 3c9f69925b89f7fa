// So much of everything that no list of a shelter fits on one page.

import { Readable } from 'node:stream';
import sharp from 'sharp';
import { invitePerson, type Manager } from '../../service/src/access/people/people.ts';
import type { PersonCaller } from '../../service/src/access/principals/principals.ts';
import { findOrderedPets, placeOrder } from '../../service/src/adoption/orders/orders.ts';
import { holdPet } from '../../service/src/animals/pets/holds.ts';
import { createPet } from '../../service/src/animals/pets/pets.ts';
import { storeOriginal } from '../../service/src/animals/photos/originals.ts';
import { photosMax } from '../../service/src/animals/photos/photo-schemas.ts';
import { addPhoto } from '../../service/src/animals/photos/photos.ts';
import type { Dependencies } from '../../service/src/dependencies.ts';
import { theService } from '../../service/src/domain/actor.ts';
import { openPhotoStore } from '../../service/src/images/open-store.ts';

/** More than fit on a page. */
const count = 55;
const names = ['Rosi', 'Hieronymus', 'Lady Penelope von Wolkenstein zu Rodenegg', 'Bo', 'قطة صغيرة', 'Schnurrdiburr'];

interface Staff {
  readonly manager: Manager;
  readonly caller: PersonCaller;
  readonly shelterId: bigint;
}

/** Animals with orders, and people who are invited. */
export async function addCrowd({ db, catalogue }: Dependencies, { manager, caller, shelterId }: Staff): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const name = `${names[i % names.length]} ${i + 1}`;
    const pet = await catalogue.transaction(
      (tx) => createPet(tx, { name, categoryId: BigInt((i % 2) + 1) }, caller, { categories: 'open', shelterId, registrant: undefined }),
      theService,
    );
    const adopter = { name: `${names[(i + 2) % names.length]} Musterfrau-Beispielmann`, email: `adopter.${i}@adopters.example` };
    await catalogue.transaction(
      (tx) => placeOrder(tx, { petId: pet.id, adopter }, caller, { client: caller, expiresInSeconds: 7_200 }),
      theService,
    );
    const person = { email: `colleague.${i}@danube.example`, name: name.toUpperCase(), role: 'volunteer', shelterId } as const;
    await db.transaction((tx) => invitePerson(tx, manager, person), theService);
  }
}

/** All photos that it may have, and more acts than a page of its history shows. */
export async function makeFamous({ db, catalogue, config }: Dependencies, petId: bigint, caller: PersonCaller): Promise<void> {
  const store = openPhotoStore(config.photos);
  if (!store) throw new Error('photos are off');
  for (let i = 0; i < photosMax; i += 1) {
    const background = { r: 250 - i * 15, g: 120 + i * 8, b: 60 + i * 15 };
    const [width, height] = i % 3 === 0 ? [900, 1_400] : [1_600, 1_000];
    const image = await sharp({ create: { width, height, channels: 3, background } })
      .jpeg()
      .toBuffer();
    await addPhoto({ db, store }, petId, await storeOriginal(store, Readable.from([image])), caller);
  }
  const nowMs = Date.now();
  for (let i = 0; i < count; i += 1) {
    const until = new Date(nowMs + (i + 30) * 86_400_000).toISOString();
    const note = 'Stitches come out next week.';
    await holdPet(catalogue, petId, { reason: 'medical', until, note }, caller, { findOrderedPets, nowMs });
  }
}
