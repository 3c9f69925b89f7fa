import type { Command } from 'commander';
import { findOrderedPets } from '../../adoption/orders/orders.ts';
import { getOutcome, recordOutcome, undoOutcome } from '../../adoption/outcomes/outcomes.ts';
import { findHold } from '../../animals/pets/hold-queries.ts';
import { type Hold, NewHoldSchema } from '../../animals/pets/hold-schemas.ts';
import { endHold, holdPet } from '../../animals/pets/holds.ts';
import { findPet } from '../../animals/pets/pet-queries.ts';
import { theService } from '../../domain/actor.ts';
import { type HoldReason, holdReasons, shownHoldOf, textOfHold } from '../../domain/holds.ts';
import { type OutcomeType, outcomeTypes } from '../../domain/outcomes.ts';
import type { ReadConfig } from '../../platform/config.ts';
import { checkBySchema } from '../terminal/checked-options.ts';
import { named, timeText, UsageError } from '../terminal/output.ts';
import { choiceOption, onStore, parseId } from '../terminal/store-command.ts';
import { getNamedPet, petName } from './named-pets.ts';

interface HoldOptions {
  readonly reason?: HoldReason;
  readonly until?: string;
  readonly note?: string;
  readonly end?: true;
}

export function addHoldPetCommand(pets: Command, config: ReadConfig): void {
  const hold = pets
    .command('hold')
    .description('hold an animal that is not ready to be adopted for a while, change or end its hold, or show it')
    .argument('<id>', 'the animal', parseId)
    .addOption(choiceOption('--reason <reason>', 'why; behaviour is for staff alone, the public reads other', holdReasons))
    .option('--until <time>', 'when the hold ends by itself, such as 2030-12-01T09:00:00Z; everybody may read it')
    .option('--note <text>', 'what staff should know')
    .option('--end', 'end the hold');
  onStore(hold, config, (id: bigint, { end, ...given }: HoldOptions) => {
    const { reason, until, note } = given;
    const asks = until !== undefined || note !== undefined;
    if (end && (reason !== undefined || asks)) throw new UsageError('--end ends the hold: leave the other options out.');
    if (reason === undefined && asks) throw new UsageError('Say why the animal is held: --reason. A hold is replaced as a whole.');
    const { until: untilSchema, note: noteSchema } = NewHoldSchema.properties;
    const values = { ...(until !== undefined && { '--until': until }), ...(note !== undefined && { '--note': note }) };
    checkBySchema({ type: 'object', properties: { '--until': untilSchema, '--note': noteSchema } }, values);
    return async ({ db, catalogue }) => {
      const before = await getNamedPet(db, id);
      if (end) await endHold(catalogue, id, theService, findOrderedPets);
      else if (reason !== undefined) {
        const asked = { reason, ...(until !== undefined && { until }), ...(note !== undefined && { note }) };
        await holdPet(catalogue, id, asked, theService, { findOrderedPets, nowMs: Date.now() });
      }
      const [pet, current] = [await getNamedPet(db, id), await findHold(db, id)];
      const text = current ? describeHold(current) : 'It is not held.';
      return { json: { ...pet, hold: current ?? null }, text: `${petName(before)} is ${pet.status}. ${text}` };
    };
  });
}

export const describeHold = ({ reason, until, note }: Hold): string =>
  [
    `It is held (${reason}) ${until ? `until ${until.toISOString()}` : 'until staff end it'}; the public reads "${textOfHold(shownHoldOf(reason))}".`,
    ...(note === null ? [] : [`Note: ${note}`]),
  ].join(' ');

interface OutcomeOptions {
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
  onStore(command, config, (id: bigint, { type, undo }: OutcomeOptions) => {
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
