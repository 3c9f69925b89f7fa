import { Command, CommanderError } from 'commander';
import { ClientsError } from '../clients/clients.ts';
import { ConfigError, loadConfig, type ReadConfig, variables } from '../config.ts';
import { addBanCommands } from './bans.ts';
import { addCategoryCommands } from './categories.ts';
import { addClientCommands } from './clients.ts';
import { explainFailure } from './failures.ts';
import { addJournalCommands } from './journal.ts';
import { addKeyCommands } from './keys.ts';
import { addMigrateCommand } from './migrate.ts';
import { addOpenApiCommand } from './openapi.ts';
import { addOrderCommands } from './orders.ts';
import { Declined, printNote, printProblem, UsageError } from './output.ts';
import { addPetCommands } from './pets.ts';
import { addServeCommand } from './serve.ts';
import { addVerifyCommand } from './verify.ts';
import { addWebhookCommands } from './webhooks.ts';
import { addWorkerCommand } from './worker.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const exitCodes = 'Exit status: 0 success, 1 failure, 2 the command or its configuration is wrong.';

/** The `homeward` command. */
export function createProgram(env: Environment): { parseAsync(): Promise<void> } {
  const program = buildProgram(env);
  return {
    async parseAsync() {
      try {
        await program.parseAsync();
      } catch (error) {
        process.exitCode = report(error);
      }
    },
  };
}

/** Every command with its arguments and options. A test compares the documents with it. */
export function buildProgram(env: Environment): Command {
  const config: ReadConfig = () => loadConfig(env);
  // These commands log nothing, so that standard output contains only their result.
  const quietConfig: ReadConfig = () => ({ ...config(), logLevel: 'silent' });
  const program = new Command('homeward').description('An animal adoption store as a service.').exitOverride();
  program.showHelpAfterError('Add --help for usage.');
  addServeCommand(program, config);
  addWorkerCommand(program, config);
  addMigrateCommand(program, quietConfig);
  addKeyCommands(program, quietConfig);
  addClientCommands(program, quietConfig);
  addBanCommands(program, quietConfig);
  addCategoryCommands(program, quietConfig);
  addPetCommands(program, quietConfig);
  addOrderCommands(program, quietConfig);
  addWebhookCommands(program, quietConfig);
  addVerifyCommand(program, quietConfig);
  addJournalCommands(program, quietConfig);
  addOpenApiCommand(program, quietConfig);
  program.addHelpText('after', () => `\n${listVariables()}\n\n${exitCodes}`);
  program.configureHelp({ showGlobalOptions: true });
  return program;
}

function listVariables(): string {
  const rows = Object.entries(variables).map(
    ([name, { fallback, help }]) => `  ${name.padEnd(26)} ${help}${fallback ? ` (default: ${fallback})` : ''}`,
  );
  return ['Environment:', ...rows].join('\n');
}

/** Prints in one line what went wrong, and returns the exit status. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Declined) {
    printNote(error.message);
    return 1;
  }
  const isUserError = error instanceof UsageError || error instanceof ConfigError || error instanceof ClientsError;
  printProblem(isUserError ? error.message : explainFailure(error));
  return isUserError ? 2 : 1;
}
