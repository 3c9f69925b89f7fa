import { findOpenOrdersOfPets } from '../../adoption/orders/order-queries.ts';
import { getOutcome } from '../../adoption/outcomes/outcomes.ts';
import { findCategoryNames } from '../../animals/categories/category-queries.ts';
import { findPet } from '../../animals/pets/pet-queries.ts';
import type { Pet } from '../../animals/pets/pet-schemas.ts';
import { theService } from '../../domain/actor.ts';
import type { Db } from '../../platform/db/handles.ts';
import { AppError } from '../../platform/errors.ts';
import { named, UsageError } from '../terminal/output.ts';
import { describeCategories } from './categories.ts';

export interface NamedPet extends Pet {
  /** The category's name; null: it has none. */
  readonly category: string | null;
}

export const petName = ({ id, name }: Pick<Pet, 'id' | 'name'>): string => named(name, id);

export const categoryOf = ({ category, categoryId }: NamedPet): string =>
  category === null ? `category ${categoryId}` : named(category, categoryId);

export async function withCategory(db: Db, pet: Pet): Promise<NamedPet> {
  const names = await findCategoryNames(db, [pet.categoryId]);
  return { ...pet, category: names.get(pet.categoryId) ?? null };
}

export async function getNamedPet(db: Db, id: bigint): Promise<NamedPet> {
  const pet = await findPet(db, id);
  if (!pet) throw await explainMissing(db, id);
  return withCategory(db, pet);
}

async function explainMissing(db: Db, id: bigint): Promise<UsageError> {
  const outcome = await getOutcome(db, id, theService).catch(ignoreMissing);
  if (!outcome) return new UsageError(`There is no animal ${id}. 'homeward pets list' lists all.`);
  return new UsageError(`Animal ${id} has left the store: ${outcome.type}. 'homeward pets outcome ${id}' says more.`);
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error;
}

/** The error of a command for an unknown category: with those that exist. */
export async function explainUnknownCategory(db: Db, categoryId: bigint, error: unknown): Promise<unknown> {
  if (!(error instanceof AppError && error.code === 'category_not_found')) return error;
  return new UsageError(`There is no category ${categoryId}. ${await describeCategories(db)}`);
}

/** The error of a command for an animal with an open order: with the command that cancels it. */
export async function explainOpenOrder(db: Db, pet: Pick<Pet, 'id' | 'name'>, what: string, error: unknown): Promise<unknown> {
  if (!(error instanceof AppError && error.code === 'pet_has_open_order')) return error;
  const order = (await findOpenOrdersOfPets(db, [pet.id])).get(pet.id);
  if (order === undefined) return error;
  return new UsageError(
    `${petName(pet)} is reserved by order ${order}, so ${what}. Cancel the order first: homeward orders cancel ${order}`,
  );
}
