import type { Command } from 'commander';
import { theService } from '../domain/actor.ts';
import type { ReadConfig } from '../platform/config.ts';
import { endAdopterLinks, isReached } from '../store/applications/ended-links.ts';
import { commandAuthor } from './command-author.ts';
import { type JournalOptions, openCommandJournal, reportMissingLine, withoutJournalOption } from './command-journal.ts';
import { adopterOf, getNamedApplication, petOf } from './named-applications.ts';
import { parseId } from './option-values.ts';
import { type Asked, confirm, UsageError } from './output.ts';
import { onStore, yesOption } from './store-command.ts';

interface EndOptions extends JournalOptions, Asked {
  readonly mail?: boolean;
}

export function addEndLinkCommand(applications: Command, config: ReadConfig): void {
  const end = applications
    .command('end-link')
    .description("end the links to the adopter's page of an application, which may have been posted or passed on; those in e-mails end too")
    .argument('<id>', 'the application', parseId)
    .option('--mail', 'mail the new link to the address, which the adopter must have confirmed')
    .option(...withoutJournalOption)
    .option(...yesOption);
  onStore(end, config, (id: bigint, { mail: mails = false, ...options }: EndOptions) => async (dependencies) => {
    const { db, config: settings } = dependencies;
    const journal = await openCommandJournal(dependencies, options);
    const application = await getNamedApplication(db, id);
    if (mails && !isReached(application))
      throw new UsageError(`No link can be mailed: nobody has confirmed the address of application ${id}.`);
    await confirm(
      `Application ${id} of ${adopterOf(application)} for ${petOf(application)}`,
      "End the links to the adopter's page?",
      options,
    );
    const ended = await db.transaction((tx) => endAdopterLinks(tx, id, theService, { journal, by: commandAuthor(), mails }), theService);
    if (!ended.isJournaled) reportMissingLine(settings);
    return {
      json: { id, ended: true, mailed: ended.isMailed },
      text: `The links to the page of application ${id} have ended.${ended.isMailed ? ' The new one is mailed to its adopter.' : ''}`,
    };
  });
}
