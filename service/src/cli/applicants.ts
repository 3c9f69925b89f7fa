import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import { isOpenApplication, unconfirmed } from '../domain/application-states.ts';
import type { ReadConfig } from '../platform/config.ts';
import type { Journal } from '../platform/journal/journal.ts';
import { findNamedApplicant, type NamedApplicant } from '../store/applications/applicant-queries.ts';
import { eraseApplicant } from '../store/applications/applicants.ts';
import { backups, countOf } from './adopters.ts';
import { commandAuthor } from './command-author.ts';
import { type JournalOptions, openCommandJournal, withoutJournalOption } from './command-journal.ts';
import { named } from './names.ts';
import { parseId } from './option-values.ts';
import { type Asked, confirm, UsageError } from './output.ts';
import { onStore, type Result, yesOption } from './store-command.ts';

export function addApplicantErasureCommand(applications: Command, config: ReadConfig): void {
  const erase = applications
    .command('erase')
    .description(
      "erase an adopter's data from one application and its orders; an open one is withdrawn first, an unconfirmed one is deleted, and of a completed one the order has to be erased",
    )
    .argument('<id>', 'the application', parseId)
    .option(...withoutJournalOption)
    .option(...yesOption);
  onStore(erase, config, (id: bigint, options: JournalOptions & Asked) => async (dependencies) => {
    const journal = await openCommandJournal(dependencies, options);
    return eraseOne(dependencies, journal, id, options);
  });
}

async function eraseOne(dependencies: Dependencies, journal: Journal, id: bigint, asked: Asked): Promise<Result> {
  const found = await findNamedApplicant(dependencies.db, id);
  if (!found) throw new UsageError(`There is no application ${id}.`);
  const { status, pet, petId, adopter, orderId } = found;
  if (status === 'completed') {
    throw new UsageError(`Application ${id} is completed. Erase its adopter with that of its order: homeward orders erase ${orderId}`);
  }
  const whose = adopter ? `${adopter.name} <${adopter.email}>` : 'already erased';
  await confirm(`Application ${id} for ${named(pet, petId)}, ${status}: ${whose}`, questionOf(found), asked);
  const { deleted, responses } = await eraseApplicant(dependencies, journal, id, commandAuthor());
  const what = deleted > 0 ? `Deleted application ${id}, which was unconfirmed` : `Erased the adopter of application ${id} and its orders`;
  return {
    json: { id, erased: true, deleted: deleted > 0, answers: responses },
    text: `${what}, also from ${countOf(responses, 'stored response')}. ${backups}`,
  };
}

function questionOf({ status }: NamedApplicant): string {
  if (status === unconfirmed) return 'Delete it?';
  if (status === 'accepted') return 'Withdraw it, cancel its order, and erase the adopter from both?';
  return `${isOpenApplication(status) ? 'Withdraw it, and erase' : 'Erase'} the adopter, also from its orders?`;
}
