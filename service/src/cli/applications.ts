import type { Command } from 'commander';
import type { ReadConfig } from '../platform/config.ts';
import { addEndLinkCommand } from './adopter-links.ts';
import { addApplicantErasureCommand } from './applicants.ts';
import { addApplicationActionCommands } from './application-actions.ts';
import { addSubmitCommand } from './application-desk.ts';
import { addApplicationEndCommands } from './application-ends.ts';
import { addApplicationListCommands } from './application-lists.ts';

export function addApplicationCommands(program: Command, config: ReadConfig): void {
  const applications = program
    .command('applications')
    .description(
      "list and show applications, submit one at the desk, review, accept, decline, reopen and withdraw them, end links to adopters' pages, and erase adopters' data",
    );
  addApplicationListCommands(applications, config);
  addSubmitCommand(applications, config);
  addApplicationActionCommands(applications, config);
  addApplicationEndCommands(applications, config);
  addEndLinkCommand(applications, config);
  addApplicantErasureCommand(applications, config);
}
