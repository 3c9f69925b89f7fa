import { Type } from 'typebox';
import { movePetWithin } from '../../adoption/shelters/moves.ts';
import { getShelter } from '../../adoption/shelters/shelters.ts';
import { isExternalIdTaken } from '../../animals/profiles/profiles.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { violates } from '../../platform/db/pool.ts';
import { AppError } from '../../platform/errors.ts';
import { html } from '../../platform/html.ts';
import { FormError, notFound } from '../screens/page-error.ts';
import type { PageRoute, Screens, ShownPage } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { shelterFinder } from '../shelters/shelter-finder.ts';
import { type AnimalParts, getAnimal, headOf, pathOf } from './one-animal.ts';

const destination = Type.Object({ shelterId: Type.Integer({ minimum: 1, 'x-must-be': 'the number of a shelter' }) });

/** Where staff of the store choose another shelter for an animal. */
export const placePathOf = (animal: Parameters<typeof pathOf>[0]): string => `${pathOf(animal)}/shelter`;

/** Places an animal in another shelter: it is chosen by name, and then it is said what follows. */
export function addAnimalPlace(screens: Screens, { db }: AnimalParts): void {
  const page: PageRoute = screens.page({
    path: '/animals/:petId/shelter',
    needs: 'store:manage',
    show: async (visit) => {
      const chosen = parseInt64(visit.rejected?.values.get('shelterId') ?? visit.query.get('to') ?? '');
      return chosen === undefined ? choosing(visit) : asking(visit, chosen);
    },
  });

  async function choosing(visit: Visit): Promise<ShownPage> {
    const animal = await getAnimal(db, visit);
    const path = placePathOf(animal);
    return {
      title: `Another shelter for ${animal.name}`,
      main: html`${headOf(animal, 'Place it in another shelter')}
<p><bdi>${animal.name}</bdi> is in <bdi>${animal.shelter.name}</bdi>. Choose where it goes: nothing changes before you are asked.</p>
${await shelterFinder(db, visit, { path, linkTo: (id) => `${path}?to=${id}` })}`,
    };
  }

  async function asking(visit: Visit, shelterId: bigint): Promise<ShownPage> {
    const animal = await getAnimal(db, visit);
    const { id, name, town } = await findShelter(shelterId);
    const back = html`<a class="button quiet" href="${placePathOf(animal)}">Choose another one</a>`;
    return {
      title: `${animal.name} goes to ${name}`,
      main: html`${headOf(animal, html`<bdi>${animal.name}</bdi> goes to <bdi>${name}</bdi>?`)}
<section class="card"><p><bdi>${name}</bdi> has the number ${id}${town !== null && html` and is in <bdi>${town}</bdi>`}.
The profile, the orders and the open applications of <bdi>${animal.name}</bdi> go with it: the people there act on them from then on.
Applications that have ended stay where they are. Nobody is mailed. The people there can't send it back by themselves.</p>
${visit.form(move, { submit: 'Place it there', values: { shelterId: id }, beside: back }, (fields) => fields.hidden('shelterId'))}</section>`,
    };
  }

  const findShelter = (id: bigint) =>
    getShelter(db, id).catch((error: unknown) => {
      throw error instanceof AppError && error.code === 'shelter_not_found' ? notFound('There is no such shelter.') : error;
    });

  const move = screens.form({
    path: '/animals/:petId/shelter/place',
    page,
    needs: 'store:manage',
    fields: destination,
    act: async ({ visit, tx, values }) => {
      const animal = await getAnimal(tx, visit);
      const shelterId = BigInt(values.shelterId);
      try {
        await movePetWithin(tx, animal.id, shelterId, visit.caller);
      } catch (error) {
        if (violates(error, 'pets_shelter_id_fkey')) throw notFound('There is no such shelter.');
        if (isExternalIdTaken(error))
          throw new FormError(`An animal there has the shelter's own number of ${animal.name}. Change it in the profile first.`);
        throw error;
      }
      return { to: pathOf(animal), done: `${animal.name} is in ${(await getShelter(tx, shelterId)).name} now.` };
    },
  });
}
