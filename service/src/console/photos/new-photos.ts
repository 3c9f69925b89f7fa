import type { PictureFile } from '../../animals/photos/photo-json.ts';
import { listPhotos, type PhotoRow } from '../../animals/photos/photos.ts';
import type { Config } from '../../platform/config.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, html } from '../../platform/html.ts';
import { findAnimalForStaff, type StaffAnimal } from '../../search/listings/staff-list.ts';
import { litterMax, litterPath } from '../animals/animal-litter.ts';
import { count } from '../animals/animal-words.ts';
import { pathOf, toDescribe } from '../animals/one-animal.ts';
import { emptyState, icon } from '../frame/elements.ts';
import type { Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { photosPath, sendingCard } from './photo-sending.ts';
import type { PhotoUploads } from './photo-uploads.ts';

interface Parts {
  readonly db: Transactor;
  readonly uploads: PhotoUploads;
  readonly config: Pick<Config, 'photosUrl'>;
}

const path = '/animals/photos';

/** The first photos of several new animals, on one page. Which they are is in its query. */
export function addNewPhotos(screens: Screens, { db, uploads, config }: Parts): void {
  screens.page({
    path,
    needs: toDescribe,
    show: async (visit) => {
      const ids = idsOf(visit.query.get('of'));
      const found = await Promise.all(ids.map((id) => findAnimalForStaff(db, visit.caller, id)));
      const animals = found.filter((animal) => animal !== undefined);
      const photos = await Promise.all(animals.map(({ id }) => listPhotos(db, id)));
      return {
        title: 'Photos of new animals',
        main: html`<a class="crumb" href="/animals">${icon('back')}Animals</a>
<h1>Photos of new animals</h1>
${animals.length === 0 ? nobody : animals.map((animal, index) => cardOf(visit, animal, photos[index] ?? []))}
${animals.length > 0 && html`<p><a class="button" href="/animals">${icon('check')}Done</a></p>`}`,
      };
    },
  });

  const cardOf = (visit: Visit, { id, name }: StaffAnimal, photos: readonly PhotoRow[]): Html => {
    const title = html`<a href="${pathOf({ id })}"><bdi>${name}</bdi></a>`;
    const shown = stripOf(id, photos);
    if (uploads.isOff) return html`<section class="card"><h2>${title}</h2>${shown}<p>This store takes no photos.</p></section>`;
    const back = String(new URLSearchParams({ of: visit.query.get('of') ?? '' }));
    return sendingCard(visit, id, { title, photos: photos.length, shown, back });
  };

  const stripOf = (petId: bigint, photos: readonly PhotoRow[]): Html => {
    const files = photos.flatMap(({ status, files: made }) => (status === 'ready' && made?.[0] ? made[0] : []));
    const countOf = (state: PhotoRow['status']) => photos.filter(({ status }) => status === state).length;
    const [waiting, failed] = [countOf('processing'), countOf('failed')];
    const others = [
      waiting > 0 && html`<p class="soft small">${count(waiting, 'photo')} on the way</p>`,
      failed > 0 && html`<p class="wrong">${count(failed, 'photo')} can’t be shown: <a href="${photosPath(petId)}">see why</a></p>`,
    ];
    const state = waiting > 0 && html` data-state="processing"`;
    // Without a space in it, it is not seen while nothing was sent.
    return html`<div class="strip small-strip" id="sent-${petId}" data-fresh${state}>${files.map((file) => pictureIn(config.photosUrl, file))}${others}</div>`;
  };
}

const nobody = emptyState(
  'camera',
  'No animals to show',
  'They may have left, or the address has a typing error.',
  html`<a class="button quiet" href="${litterPath}">Add a litter</a>`,
);

const pictureIn = (photosUrl: string, { hash, width, height }: PictureFile): Html =>
  html`<img src="${photosUrl}/${hash}.webp" width="${width}" height="${height}" alt="" loading="lazy" decoding="async">
`;

const idsOf = (text: string | null): bigint[] =>
  [...new Set((text ?? '').split(','))].slice(0, litterMax).flatMap((one) => parseInt64(one) ?? []);

/** The page of several animals, at one of them. Undefined: the photo was sent from another page. */
export function newPhotosPath(of: string | null, petId: bigint): string | undefined {
  const ids = idsOf(of);
  return ids.includes(petId) ? `${path}?of=${ids.join()}#animal-${petId}` : undefined;
}
