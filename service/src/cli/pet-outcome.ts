import type { Command } from 'commander';
import { theService } from '../domain/actor.ts';
import { type OutcomeType, outcomeTypes } from '../domain/outcomes.ts';
import type { ReadConfig } from '../platform/config.ts';
import { getOutcome, recordOutcome, undoOutcome } from '../store/outcomes/outcomes.ts';
import { findPet } from '../store/pets/pet-queries.ts';
import { named } from './names.ts';
import { choiceOption, parseId } from './option-values.ts';
import { timeText, UsageError } from './output.ts';
import { onStore } from './store-command.ts';

interface Options {
  readonly type?: OutcomeType;
  readonly undo?: true;
}

/** `homeward pets outcome`: records an outcome, undoes it, or shows it. */
export function addOutcomeCommand(pets: Command, config: ReadConfig): void {
  const command = pets
    .command('outcome')
    .description('record how an animal has left the store without being adopted here, undo that, or show it')
    .argument('<id>', 'the animal', parseId)
    .addOption(choiceOption('--type <type>', 'record this outcome: the animal disappears from every list', outcomeTypes))
    .option('--undo', 'list the animal again, as pending, with its profile and photos');
  onStore(command, config, (id: bigint, { type, undo }: Options) => {
    if (type && undo) throw new UsageError('--type and --undo exclude each other.');
    return async ({ db, catalogue }) => {
      if (undo) {
        const pet = await undoOutcome({ db, catalogue }, id, theService);
        return { json: pet, text: `${named(pet.name, id)} is listed again, and ${pet.status}.` };
      }
      if (!type) {
        const outcome = await getOutcome(db, id, theService);
        const until = outcome.undoableUntil ? ` It can be undone until ${timeText(outcome.undoableUntil)}.` : '';
        return { json: outcome, text: `Animal ${id}: ${outcome.type}, recorded ${timeText(outcome.recordedAt)}.${until}` };
      }
      const pet = await findPet(db, id);
      const outcome = await catalogue.transaction((tx) => recordOutcome(tx, id, type, theService, () => {}), theService);
      return {
        json: outcome,
        text: `${named(pet?.name, id)} is on no list any more: ${type}. To undo it: homeward pets outcome ${id} --undo`,
      };
    };
  });
}
