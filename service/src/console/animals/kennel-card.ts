import { html } from '../../platform/html.ts';
import { listPhotos } from '../../store/photos/photos.ts';
import { getProfile } from '../../store/profiles/profiles.ts';
import { icon } from '../frame/icons.ts';
import { factList } from '../frame/table.ts';
import type { Screens } from '../screens/screens.ts';
import type { AnimalParts } from './animal-parts.ts';
import { ageText, breedText, categoryName, choiceWords, goodWithText, triWords } from './animal-words.ts';
import { dayIn } from './days.ts';
import { getAnimal, headOf, pathOf } from './one-animal.ts';
import { qrCode } from './qr-code.ts';

/** Wide enough for print. */
const pictureWidth = 800;
/** Characters of a name that no longer fits on a line, and on two of the smaller letters that it then has. */
const longName = 24;
const longestName = 70;

/** A card for the kennel's door, to print on A5. The QR code leads to the animal in the console. */
export function addKennelCard(screens: Screens, { db, clock, config, consoleUrl }: AnimalParts): void {
  screens.page({
    path: '/animals/:petId/card',
    needs: 'pets:read',
    show: async (visit) => {
      const animal = await getAnimal(db, visit);
      const [profile, photos] = await Promise.all([getProfile(db, animal.id), listPhotos(db, animal.id)]);
      const today = dayIn(visit.workplace.zone, new Date(clock.now()));
      const files = photos.find(({ status }) => status === 'ready')?.files?.toSorted((a, b) => a.width - b.width) ?? [];
      const picture = files.find(({ width }) => width >= pictureWidth) ?? files.at(-1);
      const nameLength = [...animal.name].length;
      const { birthDate, birthDateIsExact, sex, size, specialNeeds } = profile;
      return {
        title: `Kennel card of ${animal.name}`,
        main: html`${headOf(animal, 'Kennel card')}
<p>Print this page: only the card is printed, on A5 across. The code leads staff to this animal in the console.</p>
<p class="acts"><button class="button" type="button" data-print hidden>${icon('printer')}Print</button></p>
<article class="kennel">
<h2${nameLength > longName && html` class="${nameLength > longestName ? 'longest' : 'long'}"`}><bdi>${animal.name}</bdi></h2>
${picture ? html`<img src="${config.photosUrl}/${picture.hash}.webp" width="${picture.width}" height="${picture.height}" alt="">` : html`<span class="no-photo">${icon('paw')}</span>`}
${factList({
  Breed: breedText(profile) ?? categoryName(animal),
  Age: birthDate !== null && ageText(birthDate, birthDateIsExact, today),
  Sex: sex !== 'unknown' && choiceWords.sex[sex],
  'Good with': goodWithText(profile),
  'Special needs': specialNeeds === 'yes' && 'Yes: ask us',
  Size: size !== null && choiceWords.size[size],
  Neutered: profile.spayedNeutered !== 'unknown' && triWords[profile.spayedNeutered],
})}
<footer><p><strong><bdi>${animal.shelter.name}</bdi></strong><span class="number">Number ${animal.id}${profile.externalId !== null && html` · <bdi>${profile.externalId}</bdi>`}</span></p>${qrCode(`${consoleUrl}${pathOf(animal)}`, 'QR code: this animal in the console')}</footer>
</article>`,
      };
    },
  });
}
