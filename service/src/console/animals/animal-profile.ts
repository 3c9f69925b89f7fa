import { requireEtag } from '../../access/admission/admission-hook.ts';
import { dayOf, type MergedProfile, requireValid } from '../../animals/profiles/profile-changes.ts';
import { profileEtag } from '../../animals/profiles/profile-json.ts';
import { getProfile, isExternalIdTaken, writeProfileWithin } from '../../animals/profiles/profiles.ts';
import type { ProfileChanges, StoredProfile } from '../../domain/profile-fields.ts';
import { AppError } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';
import type { Fields, Initial } from '../forms/fields.ts';
import { dayIn } from '../frame/times.ts';
import { FormError, faultsOf } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { choicesOf, choiceWords, triWords } from './animal-words.ts';
import { type AnimalParts, getAnimal, headOf, pathOf, toDescribe } from './one-animal.ts';
import { changesOf, eachChange, profileForm, shownOf } from './profile-rows.ts';

/** What adopters choose an animal by. */
export function addAnimalProfile(screens: Screens, { db, clock }: AnimalParts): void {
  const page: PageRoute = screens.page({
    path: '/animals/:petId/profile',
    needs: toDescribe,
    show: async (visit) => {
      const animal = await getAnimal(db, visit);
      const profile = await getProfile(db, animal.id);
      const values = shownOf(profile);
      const version = profileEtag(profile, dayOf(clock.now()));
      return {
        title: `Profile of ${animal.name}`,
        main: html`${headOf(animal, 'Profile')}
<p class="soft">Everything is optional: what you leave open is shown as not known. Partners can show adopters all of it.</p>
${differences(visit, values)}
<div class="profile">${visit.form(save, { submit: 'Save the profile', values, version }, profileInputs)}</div>`,
      };
    },
  });

  const save = screens.form({
    path: '/animals/:petId/profile/save',
    page,
    needs: toDescribe,
    fields: profileForm,
    explainConflict: async (visit) => `Somebody else has changed the profile of ${(await getAnimal(db, visit)).name} since you opened it.`,
    check: async (visit, values) => {
      const animal = await getAnimal(db, visit);
      return profileFaults(values, { petId: animal.id, current: await getProfile(db, animal.id), visit, nowMs: clock.now() });
    },
    act: async ({ visit, tx, values, version }) => {
      const animal = await getAnimal(tx, visit);
      const current = await getProfile(tx, animal.id);
      const nowMs = clock.now();
      const write = {
        how: 'merge',
        changes: changesOf(values, current, todayOf(visit, nowMs)),
        nowMs,
        expect: (_: unknown, profile: typeof current) => requireEtag(version, profileEtag(profile, dayOf(nowMs)), animal.name),
      } as const;
      try {
        await writeProfileWithin(tx, animal.id, visit.caller, write);
      } catch (error) {
        if (isExternalIdTaken(error)) throw new FormError('Another animal of the shelter has this number already.', 'externalId');
        throw inFormWords(error);
      }
      return { to: pathOf(animal), done: `The profile of ${animal.name} is saved.` };
    },
  });
}

/** The day at the shelter. */
export const todayOf = ({ workplace }: Visit, nowMs: number): string => dayIn(workplace.zone, new Date(nowMs));

interface Checked {
  readonly petId: bigint;
  /** What is stored. */
  readonly current: StoredProfile;
  readonly visit: Visit;
  readonly nowMs: number;
}

/** What is wrong with each field of the form, beyond what its schema says. */
export function profileFaults(
  values: Readonly<Record<string, unknown>>,
  { petId, current, visit, nowMs }: Checked,
): Promise<ReadonlyMap<string, string>> {
  const reads = eachChange(values, current, todayOf(visit, nowMs));
  return faultsOf(...reads.map((read) => () => requireStorable(petId, current, read(), nowMs)));
}

/** What the store checks, of one field: with the others as they are stored. Pairs are merged with those that are there, so the store does that. */
function requireStorable(
  petId: bigint,
  current: StoredProfile,
  { attributes: _, ...changes }: Partial<ProfileChanges>,
  nowMs: number,
): void {
  try {
    requireValid(petId, { ...current, ...changes } as MergedProfile, nowMs);
  } catch (error) {
    throw inFormWords(error);
  }
}

export const inFormWords = (error: unknown): unknown =>
  error instanceof AppError && error.code === 'invalid_body' ? asFormError(error) : error;

/** What the store checks beyond the schema, it says with the name of its field, and to programs: what they sent, and ids. */
function asFormError({ message }: AppError): FormError {
  const [, field = '', rest = message] = /^(\w+)[. ](.*)$/s.exec(message) ?? [];
  const label = labels[field];
  const words = rest.replace(/; got .*$/s, '.').replace(' with id ', ' with the number ');
  return label === undefined ? new FormError(message) : new FormError(`${label} ${words}`, field);
}

const labels: Readonly<Record<string, string>> = {
  birthDate: 'The birth date',
  arrivedOn: 'The day',
  videoUrl: 'The address of the video',
  bondedWith: 'This',
  attributes: 'These',
};

/** After somebody else has saved another profile: what is stored now, where it is not what was typed. */
function differences({ rejected }: Visit, values: Readonly<Record<string, Initial>>): Html | false {
  if (!rejected || rejected.errors === undefined || rejected.errors.size > 0) return false;
  const others = Object.entries(values).flatMap(([name, value]) => {
    const [stored, typed] = [String(value ?? ''), (rejected.values.get(name) ?? '').replaceAll('\r\n', '\n')];
    // An age is not stored: the date of birth is.
    const isSame = stored === typed || name === 'age' || (value === false && typed === '');
    return isSame ? [] : html`<dt>${fieldLabels[name] ?? name}</dt><dd>${stored === '' ? 'nothing' : shownText(name, stored)}</dd>`;
  });
  if (others.length === 0) return false;
  return html`<section class="card"><h2>Stored now, where you typed something else</h2><dl class="facts">${others}</dl></section>`;
}

const shownText = (name: string, stored: string): string => {
  const words: Readonly<Record<string, string>> = { ...triWords, true: 'Yes', ...(name in choiceWords ? choiceWords[name as 'sex'] : {}) };
  return words[stored] ?? stored;
};

const fieldLabels: Readonly<Record<string, string>> = {
  description: 'Description',
  breedPrimary: 'Breed',
  breedSecondary: 'Second breed',
  breedMixed: 'Is it a mix?',
  birthDate: 'Born on',
  age: 'Or the age',
  birthDateIsExact: 'The date is exact',
  sex: 'Sex',
  size: 'Size when fully grown',
  weight: 'Weight in kilograms',
  colors: 'Colours',
  coat: 'Coat',
  children: 'Good with children',
  dogs: 'Good with dogs',
  cats: 'Good with cats',
  spayedNeutered: 'Neutered',
  houseTrained: 'House-trained',
  vaccinated: 'Vaccinated',
  specialNeeds: 'Special needs',
  fee: 'Adoption fee',
  currency: 'Currency',
  bondedWith: 'Only together with',
  tags: 'Tags',
  videoUrl: 'Video',
  arrivedOn: 'Came to the shelter on',
  externalId: "The shelter's own number",
  attributes: 'Other facts',
};

/** All of them, or those that one animal has in common with others: not its sex and its own number. */
export function profileInputs(fields: Fields, { isShared = false }: { readonly isShared?: boolean } = {}): Html {
  const label = (name: string) => fieldLabels[name] ?? name;
  const text = (name: string, options = {}) => fields.text(name, label(name), options);
  const tri = (name: string) => fields.select(name, label(name), choicesOf(triWords));
  const choice = (name: 'size' | 'coat') =>
    fields.select(name, label(name), [{ value: '', label: 'Not known' }, ...choicesOf<string>(choiceWords[name])]);
  const group = (title: string, ...parts: readonly Html[]) =>
    html`<fieldset class="card">
<legend>${title}</legend>
<div class="pairs">${parts}</div>
</fieldset>
`;
  const whole = (name: string, options: { readonly rows: number; readonly hint: string }) =>
    html`<div class="whole">${fields.area(name, label(name), options)}</div>`;
  const groups = [
    group('Description', whole('description', { rows: 8, hint: 'What adopters should know: character, habits, what it needs.' })),
    group(
      'Breed and age',
      text('breedPrimary'),
      text('breedSecondary'),
      tri('breedMixed'),
      ...(isShared ? [] : [fields.select('sex', label('sex'), choicesOf(choiceWords.sex))]),
      text('birthDate', { type: 'date', hint: 'An estimate is better than nothing.' }),
      text('age', { hint: 'Such as 8 weeks or 2 years. It takes the place of the date.' }),
      fields.check('birthDateIsExact', 'The date is known exactly'),
    ),
    group(
      'Looks',
      choice('size'),
      text('weight', { hint: 'Such as 24.5' }),
      text('colors', { hint: 'Up to three, with commas, the main one first.' }),
      choice('coat'),
    ),
    group('Good with', tri('children'), tri('dogs'), tri('cats')),
    group('Health and habits', tri('spayedNeutered'), tri('vaccinated'), tri('houseTrained'), tri('specialNeeds')),
    group(
      'Adoption',
      text('fee', { hint: 'Such as 120 or 120.50' }),
      text('currency'),
      text('bondedWith', { hint: 'The numbers of animals that stay together with it, with commas.' }),
      text('tags', { hint: 'With commas, such as playful, calm indoors' }),
      text('videoUrl', { type: 'url', hint: 'An address that begins with https://' }),
    ),
    group(
      'In the shelter',
      text('arrivedOn', { type: 'date' }),
      ...(isShared ? [] : [text('externalId')]),
      whole('attributes', { rows: 4, hint: 'One a line: a name, a colon and what it is, such as Favourite toy: a red ball' }),
    ),
  ];
  return html`${groups}`;
}
