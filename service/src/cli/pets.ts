import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import { theService } from '../domain/actor.ts';
import { petStatuses } from '../domain/pet-statuses.ts';
import type { ReadConfig } from '../platform/config.ts';
import type { Db } from '../platform/db/handles.ts';
import { settleApplications } from '../store/applications/settling.ts';
import { findCategoryNames } from '../store/categories/category-queries.ts';
import { findOpenOrdersOfPets } from '../store/orders/order-queries.ts';
import { findOpenOrder, findOrderedPets } from '../store/orders/orders.ts';
import { petJson } from '../store/pets/pet-json.ts';
import { selectPets } from '../store/pets/pet-queries.ts';
import { type NewPet, NewPetSchema, type Pet } from '../store/pets/pet-schemas.ts';
import { addPetToCategory, createPet, firstShelterId, removePet } from '../store/pets/pets.ts';
import { movePetToShelter } from '../store/shelters/moves.ts';
import { readCategoryId } from './categories-by-name.ts';
import { checkBySchema } from './checked-options.ts';
import { addListAction } from './list-command.ts';
import { categoryOf, explainOpenOrder, explainUnknownCategory, getNamedPet, type NamedPet, petOf, withCategory } from './named-pets.ts';
import { named } from './names.ts';
import { choiceOption, parseId } from './option-values.ts';
import { type Asked, confirm, UsageError } from './output.ts';
import { addDescribePetCommand } from './pet-describe.ts';
import { addHoldPetCommand } from './pet-hold.ts';
import { addOutcomeCommand } from './pet-outcome.ts';
import { addPetPhotoCommands } from './pet-photos.ts';
import { addShowPetCommand } from './pet-show.ts';
import { addUpdatePetCommand } from './pet-update.ts';
import { onStore, yesOption } from './store-command.ts';

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
      return { json: added, text: `Added ${petOf(added)} to ${place}. It is ${added.status}.` };
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
  onStore(removeCommand, config, (id: bigint, options: Asked) => async (dependencies) => {
    const pet = await getNamedPet(dependencies.db, id);
    await confirm(`${petOf(pet)} of ${categoryOf(pet)}, ${pet.status}`, 'Remove it?', options);
    await remove(dependencies, pet);
    return { json: { id, removed: true }, text: `Removed ${petOf(pet)}.` };
  });

  addOutcomeCommand(pets, config);
}

type PetStatus = Pet['status'];

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
    throw new UsageError(`${petOf(pet)} has just been changed. Look at it again: homeward pets show ${id}`);
  };
  try {
    await removePet(catalogue, id, theService, { expect, findOpenOrder, findOrderedPets, settleApplications });
  } catch (error) {
    throw await explainOpenOrder(db, shown, "it can't be removed", error);
  }
}
