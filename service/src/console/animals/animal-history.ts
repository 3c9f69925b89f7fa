import { parseInt64 } from '../../platform/db/int64.ts';
import { html } from '../../platform/html.ts';
import { listActsOfPet } from '../../store/history/history-list.ts';
import { pageLinks } from '../frame/elements.ts';
import type { Screens } from '../screens/screens.ts';
import type { AnimalParts } from './animal-parts.ts';
import { getAnimal, headOf, pathOf } from './one-animal.ts';
import { timeline } from './timeline.ts';

const pageSize = 50;

/** Everything that was done with an animal, the newest first. */
export function addAnimalHistory(screens: Screens, { db }: AnimalParts): void {
  screens.page({
    path: '/animals/:petId/history',
    needs: 'pets:read',
    show: async (visit) => {
      const animal = await getAnimal(db, visit);
      const beforeId = parseInt64(visit.query.get('cursor') ?? '');
      const found = await listActsOfPet(db, animal.id, { beforeId, limit: pageSize + 1 });
      const acts = found.slice(0, pageSize);
      return {
        title: `History of ${animal.name}`,
        main: html`${headOf(animal, 'History')}
<section class="card">${acts.length > 0 ? timeline(visit, animal, acts) : html`<p class="soft">There is nothing older.</p>`}</section>
${pageLinks(`${pathOf(animal)}/history`, visit.query, found.length > pageSize ? acts.at(-1)?.id.toString() : undefined)}`,
      };
    },
  });
}
