import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import { theService } from '../domain/actor.ts';
import { petStatuses } from '../domain/pet-statuses.ts';
import type { ReadConfig } from '../platform/config.ts';
import type { Db } from '../platform/db/handles.ts';
import { AppError } from '../platform/errors.ts';
import { settleApplications } from '../store/applications/settling.ts';
import { findCategoryNames } from '../store/categories/category-queries.ts';
import { findNamedOrder, findOpenOrdersOfPets } from '../store/orders/order-queries.ts';
import { findOpenOrder } from '../store/orders/orders.ts';
import { petJson } from '../store/pets/pet-json.ts';
import { findPet, selectPets } from '../store/pets/pet-queries.ts';
import { type NewPet, NewPetSchema, type Pet } from '../store/pets/pet-schemas.ts';
import { addPetToCategory, createPet, firstShelterId, removePet } from '../store/pets/pets.ts';
import { dayOf } from '../store/profiles/profile-checks.ts';
import { profileOf } from '../store/profiles/profile-json.ts';
import { getProfile } from '../store/profiles/profiles.ts';
import { movePetToShelter } from '../store/shelters/moves.ts';
import { describeCategories, readCategoryId } from './categories-by-name.ts';
import { checkBySchema } from './checked-options.ts';
import { addListAction } from './list-command.ts';
import { named } from './names.ts';
import { choiceOption, parseId } from './option-values.ts';
import { type Asked, confirm, printLines, printRecord, timeText, UsageError } from './output.ts';
import { onStore, type Result, yesOption } from './store-command.ts';

export function addPetCommands(program: Command, config: ReadConfig): void {
  const pets = program.command('pets').description('list, show, add, move and remove animals');

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

  const show = pets
    .command('show')
    .description('show an animal with its profile and its open order')
    .argument('<id>', 'the animal', parseId);
  onStore(show, config, (id: bigint) => (dependencies) => describePet(dependencies, id));

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
      return { json: added, text: `Added ${named(name, added.id)} to ${place}. It is ${added.status}.` };
    };
  });

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
    await confirm(`${named(pet.name, id)} of ${categoryOf(pet)}, ${pet.status}`, 'Remove it?', options);
    await remove(dependencies, pet);
    return { json: { id, removed: true }, text: `Removed ${named(pet.name, id)}.` };
  });
}

type PetStatus = Pet['status'];

interface NamedPet extends Pet {
  /** The category's name; null: it has none. */
  readonly category: string | null;
}

const categoryOf = ({ category, categoryId }: NamedPet) => (category === null ? `category ${categoryId}` : named(category, categoryId));

async function withCategory(db: Db, pet: Pet): Promise<NamedPet> {
  const names = await findCategoryNames(db, [pet.categoryId]);
  return { ...pet, category: names.get(pet.categoryId) ?? null };
}

async function getNamedPet(db: Db, id: bigint): Promise<NamedPet> {
  const pet = await findPet(db, id);
  if (!pet) throw new UsageError(`There is no animal ${id}. 'homeward pets list' lists all.`);
  return withCategory(db, pet);
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

async function describePet({ db }: Dependencies, id: bigint): Promise<Result> {
  const pet = await getNamedPet(db, id);
  const orderId = (await findOpenOrdersOfPets(db, [pet.id])).get(pet.id);
  const order = orderId === undefined ? undefined : await findNamedOrder(db, orderId);
  const profile = profileOf(await getProfile(db, pet.id), dayOf(Date.now()));
  const { breeds, age, sex, size, externalId } = profile;
  const record = {
    animal: named(pet.name, pet.id),
    category: named(pet.category ?? undefined, pet.categoryId),
    status: pet.status,
    breed: [breeds.primary, breeds.secondary].filter((breed) => breed !== null).join(', ') || undefined,
    age,
    sex: sex === 'unknown' ? undefined : sex,
    size,
    'external id': externalId,
    'open order': order && `${order.id}, ${order.status} ${timeText(order.updatedAt)} by ${named(order.client, order.clientId)}`,
  };
  const text = () => {
    printRecord(record);
    if (order) printLines('', `See the order: homeward orders show ${order.id}`);
  };
  return { json: { ...pet, order: order ?? null, profile }, text };
}

/** As the API adds an animal for staff: a new category is registered if the list of categories is open. */
async function addPet({ db, catalogue, config: { categories } }: Dependencies, pet: NewPet): Promise<Pet> {
  try {
    const rules = { categories, shelterId: firstShelterId, registrant: undefined };
    const added = await addPetToCategory(catalogue, pet, theService, rules);
    return added ?? (await catalogue.transaction((tx) => createPet(tx, pet, theService, rules)));
  } catch (error) {
    if (error instanceof AppError && error.code === 'category_not_found')
      throw new UsageError(`There is no category ${pet.categoryId}. ${await describeCategories(db)}`);
    throw error;
  }
}

async function remove({ db, catalogue }: Dependencies, shown: NamedPet): Promise<void> {
  const { id } = shown;
  const expect = (pet: Pet) => {
    if (petJson(pet) === petJson(shown)) return;
    throw new UsageError(`${named(pet.name, id)} has just been changed. Look at it again: homeward pets show ${id}`);
  };
  try {
    await removePet(catalogue, id, theService, { expect, findOpenOrder, settleApplications });
  } catch (error) {
    const order =
      error instanceof AppError && error.code === 'pet_has_open_order' ? (await findOpenOrdersOfPets(db, [id])).get(id) : undefined;
    if (order === undefined) throw error;
    throw new UsageError(
      `${named(shown.name, id)} is reserved by order ${order}, so it can't be removed. Cancel the order first: homeward orders cancel ${order}`,
    );
  }
}
