import type { Command } from 'commander';
import { countOfPet } from '../../adoption/applications/count-queries.ts';
import { settleApplications } from '../../adoption/applications/settling.ts';
import { findOpenOrdersOfPets } from '../../adoption/orders/order-queries.ts';
import { findOpenOrder, findOrderedPets } from '../../adoption/orders/orders.ts';
import { movePetToShelter } from '../../adoption/shelters/moves.ts';
import { findCategoryNames } from '../../animals/categories/category-queries.ts';
import { petJson } from '../../animals/pets/pet-json.ts';
import { selectPets } from '../../animals/pets/pet-queries.ts';
import { type NewPet, NewPetSchema, type Pet, type PetChanges, PetChangesSchema } from '../../animals/pets/pet-schemas.ts';
import { addPetToCategory, changePet, createPet, firstShelterId, removePet } from '../../animals/pets/pets.ts';
import type { Dependencies } from '../../dependencies.ts';
import { theService } from '../../domain/actor.ts';
import { closedBy } from '../../domain/application-states.ts';
import { type PetStatus, petStatuses } from '../../domain/pet-statuses.ts';
import type { ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import { checkBySchema } from '../terminal/checked-options.ts';
import { type ConfirmOptions, confirm, named, UsageError } from '../terminal/output.ts';
import { addListAction, choiceOption, onStore, parseId, yesOption } from '../terminal/store-command.ts';
import { readCategoryId } from './categories.ts';
import { addHoldPetCommand, addOutcomeCommand } from './holds.ts';
import { categoryOf, explainOpenOrder, explainUnknownCategory, getNamedPet, type NamedPet, petName, withCategory } from './named-pets.ts';
import { addDescribePetCommand } from './pet-describe.ts';
import { addShowPetCommand } from './pet-show.ts';
import { addPetPhotoCommands } from './photos.ts';

export function addPetCommands(program: Command, config: ReadConfig): void {
  const pets = program
    .command('pets')
    .description('list, show, add, update, describe, hold, move and remove animals, add photos, and record outcomes');

  const list = pets
    .command('list')
    .description('list animals with their categories and open orders')
    .addOption(choiceOption('--status <status>', 'only animals with this status', petStatuses))
    .option('--category <category>', 'only animals of this category, given by its id or its name');
  addListAction(list, config, {
    what: 'animals',
    ifNone: 'There are no animals. Add one: homeward pets add',
    find: async ({ db }, page, { status, category }: { status?: PetStatus; category?: string }) => {
      const categoryId = category === undefined ? undefined : await readCategoryId(db, category);
      const found = await withOrders(db, await selectPets(db, { status, categoryId }, page));
      return { found, filters: { status, category: categoryId } };
    },
    columns: ({ id, name, status, category, categoryId, orderId }) => ({
      id,
      name,
      status,
      category: named(category ?? undefined, categoryId),
      order: orderId,
    }),
  });

  addShowPetCommand(pets, config);

  const add = pets
    .command('add')
    .description('add an animal')
    .requiredOption('--name <name>', "the animal's name")
    .requiredOption('--category <category>', 'its category, given by its id or its name')
    .addOption(choiceOption('--status <status>', 'its status', petStatuses).default('available'));
  onStore(add, config, ({ name, category, status }: { name: string; category: string; status: PetStatus }) => {
    checkBySchema({ type: 'object', properties: { '--name': NewPetSchema.properties.name } }, { '--name': name });
    return async (dependencies) => {
      const { db } = dependencies;
      const categoryId = await readCategoryId(db, category);
      const added = await withCategory(db, await addPet(dependencies, { name, categoryId, status }));
      const place = `${categoryOf(added)}${added.category === null ? ', which has no name yet' : ''}`;
      return { json: added, text: `Added ${petName(added)} to ${place}. It is ${added.status}.` };
    };
  });

  addUpdatePetCommand(pets, config);
  addDescribePetCommand(pets, config);
  addPetPhotoCommands(pets, config);
  addHoldPetCommand(pets, config);

  const move = pets
    .command('move')
    .description('move an animal to another shelter; its orders and its profile follow')
    .argument('<id>', 'the animal', parseId)
    .requiredOption('--shelter <id>', 'the shelter', parseId);
  onStore(move, config, (id: bigint, { shelter: shelterId }: { shelter: bigint }) => async (dependencies) => {
    const moved = await movePetToShelter(dependencies, id, shelterId, theService);
    const text = moved ? `Moved animal ${id} to shelter ${shelterId}.` : `Animal ${id} is in shelter ${shelterId} already.`;
    return { json: { id, shelterId, moved }, text };
  });

  const removeCommand = pets
    .command('remove')
    .description('remove an animal that was added by mistake; it disappears from every list, and its history is kept')
    .argument('<id>', 'the animal', parseId)
    .option(...yesOption);
  onStore(removeCommand, config, (id: bigint, options: ConfirmOptions) => async (dependencies) => {
    const pet = await getNamedPet(dependencies.db, id);
    await confirm(`${petName(pet)} of ${categoryOf(pet)}, ${pet.status}`, 'Remove it?', options);
    await remove(dependencies, pet);
    return { json: { id, removed: true }, text: `Removed ${petName(pet)}.` };
  });

  addOutcomeCommand(pets, config);
}

async function withOrders(db: Db, pets: readonly Pet[]) {
  const categoryNames = await findCategoryNames(
    db,
    pets.map(({ categoryId }) => categoryId),
  );
  const openOrders = await findOpenOrdersOfPets(
    db,
    pets.map(({ id }) => id),
  );
  return pets.map((pet) => ({
    ...pet,
    category: categoryNames.get(pet.categoryId) ?? null,
    orderId: openOrders.get(pet.id) ?? null,
  }));
}

/** As the API adds an animal for staff: a new category is registered if the list of categories is open. */
async function addPet({ db, catalogue, config: { categories } }: Dependencies, pet: NewPet): Promise<Pet> {
  try {
    const rules = { categories, shelterId: firstShelterId, registrant: undefined };
    const added = await addPetToCategory(catalogue, pet, theService, rules);
    return added ?? (await catalogue.transaction((tx) => createPet(tx, pet, theService, rules), theService));
  } catch (error) {
    throw await explainUnknownCategory(db, pet.categoryId, error);
  }
}

async function remove({ db, catalogue }: Dependencies, shown: NamedPet): Promise<void> {
  const { id } = shown;
  const expect = (pet: Pet) => {
    if (petJson(pet) === petJson(shown)) return;
    throw new UsageError(`${petName(pet)} has just been changed. Look at it again: homeward pets show ${id}`);
  };
  try {
    await removePet(catalogue, id, theService, { expect, findOpenOrder, findOrderedPets, settleApplications });
  } catch (error) {
    throw await explainOpenOrder(db, shown, "it can't be removed", error);
  }
}

interface UpdateOptions extends ConfirmOptions {
  readonly name?: string;
  readonly category?: string;
  readonly status?: PetStatus;
}

function addUpdatePetCommand(pets: Command, config: ReadConfig): void {
  const update = pets
    .command('update')
    .description('change the name, the category or the status of an animal')
    .argument('<id>', 'the animal', parseId)
    .option('--name <name>', 'its new name')
    .option('--category <category>', 'its new category, given by its id or its name')
    .addOption(choiceOption('--status <status>', 'its new status; an order that is open decides it', petStatuses))
    .option(...yesOption);
  onStore(update, config, (id: bigint, { name, category, status, ...asked }: UpdateOptions) => {
    if (name === undefined && category === undefined && status === undefined) {
      throw new UsageError('Give what to change: --name, --category, --status, or several of them.');
    }
    const nameSchema = { type: 'object', properties: { '--name': PetChangesSchema.properties.name } };
    if (name !== undefined) checkBySchema(nameSchema, { '--name': name });
    return async (dependencies) => {
      const { db } = dependencies;
      const pet = await getNamedPet(db, id);
      const categoryId = category === undefined ? undefined : await readCategoryId(db, category);
      const closed = status !== undefined && status !== pet.status && closedBy[status] ? await countOfPet(db, id) : 0;
      if (closed > 0)
        await confirm(`${petName(pet)} of ${categoryOf(pet)}, ${pet.status}`, `${closingOf(closed)} Set it to ${status}?`, asked);
      const changes = { ...(name !== undefined && { name }), ...(categoryId !== undefined && { categoryId }), ...(status && { status }) };
      const changed = await withCategory(db, await change(dependencies, pet, changes));
      return { json: changed, text: describeChange(pet, changed) };
    };
  });
}

const closingOf = (count: number) =>
  count === 1 ? 'An open application for it is closed with that.' : `${count} open applications for it are closed with that.`;

/** The same operation as the API's, done as the store's staff. */
async function change({ db, catalogue, config: { categories } }: Dependencies, pet: NamedPet, changes: PetChanges): Promise<Pet> {
  const rules = { findOpenOrder, findOrderedPets, settleApplications, expect: () => {}, categories, registrant: undefined };
  try {
    return await changePet(catalogue, pet.id, changes, theService, rules);
  } catch (error) {
    const known = await explainOpenOrder(db, pet, `its status can't be set to ${changes.status}`, error);
    throw await explainUnknownCategory(db, changes.categoryId ?? pet.categoryId, known);
  }
}

function describeChange(before: NamedPet, after: NamedPet): string {
  const changes = [
    ...(before.name === after.name ? [] : [`it was called ${before.name}`]),
    ...(before.categoryId === after.categoryId ? [] : [`it moved from ${categoryOf(before)} to ${categoryOf(after)}`]),
    ...(before.status === after.status ? [] : [`it is ${after.status} now, and was ${before.status}`]),
  ];
  return changes.length === 0 ? `${petName(after)} is so already.` : `Updated ${petName(after)}: ${changes.join('; ')}.`;
}
