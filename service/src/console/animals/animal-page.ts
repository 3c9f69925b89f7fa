import { Type } from 'typebox';
import { requireEtag } from '../../access/admission/admission-hook.ts';
import { countOpenApplications } from '../../adoption/applications/applications.ts';
import { settleApplications } from '../../adoption/applications/settling.ts';
import { findOpenOrder, findOpenOrdersOfPets, findOrderedPets } from '../../adoption/orders/orders.ts';
import { undoOutcomeWithin } from '../../adoption/outcomes/outcomes.ts';
import { actUndoably } from '../../adoption/undo/undo.ts';
import { listActsOfPet } from '../../animals/history/history.ts';
import { findHoldNote, type HoldNote } from '../../animals/history/texts.ts';
import { petEtag } from '../../animals/pets/pet-json.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import { changePet } from '../../animals/pets/pets.ts';
import type { PictureFile } from '../../animals/photos/photo-json.ts';
import { listPhotos, type PhotoRow } from '../../animals/photos/photos.ts';
import { getProfile, isExternalIdTaken, listBonded } from '../../animals/profiles/profiles.ts';
import { endsHold, heldStatus } from '../../domain/holds.ts';
import { outcomeUndoing } from '../../domain/outcomes.ts';
import { type PetStatus, petStatuses } from '../../domain/pet-statuses.ts';
import type { StoredProfile } from '../../domain/profile-fields.ts';
import { scopesThat } from '../../domain/scopes.ts';
import { type Html, type HtmlValue, html } from '../../platform/html.ts';
import { findAnimalForStaff, type StaffAnimal } from '../../search/listings/staff-list.ts';
import { factList, icon } from '../frame/elements.ts';
import { dayText } from '../frame/times.ts';
import { FormError } from '../screens/page-error.ts';
import type { PageRoute, Screens, ShownPage } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { ageText } from './animal-age.ts';
import { actList, authorOf, explainChange, textsOf } from './animal-history.ts';
import { leftPath } from './animal-leaving.ts';
import { litterPath } from './animal-litter.ts';
import { todayOf } from './animal-profile.ts';
import {
  breedText,
  categoryName,
  choiceWords,
  count,
  feeText,
  gapsOf,
  goodWithText,
  holdWords,
  outcomeWords,
  stateLabel,
  statusWords,
  triWords,
} from './animal-words.ts';
import { closingNote } from './closing-note.ts';
import {
  type AnimalParts,
  findDeparture,
  getAnimal,
  headOf,
  inWordsOf,
  linkToAnimal,
  pathOf,
  registrantOf,
  toChange,
  toDescribe,
} from './one-animal.ts';

const actsShown = 8;
const nothing = Type.Object({});
const adoptions = { findOpenOrder, findOrderedPets, settleApplications };

/** One animal at a glance, and what is done with it most. */
export function addAnimalPage(screens: Screens, parts: AnimalParts): PageRoute {
  const { db, clock, config } = parts;
  const page: PageRoute = screens.page({
    path: '/animals/:petId',
    needs: 'pets:read',
    show: async (visit) => {
      const animal = await findAnimalForStaff(db, visit.caller, visit.id('petId'));
      return animal ? showAnimal(visit, animal) : showDeparted(visit);
    },
  });

  async function showAnimal(visit: Visit, animal: StaffAnimal): Promise<ShownPage> {
    const { id, name } = animal;
    const [profile, bonded, photos, acts, orders, applications] = await Promise.all([
      getProfile(db, id),
      listBonded(db, id).then((others) => Promise.all(others.map((other) => linkToAnimal(db, visit, other)))),
      listPhotos(db, id),
      listActsOfPet(db, id, { limit: actsShown }),
      findOpenOrdersOfPets(db, [id]),
      countOpenApplications(db, id),
    ]);
    const texts = await textsOf(db, visit, animal, acts);
    const note = animal.hold ? await findHoldNote(db, id) : undefined;
    const orderId = orders.get(id);
    const path = pathOf(animal);
    const shelter = visit.caller.shelterId === null && html` · <bdi>${animal.shelter.name}</bdi>`;
    return {
      title: name,
      main: html`<a class="crumb" href="/animals">${icon('back')}Animals</a>
<div class="head"><h1><bdi>${name}</bdi></h1>${stateLabel(animal)}</div>
<p class="subject soft">${categoryName(animal)} · number <span class="number">${id}</span>${shelter}</p>
<nav class="acts" aria-label="About ${name}">
${visit.may(toDescribe) && [quietLink(`${path}/profile`, 'Profile'), quietLink(`${path}/photos`, html`${icon('camera')}Photos`)]}
${visit.may(toChange) && [quietLink(`${path}/name`, 'Name'), quietLink(`${path}/hold`, 'Hold'), quietLink(`${path}/leaving`, 'Leaving')]}
${quietLink(`${path}/card`, html`${icon('printer')}Kennel card`)}
${visit.may(toDescribe) && quietLink(`${litterPath}?from=${id}`, 'Copy')}
</nav>
${photoStrip(visit, animal, photos)}
${gapsCard(visit, animal, profile, photos)}
<div class="columns">
<div class="stack">
<section class="card"><h2>Status</h2>${statusOf(visit, animal, { orderId, note })}</section>
<section class="card"><h2>About</h2>${factsOf(profile, bonded, todayOf(visit, clock.now()))}</section>
</div>
<div class="stack">
<section class="card"><h2>Adoption</h2>${adoptionOf(visit, animal, { orderId, applications })}</section>
<section class="card"><h2>History</h2>${actList(visit, animal, acts, texts)}
<p><a href="${path}/history">The whole history</a></p></section>
</div>
</div>`,
    };
  }

  const photoStrip = (visit: Visit, animal: StaffAnimal, photos: readonly PhotoRow[]): Html | false => {
    const shown = photos.flatMap(({ files, alt, status }) =>
      status === 'ready' && files?.[0] ? { file: files.toSorted((a, b) => a.width - b.width)[0], alt } : [],
    );
    const waiting = photos.filter(({ status }) => status === 'processing').length;
    if (shown.length + waiting === 0) return false;
    const pictures = html`${shown.map(({ file, alt }) => file && pictureIn(config.photosUrl, file, alt))}`;
    const linked = html`<a href="${pathOf(animal)}/photos" aria-label="Photos of ${animal.name}">${pictures}</a>`;
    return html`<div class="strip">
${visit.may(toDescribe) ? linked : pictures}
${waiting > 0 && html`<p class="soft small">${count(waiting, 'photo')} on the way</p>`}
</div>`;
  };

  /** What closes applications and sends mail asks first. */
  const adopted: PageRoute = screens.page({
    path: '/animals/:petId/adopted',
    needs: toChange,
    show: async (visit) => {
      const animal = await getAnimal(db, visit);
      const { id, name, status } = animal;
      const orderId = (await findOpenOrdersOfPets(db, [id])).get(id);
      const obstacle =
        orderId !== undefined
          ? html`An <a href="/orders/${orderId}">order</a> reserves <bdi>${name}</bdi>. Hand over there.`
          : status === 'sold' && html`<bdi>${name}</bdi> is marked as adopted already.`;
      const back = html`<a class="button quiet" href="${pathOf(animal)}">Not yet</a>`;
      return {
        title: `Mark ${name} as adopted`,
        main: html`${headOf(animal, html`Mark <bdi>${name}</bdi> as adopted?`)}
<section class="card">
${
  obstacle
    ? html`<p>${obstacle}</p>`
    : html`<p>Then nobody can order <bdi>${name}</bdi> or apply for it.</p>
${await closingNote(parts, visit, animal, { reason: 'adopted' })}
${visit.form(statusForms.sold, { submit: 'Mark as adopted', version: petEtag(animal), beside: back })}`
}
</section>`,
      };
    },
  });

  const formFor = (status: PetStatus) =>
    screens.form({
      path: `/animals/:petId/${status}`,
      page: status === 'sold' ? adopted : page,
      needs: toChange,
      fields: nothing,
      explainConflict: (visit) => explainChange(db, visit),
      act: async ({ visit, tx, joined, version }) => {
        const animal = await getAnimal(joined, visit);
        const { caller } = visit;
        const options = { ...adoptions, categories: config.categories, registrant: registrantOf(caller) };
        const expect = (pet: Pet) => requireEtag(version, petEtag(pet), pet.name);
        const change = () => inWordsOf(animal.name, () => changePet(joined, animal.id, { status }, caller, { ...options, expect }));
        await (status === 'sold' ? actUndoably(tx, { kind: 'adopted', petId: animal.id }, caller, change) : change());
        return { to: pathOf(animal), done: `${animal.name} is ${statusWords[status].name.toLowerCase()}.` };
      },
    });
  const statusForms = { available: formFor('available'), pending: formFor('pending'), sold: formFor('sold') };

  /** Only what the operations would carry out is offered. */
  function statusOf(
    visit: Visit,
    animal: StaffAnimal,
    { orderId, note }: { orderId: bigint | undefined; note: HoldNote | undefined },
  ): Html {
    const { hold, status } = animal;
    const mayChange = visit.may(toChange);
    const possible = petStatuses.filter((one) => one !== status && !(hold && one !== heldStatus && !endsHold(one)));
    return html`${!hold && html`<p>${statusWords[status].meaning}</p>`}
${hold && html`<p>${holdText(hold, visit)}${mayChange && html` <a href="${pathOf(animal)}/hold">Change or end the hold</a>`}</p>`}
${note && (note.at !== null || mayChange) && holdNote(note, visit)}
${
  mayChange &&
  (orderId === undefined
    ? html`<div class="acts">${possible.map((one) =>
        one === 'sold'
          ? quietLink(`${pathOf(animal)}/adopted`, statusWords[one].verb)
          : visit.form(statusForms[one], { submit: statusWords[one].verb, tone: 'quiet', isInline: true, version: petEtag(animal) }),
      )}</div>`
    : html`<p class="soft">An order reserves it, so the status follows the order.</p>`)
}`;
  }

  async function showDeparted(visit: Visit): Promise<ShownPage> {
    const { pet, outcome } = await findDeparture(db, visit);
    const { name, id } = pet;
    const { did } = outcomeWords[outcome.type];
    const { undoableUntil } = outcome;
    return {
      title: name,
      main: html`<a class="crumb" href="/animals">${icon('back')}Animals</a>
<div class="head"><h1><bdi>${name}</bdi></h1><span class="label ended">${outcomeWords[outcome.type].name}</span></div>
<section class="card"><p><bdi>${name}</bdi> (number ${id}) ${did}. It was noted on ${visit.times.on(outcome.recordedAt)},
and the animal is in no list but that of <a href="${leftPath}">animals that have left</a>.</p>
${
  undoableUntil
    ? html`<p>Was it a mistake, or is it back? Until ${visit.times.on(undoableUntil)} this can be undone.
Its profile and photos come back with it, and it is ${statusWords[outcomeUndoing.to].name.toLowerCase()} until you make it available.
Applications that were closed stay closed.</p>
${visit.form(undo, { submit: html`Bring ${name} back` })}`
    : html`<p>That is more than ${outcomeUndoing.days} days ago, so it can't be undone any more. If it is back, add it again.</p>`
}</section>`,
    };
  }

  const undo = screens.form({
    path: '/animals/:petId/undo',
    page,
    needs: toChange,
    fields: nothing,
    act: async ({ visit, tx }) => {
      const id = visit.id('petId');
      const { pet } = await findDeparture(tx, visit);
      const bringBack = () => inWordsOf(pet.name, () => undoOutcomeWithin(tx, id, visit.caller));
      await bringBack().catch((error: unknown) => {
        if (!isExternalIdTaken(error)) throw error;
        throw new FormError(
          `Another animal of the shelter has got the shelter's own number of ${pet.name} meanwhile. Change it there first.`,
        );
      });
      return {
        to: `/animals/${id}`,
        done: `${pet.name} is back, and ${statusWords[outcomeUndoing.to].name.toLowerCase()} until you make it available.`,
      };
    },
  });

  return page;
}

const quietLink = (url: string, words: HtmlValue): Html => html`<a class="button quiet" href="${url}">${words}</a>
`;

const pictureIn = (photosUrl: string, { hash, width, height }: PictureFile, alt: string | null): Html =>
  html`<img src="${photosUrl}/${hash}.webp" width="${width}" height="${height}" alt="${alt ?? ''}" loading="lazy" decoding="async">
`;

/** What colleagues have to know. Earlier ones were promised to staff alone. */
const holdNote = (note: HoldNote, { caller, times }: Visit): Html => html`<p class="note"><span class="story" dir="auto">${note.note}</span>
<span class="soft small">${note.at ? html`${authorOf(note, caller.shelterId)}, ${times.at(note.at)}` : 'Only staff read this note.'}</span></p>`;

/** Why it is held, and until when. */
function holdText({ reason, until }: NonNullable<StaffAnimal['hold']>, { workplace }: Visit): Html {
  const end = until ? html`The hold ends by itself on ${dayText(workplace.zone, until)}.` : 'It lasts until somebody ends it.';
  return html`${holdWords[reason].hint} ${end}`;
}

function gapsCard(visit: Visit, animal: StaffAnimal, profile: StoredProfile, photos: readonly PhotoRow[]): Html | false {
  if (animal.status === 'sold' || !visit.may(toDescribe)) return false;
  const gaps = gapsOf({ profile, photos: photos.filter(({ status }) => status !== 'failed').length });
  if (gaps.length === 0) return false;
  return html`<section class="card gaps"><h2>Adopters still look for</h2>
<ul class="tabs">${gaps.map(({ what, where }) => html`<li><a href="${pathOf(animal)}/${where}">${what}</a></li>`)}</ul></section>`;
}

function adoptionOf(
  visit: Visit,
  { id, status }: StaffAnimal,
  { orderId, applications }: { orderId: bigint | undefined; applications: number },
): Html {
  const reads = visit.may('orders:read');
  const mayEnter = status !== 'sold' && visit.may(scopesThat('manageOrders'));
  const open = applications > 0 && count(applications, 'open application');
  const order = reads && orderId !== undefined ? html`<a href="/orders/${orderId}">order ${orderId}</a>` : 'an order';
  return html`<ul class="lines">
<li>${open === false ? html`<span class="soft">No open application</span>` : reads ? html`<a href="/applications?pet=${id}">${open}</a>` : open}</li>
<li>${orderId === undefined ? html`<span class="soft">No open order</span>` : html`Reserved by ${order}`}</li>
</ul>
${mayEnter && html`<p><a class="button quiet" href="/applications/new?pet=${id}">${icon('plus')}New application</a></p>`}`;
}

function factsOf(profile: StoredProfile, bonded: readonly Html[], today: string): Html {
  const { birthDate, birthDateIsExact, sex, size, weightGrams, colors, coat, description } = profile;
  const known = (value: keyof typeof triWords) => value !== 'unknown' && triWords[value];
  const facts = {
    Breed: breedText(profile),
    Age: birthDate !== null && ageText(birthDate, birthDateIsExact, today),
    Sex: sex !== 'unknown' && choiceWords.sex[sex],
    Size: size !== null && choiceWords.size[size],
    Weight: weightGrams !== null && `${(weightGrams / 1_000).toLocaleString('en')} kg`,
    Colour: colors.length > 0 && colors.join(', '),
    Coat: coat !== null && choiceWords.coat[coat],
    'Good with': goodWithText(profile),
    Neutered: known(profile.spayedNeutered),
    'House-trained': known(profile.houseTrained),
    Vaccinated: known(profile.vaccinated),
    'Special needs': known(profile.specialNeeds),
    Fee: profile.adoptionFee !== null && feeText(profile.adoptionFee),
    'Adopted together with': bonded.length > 0 && html`${bonded.map((other, i) => html`${i > 0 && ', '}${other}`)}`,
    Tags: profile.tags.length > 0 && profile.tags.join(', '),
    'Here since': profile.arrivedOn !== null && dayText('UTC', new Date(profile.arrivedOn)),
    "The shelter's number": profile.externalId ?? undefined,
  };
  const isEmpty = Object.values(facts).every((fact) => fact === false || fact === undefined);
  return html`${isEmpty && description === null ? html`<p class="soft">Nobody has described it yet.</p>` : factList(facts)}
${description !== null && html`<p class="story">${description}</p>`}`;
}
