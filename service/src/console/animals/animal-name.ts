import { Type } from 'typebox';
import { requireEtag } from '../../access/admission/admission-hook.ts';
import { settleApplications } from '../../adoption/applications/settling.ts';
import { findOpenOrder, findOrderedPets } from '../../adoption/orders/orders.ts';
import { petEtag } from '../../animals/pets/pet-json.ts';
import { NewPetSchema } from '../../animals/pets/pet-schemas.ts';
import { changePet } from '../../animals/pets/pets.ts';
import { html } from '../../platform/html.ts';
import type { PageRoute, Screens } from '../screens/screens.ts';
import { explainChange } from './animal-history.ts';
import {
  type AnimalParts,
  categoryChoices,
  categoryField,
  getAnimal,
  headOf,
  inWordsOf,
  pathOf,
  registrantOf,
  toChange,
} from './one-animal.ts';

const { name, categoryId } = NewPetSchema.properties;

/** The name and the category of an animal. */
export function addAnimalName(screens: Screens, { db, config }: AnimalParts): void {
  const page: PageRoute = screens.page({
    path: '/animals/:petId/name',
    needs: toChange,
    show: async (visit) => {
      const animal = await getAnimal(db, visit);
      const categories = await categoryChoices(db);
      const category = animal.category ?? `category ${animal.categoryId}`;
      return {
        title: `Name of ${animal.name}`,
        main: html`${headOf(animal, 'Name and category')}
${visit.rejected?.errors?.size === 0 && html`<p>Now it is <strong><bdi>${animal.name}</bdi></strong>, ${category}.</p>`}
<section class="card">${visit.form(
          rename,
          { submit: 'Save', values: { name: animal.name, categoryId: animal.categoryId }, version: petEtag(animal) },
          (fields) => html`${fields.text('name', 'Name')}
${categoryField(fields, categories, animal)}`,
        )}</section>`,
      };
    },
  });

  const rename = screens.form({
    path: '/animals/:petId/name/save',
    page,
    needs: toChange,
    fields: Type.Object({ name, categoryId }),
    explainConflict: (visit) => explainChange(db, visit),
    act: async ({ visit, joined, values, version }) => {
      const animal = await getAnimal(joined, visit);
      const { caller } = visit;
      const changed = await inWordsOf(animal.name, () =>
        changePet(joined, animal.id, values, caller, {
          findOpenOrder,
          findOrderedPets,
          settleApplications,
          categories: config.categories,
          registrant: registrantOf(caller),
          expect: (pet) => requireEtag(version, petEtag(pet), pet.name),
        }),
      );
      return { to: pathOf(animal), done: `${changed.name} is saved.` };
    },
  });
}
