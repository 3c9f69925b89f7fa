import type { Command } from 'commander';
import { findCategoryNames } from '../categories/category-queries.ts';
import type { ReadConfig } from '../config.ts';
import type { Db } from '../db/handles.ts';
import { type Dependencies, openDependencies } from '../dependencies.ts';
import { theService } from '../domain/actor.ts';
import { petStatuses } from '../domain/pet-statuses.ts';
import { AppError } from '../errors.ts';
import { findNamedOrder, findOpenOrdersOfPets } from '../orders/order-queries.ts';
import { findOpenOrder } from '../orders/orders.ts';
import { petJson } from '../pets/pet-json.ts';
import { findPet, selectPets } from '../pets/pet-queries.ts';
import { type NewPet, NewPetSchema, type Pet } from '../pets/pet-schemas.ts';
import { addPetToCategory, createPet, firstShelterId, removePet } from '../pets/pets.ts';
import { dayOf } from '../profiles/profile-checks.ts';
import { profileOf } from '../profiles/profile-json.ts';
import { getProfile } from '../profiles/profiles.ts';
import { movePetToShelter } from '../shelters/moves.ts';
import { describeCategories, readCategoryId } from './categories-by-name.ts';
import { checkOptions } from './checked-options.ts';
import { choiceOption } from './choices.ts';
import { addListOptions, type ListOptions, printNextPageHint, readChoice, readListOptions } from './list-options.ts';
import { named } from './names.ts';
import { confirm, parseId, printJson, printLines, printRecord, printTable, timeText, UsageError } from './output.ts';
import { asUsageError } from './rejections.ts';

interface ListPetsOptions extends ListOptions {
  readonly status?: string;
  readonly category?: string;
}

interface AddOptions {
  readonly name: string;
  readonly category: string;
  readonly status?: string;
  readonly json?: boolean;
}

export function addPetCommands(program: Command, config: ReadConfig): void {
  const pets = program.command('pets').description('list, show, add, move and remove animals');

  addListOptions(
    pets
      .command('list')
      .description('list animals with their categories and open orders')
      .addOption(choiceOption('--status <status>', 'only animals with this status', petStatuses))
      .option('--category <category>', 'only animals of this category, given by its id or its name'),
    'animals',
  ).action(async (options: ListPetsOptions) => {
    const status = options.status === undefined ? undefined : readChoice('--status', options.status, petStatuses);
    const page = readListOptions(options);
    await using dependencies = await openDependencies(config());
    await listPets(dependencies.db, { status, category: options.category }, page, options.json);
  });

  pets
    .command('show')
    .description('show an animal with its profile and its open order')
    .argument('<id>', 'the animal')
    .option('--json', 'print one JSON object')
    .action(async (id: string, { json }: { json?: boolean }) => {
      const petId = parseId(id);
      await using dependencies = await openDependencies(config());
      await showPet(dependencies.db, await getNamedPet(dependencies.db, petId), json);
    });

  pets
    .command('add')
    .description('add an animal')
    .requiredOption('--name <name>', "the animal's name")
    .requiredOption('--category <category>', 'its category, given by its id or its name')
    .addOption(choiceOption('--status <status>', 'its status', petStatuses).default('available'))
    .option('--json', 'print one JSON object')
    .action(async ({ name, category, status = 'available', json }: AddOptions) => {
      checkOptions({ '--name': { value: name, schema: NewPetSchema.properties.name } });
      const chosen = readChoice('--status', status, petStatuses);
      await using dependencies = await openDependencies(config());
      const categoryId = await readCategoryId(dependencies.db, category);
      const added = await withCategory(dependencies.db, await addPet(dependencies, { name, categoryId, status: chosen }));
      if (json) printJson(added);
      else
        printLines(
          `Added ${named(name, added.id)} to ${categoryOf(added)}${added.category === null ? ', which has no name yet' : ''}. It is ${added.status}.`,
        );
    });

  pets
    .command('move')
    .description('move an animal to another shelter; its orders and its profile follow')
    .argument('<id>', 'the animal')
    .requiredOption('--shelter <id>', 'the shelter')
    .option('--json', 'print one JSON object')
    .action(async (id: string, { shelter, json }: { shelter: string; json?: boolean }) => {
      const [petId, shelterId] = [parseId(id), parseId(shelter)];
      await using dependencies = await openDependencies(config());
      const moved = await movePetToShelter(dependencies, petId, shelterId, theService).catch(asUsageError);
      if (json) printJson({ id: petId, shelterId, moved });
      else printLines(moved ? `Moved animal ${petId} to shelter ${shelterId}.` : `Animal ${petId} is in shelter ${shelterId} already.`);
    });

  pets
    .command('remove')
    .description('remove an animal that was added by mistake; it disappears from every list, and its history is kept')
    .argument('<id>', 'the animal')
    .option('--yes', 'do not ask on a terminal')
    .option('--json', 'print one JSON object')
    .action(async (id: string, { yes, json }: { yes?: boolean; json?: boolean }) => {
      const petId = parseId(id);
      await using dependencies = await openDependencies(config());
      const pet = await getNamedPet(dependencies.db, petId);
      await confirm({ target: `${named(pet.name, petId)} of ${categoryOf(pet)}, ${pet.status}`, question: 'Remove it?', yes, json });
      await remove(dependencies, pet);
      if (json) printJson({ id: petId, removed: true });
      else printLines(`Removed ${named(pet.name, petId)}.`);
    });
}

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

async function listPets(
  db: Db,
  { status, category }: { status: Pet['status'] | undefined; category: string | undefined },
  { afterId, limit }: { afterId: bigint; limit: number },
  json: boolean | undefined,
): Promise<void> {
  const categoryId = category === undefined ? undefined : await readCategoryId(db, category);
  const found = await selectPets(db, { status, categoryId }, { afterId, limit: limit + 1 });
  const page = found.slice(0, limit).map((pet) => ({ ...pet, id: BigInt(pet.id), categoryId: BigInt(pet.categoryId) }));
  const categoryNames = await findCategoryNames(db, [...new Set(page.map((pet) => pet.categoryId))]);
  const openOrders = await findOpenOrdersOfPets(
    db,
    page.map(({ id }) => id),
  );
  const rows = page.map((pet) => ({
    ...pet,
    category: categoryNames.get(pet.categoryId) ?? null,
    orderId: openOrders.get(pet.id) ?? null,
  }));
  if (json) return printJson(rows);
  printTable(
    rows.map((pet) => ({
      id: pet.id,
      name: pet.name,
      status: pet.status,
      category: named(pet.category ?? undefined, pet.categoryId),
      order: pet.orderId,
    })),
    status === undefined && category === undefined && afterId === 0n
      ? 'There are no animals. Add one: homeward pets add'
      : 'No animals match.',
  );
  const filters = [status && ` --status ${status}`, categoryId !== undefined && ` --category ${categoryId}`].filter(Boolean).join('');
  printNextPageHint(`homeward pets list${filters}`, rows, found);
}

async function showPet(db: Db, pet: NamedPet, json: boolean | undefined): Promise<void> {
  const orderId = (await findOpenOrdersOfPets(db, [pet.id])).get(pet.id);
  const order = orderId === undefined ? undefined : await findNamedOrder(db, orderId);
  const profile = profileOf(await getProfile(db, pet.id), dayOf(Date.now()));
  if (json) return printJson({ ...pet, order: order ?? null, profile });
  const { breeds, age, sex, size, externalId } = profile;
  printRecord({
    animal: named(pet.name, pet.id),
    category: named(pet.category ?? undefined, pet.categoryId),
    status: pet.status,
    breed: [breeds.primary, breeds.secondary].filter((breed) => breed !== null).join(', ') || undefined,
    age,
    sex: sex === 'unknown' ? undefined : sex,
    size,
    'external id': externalId,
    'open order': order && `${order.id}, ${order.status} ${timeText(order.updatedAt)} by ${named(order.client, order.clientId)}`,
  });
  if (order) printLines('', `See the order: homeward orders show ${order.id}`);
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
    return asUsageError(error);
  }
}

async function remove({ db, catalogue }: Dependencies, shown: NamedPet): Promise<void> {
  const { id } = shown;
  const expect = (pet: Pet) => {
    if (petJson(pet) === petJson(shown)) return;
    throw new UsageError(`${named(pet.name, id)} has just been changed. Look at it again: homeward pets show ${id}`);
  };
  try {
    await removePet(catalogue, id, theService, { expect, findOpenOrder });
  } catch (error) {
    const order =
      error instanceof AppError && error.code === 'pet_has_open_order' ? (await findOpenOrdersOfPets(db, [id])).get(id) : undefined;
    if (order === undefined) asUsageError(error);
    throw new UsageError(
      `${named(shown.name, id)} is reserved by order ${order}, so it can't be removed. Cancel the order first: homeward orders cancel ${order}`,
    );
  }
}
