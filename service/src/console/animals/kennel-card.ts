import { encode } from 'uqr';
import type { PictureFile } from '../../animals/photos/photo-json.ts';
import { listPhotos } from '../../animals/photos/photos.ts';
import { getProfile, listBonded } from '../../animals/profiles/profiles.ts';
import { shownHoldOf, textOfHold } from '../../domain/holds.ts';
import { type Html, html } from '../../platform/html.ts';
import type { StaffAnimal } from '../../search/listings/staff-list.ts';
import { factList, icon } from '../frame/elements.ts';
import { dayIn, dayText } from '../frame/times.ts';
import type { Screens } from '../screens/screens.ts';
import { ageText } from './animal-age.ts';
import { breedText, categoryName, choiceWords, goodWithText, triWords } from './animal-words.ts';
import { type AnimalParts, getAnimal, headOf, pathOf } from './one-animal.ts';

/** Wide enough for print. */
const pictureWidth = 800;
/** Characters of a name that no longer fits on a line, and on two of the smaller letters that it then has. */
const longName = 24;
const longestName = 70;
/** Of an animal that stays with it: all of them are on the card. */
const otherNameMax = 30;

/** A card for the kennel's door, to print on A5. What matters for handling comes first. The QR code leads to the animal in the console. */
export function addKennelCard(screens: Screens, { db, clock, config, consoleUrl }: AnimalParts): void {
  screens.page({
    path: '/animals/:petId/card',
    needs: 'pets:read',
    show: async (visit) => {
      const animal = await getAnimal(db, visit);
      const [profile, photos, bonded] = await Promise.all([
        getProfile(db, animal.id),
        listPhotos(db, animal.id),
        listBonded(db, animal.id),
      ]);
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
${picture ? pictureIn(config.photosUrl, picture) : html`<span class="no-photo">${icon('paw')}</span>`}
${factList({
  'On hold': animal.hold && holdText(animal.hold, visit.workplace.zone),
  'Only with':
    bonded.length > 0 && html`<strong>${bonded.map(({ name }, i) => html`${i > 0 && ', '}<bdi>${shortened(name)}</bdi>`)}</strong>`,
  'Good with': goodWithText(profile),
  'Special needs': specialNeeds === 'yes' && 'Yes: ask us',
  Category: breedText(profile) === undefined && categoryName(animal),
  Breed: breedText(profile),
  Age: birthDate !== null && ageText(birthDate, birthDateIsExact, today),
  Sex: sex !== 'unknown' && choiceWords.sex[sex],
  Size: size !== null && choiceWords.size[size],
  Neutered: profile.spayedNeutered !== 'unknown' && triWords[profile.spayedNeutered],
})}
<footer>
<p>
<strong><bdi>${animal.shelter.name}</bdi></strong>
<span class="number">Number ${animal.id}${profile.externalId !== null && html` · <bdi>${profile.externalId}</bdi>`}</span>
</p>
${qrCode(`${consoleUrl}${pathOf(animal)}`, 'QR code: this animal in the console')}
</footer>
</article>`,
      };
    },
  });
}

const pictureIn = (photosUrl: string, { hash, width, height }: PictureFile): Html =>
  html`<img src="${photosUrl}/${hash}.webp" width="${width}" height="${height}" alt="">`;

/** Visitors read it too, so it says what adopters are told. */
const holdText = ({ reason, until }: NonNullable<StaffAnimal['hold']>, zone: string): Html =>
  html`<strong>${textOfHold(shownHoldOf(reason)).replace(/^is /, '')}${until !== null && `, until ${dayText(zone, until)}`}</strong>`;

function shortened(name: string): string {
  const characters = [...name];
  return characters.length <= otherNameMax ? name : `${characters.slice(0, otherNameMax - 1).join('')}…`;
}

/** The light frame that readers need, in modules. */
const border = 4;

/** A QR code as a drawing of one path. */
function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border });
  const runs = data.flatMap((row, y) => runsOf(row).map(({ x, length }) => `M${x} ${y}h${length}v1h-${length}z`));
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}">
<path class="light" d="M0 0h${size}v${size}H0z"/>
<path class="dark" d="${runs.join('')}"/>
</svg>`;
}

/** Dark modules beside each other. */
function runsOf(row: readonly boolean[]): Array<{ readonly x: number; readonly length: number }> {
  const starts = row.flatMap((isDark, x) => (isDark && !row[x - 1] ? x : []));
  return starts.map((x) => {
    const end = row.indexOf(false, x);
    return { x, length: (end === -1 ? row.length : end) - x };
  });
}
