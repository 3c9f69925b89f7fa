import { Type } from 'typebox';
import { NewPetSchema } from '../../animals/pets/pet-schemas.ts';
import { createPet } from '../../animals/pets/pets.ts';
import { emptyProfile } from '../../animals/profiles/profile-changes.ts';
import { getProfile, writeProfileWithin } from '../../animals/profiles/profiles.ts';
import { sexes } from '../../domain/profile-fields.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { html } from '../../platform/html.ts';
import { findAnimalForStaff, type StaffAnimal } from '../../search/listings/staff-list.ts';
import { readForm } from '../forms/form-values.ts';
import { icon } from '../frame/elements.ts';
import { FormError, faultsOf, notFound } from '../screens/page-error.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { inFormWords, profileFaults, profileInputs, todayOf } from './animal-profile.ts';
import { count } from './animal-words.ts';
import { type AnimalParts, categoryChoices, categoryField, inWordsOf, registrantOf, toDescribe } from './one-animal.ts';
import { changesOf, profileForm, shownOf } from './profile-rows.ts';

export const litterPath = '/animals/litter';
/** Animals of a litter: they are added in one transaction. */
export const litterMax = 12;
const namesLengthMax = 2_000;

type Sex = (typeof sexes)[number];
const sexLabels: Readonly<Record<Sex, string>> = {
  female: 'Names of the females',
  male: 'Names of the males',
  unknown: 'Sex not known yet',
};
const fieldOf = (sex: Sex): string => `${sex}Names`;

const { name: nameSchema, categoryId } = NewPetSchema.properties;
const names = Type.Optional(Type.Union([Type.String({ maxLength: namesLengthMax }), Type.Null()]));
const { sex: _sex, externalId: _externalId, ...shared } = profileForm.properties;
const litterForm = Type.Object({ ...Object.fromEntries(sexes.map((sex) => [fieldOf(sex), names])), categoryId, ...shared });

/** Several animals with one profile, such as a litter, or one that is like another. */
export function addAnimalLitter(screens: Screens, { db, clock, config }: AnimalParts): void {
  const page: PageRoute = screens.page({
    path: litterPath,
    needs: toDescribe,
    show: async (visit) => {
      const model = await findModel(visit);
      const [categories, profile] = await Promise.all([categoryChoices(db), model && getProfile(db, model.id)]);
      const { externalId: _, sex: __, ...copied } = shownOf(profile ?? emptyProfile);
      const values = { ...copied, categoryId: model?.categoryId ?? onlyOf(categories) };
      const title = model ? `Animals like ${model.name}` : 'Add a litter';
      return {
        title,
        main: html`<a class="crumb" href="/animals">${icon('back')}Animals</a>
<h1>${model ? html`Animals like <bdi>${model.name}</bdi>` : title}</h1>
<p class="soft">Up to ${litterMax} animals with the same profile; everything but a name is optional.
Each gets a page of its own, where you can change it. Photos come next.</p>
<div class="profile">${visit.form(add, { submit: html`${icon('plus')}Add them`, values }, (fields) => {
          const lines = (sex: Sex, rows: number) =>
            fields.area(fieldOf(sex), sexLabels[sex], { rows, hint: sex === sexes[0] ? namesHint : undefined });
          return html`<fieldset class="card">
<legend>Names</legend>
${sexes.map((sex) => lines(sex, 2))}
${categoryField(fields, categories, model, { mustChoose: !model && categories.length > 1 })}
</fieldset>
${profileInputs(fields, { isShared: true })}`;
        })}</div>`,
      };
    },
  });

  const add = screens.form({
    path: `${litterPath}/add`,
    page,
    needs: toDescribe,
    fields: litterForm,
    check: async (visit, values) => {
      const faults = await profileFaults(values, { petId: 0n, current: emptyProfile, visit, nowMs: clock.now() });
      return new Map([...faults, ...(await faultsOf(() => animalsOf(values)))]);
    },
    act: async ({ visit, tx, values }) => {
      const { caller } = visit;
      const rules = { categories: config.categories, shelterId: caller.shelterId, registrant: registrantOf(caller) };
      const nowMs = clock.now();
      const changes = changesOf(values, emptyProfile, todayOf(visit, nowMs));
      const ids: bigint[] = [];
      for (const { name, sex } of animalsOf(values)) {
        const { id } = await inWordsOf(name, () => createPet(tx, { name, categoryId: values.categoryId }, caller, rules));
        const write = { how: 'merge', changes: { ...changes, sex }, nowMs, expect: () => undefined } as const;
        await writeProfileWithin(tx, id, caller, write).catch((error: unknown) => {
          throw inFormWords(error);
        });
        ids.push(id);
      }
      const isOne = ids.length === 1;
      return {
        to: `/animals/photos?of=${ids.join()}`,
        done: isOne ? 'The animal is added.' : `${count(ids.length, 'animal')} are added.`,
      };
    },
  });

  async function findModel({ query, caller }: Visit): Promise<StaffAnimal | undefined> {
    const from = query.get('from');
    if (from === null) return undefined;
    const id = parseInt64(from);
    const model = id === undefined ? undefined : await findAnimalForStaff(db, caller, id);
    if (!model) throw notFound('There is no such animal here to copy.');
    return model;
  }
}

const namesHint = 'One on each line. Not named yet? “Kitten x3” becomes Kitten 1, Kitten 2 and Kitten 3.';

const onlyOf = <T>([first, ...others]: ReadonlyArray<{ readonly value: T }>): T | undefined =>
  others.length === 0 ? first?.value : undefined;

interface NamedAnimal {
  readonly name: string;
  readonly sex: Sex;
}

const oneName = Type.Object({ name: nameSchema });
/** "Kitten x3". */
const numbered = /^(.*\S)\s+[x×*]\s*(\d{1,2})$/i;

/** Who is added, in the order of the lines. Those that are numbered go on counting: three kittens of one sex, and two of the other. */
function animalsOf(values: Readonly<Record<string, unknown>>): readonly NamedAnimal[] {
  const counted = new Map<string, number>();
  const animals = sexes.flatMap((sex) => {
    const text = values[fieldOf(sex)];
    const lines = typeof text === 'string' ? text.split('\n') : [];
    return lines.flatMap((line) => namesOf(line.trim(), counted)).map((name): NamedAnimal => ({ name, sex }));
  });
  if (animals.length === 0) throw new FormError('Write at least one name.', fieldOf(sexes[0]));
  if (animals.length > litterMax)
    throw new FormError(
      `At most ${litterMax} animals at once; these are ${animals.length.toLocaleString('en')}.`,
      fieldOf(animals.at(-1)?.sex ?? sexes[0]),
    );
  for (const animal of animals) requireName(animal);
  return animals;
}

function namesOf(line: string, counted: Map<string, number>): string[] {
  if (line === '') return [];
  const [, base, times] = numbered.exec(line) ?? [];
  if (base === undefined) return [line];
  const before = counted.get(base) ?? 0;
  counted.set(base, before + Number(times));
  return Array.from({ length: Number(times) }, (_, index) => `${base} ${before + index + 1}`);
}

function requireName({ name, sex }: NamedAnimal): void {
  const fault = readForm(oneName, new URLSearchParams({ name })).errors.get('name');
  if (fault !== undefined) throw new FormError(`${[...name].slice(0, 40).join('')}: ${fault}`, fieldOf(sex));
}
