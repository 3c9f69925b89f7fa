// What needs somebody in the development store, so that Today in the console has something of each kind.
import type { PetListing, Store } from '../sdk/src/index.ts';
import { lookOf } from './dev-looks.ts';
import { renderPicture, shotsOf } from './dev-pictures.ts';
import { devAsking } from './dev-questions.ts';

const adopters = [
  { name: 'Una Carroll', email: 'una.carroll@example.org' },
  { name: 'Fergus Daly', email: 'fergus.daly@example.org' },
];
/** Of a file that arrived whole, as far as anybody can tell, and can't be decoded. */
const damagedBytes = 2_000;
const dayMs = 86_400_000;
/** In every time zone of the shelters, the day is not over then. */
const lastHour = 22;

/** Two orders that wait, a hold that ends today, and a photo that can't be shown. Only in a store that has no orders that wait. */
export async function addToday(store: Store, signal?: AbortSignal): Promise<void> {
  const calling = signal ? { signal } : {};
  if ((await store.orders.list({ status: 'placed', limit: 1 }).page()).items.length > 0) return;
  const own: PetListing[] = [];
  const orderable: PetListing[] = [];
  for await (const listing of store.listings.search({ status: 'available', sort: 'newest' })) {
    if (listing.shelter.name === devAsking[0]?.shelter) own.push(listing);
    else if (!devAsking.some(({ shelter }) => shelter === listing.shelter.name)) orderable.push(listing);
  }
  const [photographed, held] = own;
  if (held) await store.pets.hold(held.pet.id, { reason: 'stray', until: endOfToday(), note: 'Nobody has called so far.' }, calling);
  if (photographed) {
    const look = lookOf({ ...photographed.pet, id: Number(photographed.pet.id), categoryId: Number(photographed.pet.categoryId) });
    const [shot] = shotsOf(look, 1);
    const picture = shot && (await renderPicture(look, shot));
    const damaged = picture && new Blob([new Uint8Array(picture.subarray(0, damagedBytes))], { type: 'image/jpeg' });
    if (damaged) await store.pets.photos.add(photographed.pet.id, damaged, calling);
  }
  for (const [index, adopter] of adopters.entries()) {
    const listing = orderable[index];
    if (listing) await store.orders.place({ petId: listing.pet.id, adopter }, calling);
  }
}

/** Late in the evening, in UTC; of tomorrow if that is over. */
function endOfToday(): string {
  const end = new Date().setUTCHours(lastHour, 59, 59, 0);
  return new Date(end > Date.now() ? end : end + dayMs).toISOString();
}
