import { outcomeUndoing } from '../../domain/outcomes.ts';
import { html } from '../../platform/html.ts';
import { listUndoable, type UndoablePet } from '../../store/outcomes/outcomes.ts';
import { type Column, emptyState, icon, pageLinks, table } from '../frame/elements.ts';
import type { Screens } from '../screens/screens.ts';
import type { AnimalParts } from './animal-parts.ts';
import { outcomeWords } from './animal-words.ts';
import { pathOf, toChange } from './one-animal.ts';

export const leftPath = '/animals/left';
const pageSize = 50;

/** The animals that have left and can be brought back: no other list has them. */
export function addLeftList(screens: Screens, { db }: AnimalParts): void {
  screens.page({
    path: leftPath,
    needs: toChange,
    show: async ({ caller, query, times }) => {
      const found = await listUndoable(db, caller, { cursor: query.get('cursor') ?? undefined, limit: pageSize + 1 });
      const animals = found.slice(0, pageSize);
      const columns: [Column<UndoablePet>, ...Column<UndoablePet>[]] = [
        { name: 'Name', cell: (pet) => html`<a href="${pathOf(pet)}" data-row><bdi>${pet.name}</bdi></a>` },
        { name: 'Number', cell: ({ id }) => String(id) },
        { name: 'What became of it', cell: ({ type }) => outcomeWords[type].name },
        ...(caller.shelterId === null ? [{ name: 'Shelter', cell: ({ shelter }: UndoablePet) => html`<bdi>${shelter}</bdi>` }] : []),
        { name: 'Noted', cell: ({ recordedAt }) => times.on(recordedAt) },
        { name: 'Can come back until', cell: ({ undoableUntil }) => times.on(undoableUntil) },
      ];
      return {
        title: 'Animals that have left',
        main: html`<a class="crumb" href="/animals">${icon('back')}Animals</a>
<h1>Animals that have left</h1>
<p class="soft">Without an adoption, in the last ${outcomeUndoing.days} days. Open one to bring it back.</p>
${animals.length === 0 ? emptyState('paw', 'None', 'No animal has left without an adoption lately.') : table('Animals that have left', animals, columns)}
${pageLinks(leftPath, query, found.length > pageSize ? animals.at(-1)?.cursor : undefined)}`,
      };
    },
  });
}
