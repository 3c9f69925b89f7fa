// Animals as visitors of a site see them, for the proofs that follow examples: some with a profile and a photo.
import sharp from 'sharp';
import { createStore } from '../sdk/src/index.ts';
import { until } from '../testkit/until.ts';
import { devAnimals } from '../tools/dev-animals.ts';

/** The name, the breed and the text for the photo of one of the animals: markup, in a page that does not escape them. */
export const trickyText = `<b>Zoe</b> & "O'Malley" $&`;

export interface ShownAnimals {
  readonly count: number;
  /** How many have a photo. */
  readonly pictured: number;
}

/** The newest ones are available and have profiles and photos. The store needs a worker, and HOMEWARD_PHOTOS. */
export async function addShownAnimals(partner: { url: string; key: string }, { count, pictured }: ShownAnimals): Promise<void> {
  const store = createStore(partner);
  const photo = await sharp({ create: { width: 1_000, height: 750, channels: 3, background: 'peru' } })
    .jpeg()
    .toBuffer();
  for (const [i, animal] of devAnimals().slice(0, count).entries()) {
    const isShown = i >= count - pictured;
    const isTricky = i === count - pictured;
    const { id } = await store.pets.add(isShown ? { ...animal, name: isTricky ? trickyText : animal.name, status: 'available' } : animal);
    if (!isShown) continue;
    const breed = isTricky ? trickyText : 'Beagle';
    await store.pets.profile(id).put({ description: 'Loves long walks.', breeds: { primary: breed }, sex: 'female' });
    const { id: photoId } = await store.pets.photos.add(id, new Blob([new Uint8Array(photo)], { type: 'image/jpeg' }));
    await store.pets.photos.update(id, photoId, { alt: isTricky ? trickyText : `${animal.name} in the grass` });
    await until('a photo is ready', async () => (await store.pets.photos.list(id)).every(({ status }) => status === 'ready'));
  }
}
