import type { Command } from 'commander';
import type { ReadConfig } from '../platform/config.ts';
import { addApplicantErasureCommand } from './applicants.ts';

export function addApplicationCommands(program: Command, config: ReadConfig): void {
  const applications = program.command('applications').description("erase adopters' data from applications");
  addApplicantErasureCommand(applications, config);
}
