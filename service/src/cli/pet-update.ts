import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import { theService } from '../domain/actor.ts';
import { closedBy } from '../domain/application-states.ts';
import { type PetStatus, petStatuses } from '../domain/pet-statuses.ts';
import type { ReadConfig } from '../platform/config.ts';
import { countOfPet } from '../store/applications/place-queries.ts';
import { settleApplications } from '../store/applications/settling.ts';
import { findOpenOrder, findOrderedPets } from '../store/orders/orders.ts';
import { type Pet, type PetChanges, PetChangesSchema } from '../store/pets/pet-schemas.ts';
import { changePet } from '../store/pets/pets.ts';
import { readCategoryId } from './categories-by-name.ts';
import { checkBySchema } from './checked-options.ts';
import { categoryOf, explainOpenOrder, explainUnknownCategory, getNamedPet, type NamedPet, petOf, withCategory } from './named-pets.ts';
import { choiceOption, parseId } from './option-values.ts';
import { type Asked, confirm, UsageError } from './output.ts';
import { onStore, yesOption } from './store-command.ts';

interface UpdateOptions extends Asked {
  readonly name?: string;
  readonly category?: string;
  readonly status?: PetStatus;
}

export function addUpdatePetCommand(pets: Command, config: ReadConfig): void {
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
        await confirm(`${petOf(pet)} of ${categoryOf(pet)}, ${pet.status}`, `${closingOf(closed)} Set it to ${status}?`, asked);
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
  return changes.length === 0 ? `${petOf(after)} is so already.` : `Updated ${petOf(after)}: ${changes.join('; ')}.`;
}
