import { Type } from 'typebox';
import { requireEtag } from '../../access/admission/admission-hook.ts';
import { settleApplications } from '../../adoption/applications/settling.ts';
import { findOpenOrder, findOpenOrdersOfPets, findOrderedPets } from '../../adoption/orders/orders.ts';
import { listUndoable, recordOutcome, type UndoablePet } from '../../adoption/outcomes/outcomes.ts';
import { actUndoably } from '../../adoption/undo/undo.ts';
import { petEtag } from '../../animals/pets/pet-json.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import { removePet } from '../../animals/pets/pets.ts';
import { mayHaveOutcome, outcomeKind, outcomeTypes, outcomeUndoing } from '../../domain/outcomes.ts';
import { html } from '../../platform/html.ts';
import { StringEnum } from '../../platform/http/schemas.ts';
import { findAnimalForStaff } from '../../search/listings/staff-list.ts';
import { type Column, emptyState, icon, pageLinks, table } from '../frame/elements.ts';
import type { PageRoute, Screens, ShownPage } from '../screens/screens.ts';
import type { Visit } from '../screens/visit.ts';
import { explainChange, lastAct } from './animal-history.ts';
import { placePathOf } from './animal-place.ts';
import { outcomeWords } from './animal-words.ts';
import { closingNote } from './closing-note.ts';
import { type AnimalParts, findDeparture, getAnimal, headOf, ifBack, inWordsOf, pathOf, toChange } from './one-animal.ts';

const nothing = Type.Object({});

/** All ways in which an animal goes that are no adoption: each says first what happens. */
export function addAnimalLeaving(screens: Screens, parts: AnimalParts): void {
  const { db } = parts;
  const page: PageRoute = screens.page({
    path: '/animals/:petId/leaving',
    needs: toChange,
    show: async (visit) => {
      const animal = await findAnimalForStaff(db, visit.caller, visit.id('petId'));
      if (!animal) return departed(visit);
      const orderId = (await findOpenOrdersOfPets(db, [animal.id])).get(animal.id);
      const { name } = animal;
      const version = petEtag(animal);
      const closing = await closingNote(parts, visit, animal, { reason: 'unavailable' });
      const choices = outcomeTypes.map((type) => ({ value: type, label: outcomeWords[type].name, hint: outcomeWords[type].hint }));
      const ordered = html`<p>An <a href="/orders/${orderId ?? 0n}">order</a> reserves <bdi>${name}</bdi>. Decide on the order first.</p>`;
      return {
        title: `${name} leaves`,
        main: html`${headOf(animal, 'Leaving')}
<section class="card"><h2>It has left without an adoption</h2>
${
  orderId !== undefined
    ? ordered
    : !mayHaveOutcome(animal.status)
      ? html`<p><bdi>${name}</bdi> is adopted. ${ifBack(name)}</p>`
      : html`<p><bdi>${name}</bdi> disappears from every list at once. Partners are not told why.</p>
${closing}
<p>For two minutes you can undo that. For ${outcomeUndoing.days} days you can bring it back, with its profile and photos.</p>
${visit.form(leave, { submit: 'Note that it has left', version }, (fields) => fields.choices('type', 'What has become of it', choices))}`
}</section>
${
  visit.may('store:manage') &&
  html`<p>Does it live on in another shelter of the store? <a href="${placePathOf(animal)}">Place it there</a>, with its orders and applications.</p>`
}
<section class="card"><h2>Remove it</h2>
${
  orderId !== undefined
    ? ordered
    : html`<details><summary>It was added by mistake</summary>
<p><bdi>${name}</bdi> disappears from every list, and its photos are deleted. You can undo that for two minutes, and not later.</p>
${closing}
${visit.form(remove, { submit: html`Remove ${name}`, tone: 'danger', version })}</details>`
}</section>`,
      };
    },
  });

  const leave = screens.form({
    path: '/animals/:petId/leaving/note',
    page,
    needs: toChange,
    fields: Type.Object({ type: StringEnum(outcomeTypes) }),
    explainConflict: (visit) => explainChange(db, visit),
    act: async ({ visit, tx, values: { type }, version }) => {
      const id = visit.id('petId');
      // One that has left already is not found: the operation says so.
      const animal = await findAnimalForStaff(tx, visit.caller, id);
      const name = animal?.name ?? '';
      const note = () =>
        inWordsOf(name, () => recordOutcome(tx, id, type, visit.caller, (pet) => requireEtag(version, petEtag(pet), pet.name)));
      await (animal ? actUndoably(tx, { kind: 'left', petId: id }, visit.caller, note) : note());
      return { to: pathOf({ id }), done: `It is noted that ${name} ${outcomeWords[type].did}.` };
    },
    explain: async ({ code }, visit) =>
      code === 'outcome_recorded'
        ? html`Nothing was changed. ${await lastAct(db, visit, (await findDeparture(db, visit)).pet, [outcomeKind])}`
        : undefined,
  });

  /** Of two people who note how an animal has left, the second finds what the first has noted, and what they have chosen. */
  async function departed(visit: Visit): Promise<ShownPage> {
    const { pet, outcome } = await findDeparture(db, visit);
    const chosen = outcomeTypes.find((type) => type === visit.rejected?.values.get('type'));
    return {
      title: `${pet.name} leaves`,
      main: html`<a class="crumb" href="${pathOf(pet)}">${icon('back')}<bdi>${pet.name}</bdi></a>
<h1>Leaving</h1>
<section class="card"><p><bdi>${pet.name}</bdi> ${outcomeWords[outcome.type].did}. It was noted on ${visit.times.at(outcome.recordedAt)}.</p>
${chosen && html`<p>You have chosen: <strong>${outcomeWords[chosen].name}</strong>.</p>`}
<p>To note something else, <a href="${pathOf(pet)}">bring <bdi>${pet.name}</bdi> back</a> first.</p></section>`,
    };
  }

  const remove = screens.form({
    path: '/animals/:petId/leaving/remove',
    page,
    needs: toChange,
    fields: nothing,
    explainConflict: (visit) => explainChange(db, visit),
    act: async ({ visit, tx, joined, version }) => {
      const animal = await getAnimal(joined, visit);
      const options = { findOpenOrder, findOrderedPets, settleApplications };
      const expect = (pet: Pet) => requireEtag(version, petEtag(pet), pet.name);
      await actUndoably(tx, { kind: 'removed', petId: animal.id }, visit.caller, () =>
        inWordsOf(animal.name, () => removePet(joined, animal.id, visit.caller, { ...options, expect })),
      );
      return { to: '/animals', done: `${animal.name} is removed.` };
    },
  });
}

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
