import { styleText } from 'node:util';
import { Command, CommanderError, type Help } from 'commander';
import release from '../../package.json' with { type: 'json' };
import { ClientsError } from '../clients/clients.ts';
import { type Config, ConfigError, loadConfig, type ReadConfig, variables } from '../config.ts';
import { addBanCommands } from './bans.ts';
import { addCategoryCommands } from './categories.ts';
import { addClientCommands } from './clients.ts';
import { addCompletionCommand } from './completion.ts';
import { type DevServers, withDevServers } from './dev-servers.ts';
import { explainFailure } from './failures.ts';
import { addJournalCommands } from './journal.ts';
import { addKeyCommands } from './keys.ts';
import { addMigrateCommand } from './migrate.ts';
import { addOpenApiCommand } from './openapi.ts';
import { addOrderCommands } from './orders.ts';
import { Declined, printNote, printProblem, styled, UsageError } from './output.ts';
import { addPetCommands } from './pets.ts';
import { addServeCommand } from './serve.ts';
import { addVerifyCommand } from './verify.ts';
import { addWebhookCommands } from './webhooks.ts';
import { addWorkerCommand } from './worker.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const termWidth = Math.max(...Object.keys(variables).map((name) => name.length));
const exitCodes = 'Exit status: 0 success, 1 failure, 2 the command or its configuration is wrong.';

/** The `homeward` command. Commands that end, unlike `serve` and `worker`, use `devServers` for what the environment does not set. */
export function createProgram(env: Environment, devServers?: DevServers): { parseAsync(): Promise<void> } {
  let used: Config | undefined;
  const program = buildProgram(env, { devServers, onConfig: (config) => (used = config) });
  return {
    async parseAsync() {
      try {
        await program.parseAsync();
      } catch (error) {
        process.exitCode = report(error, used);
      }
    },
  };
}

interface BuildOptions {
  readonly devServers?: DevServers | undefined;
  /** Called with the configuration that the command uses. */
  onConfig?(config: Config): void;
}

/** Every command with its arguments and options. A test compares the documents with it. */
export function buildProgram(env: Environment, { devServers, onConfig = () => {} }: BuildOptions = {}): Command {
  const read = (settings: Environment, quiet: boolean): Config => {
    const config = loadConfig(settings);
    onConfig(config);
    return quiet ? { ...config, logLevel: 'silent' } : config;
  };
  const config: ReadConfig = () => read(env, false);
  // The other commands log nothing, so that standard output contains only their result.
  const documentConfig: ReadConfig = () => read(env, true);
  const quietConfig: ReadConfig = () => {
    if (devServers) printNote("Using the store of 'npm run dev'.");
    return read(devServers ? withDevServers(env, devServers) : env, true);
  };
  const program = new Command('homeward')
    .description('An animal adoption store as a service.')
    .version(release.version, '-V, --version', 'print the version')
    // The launcher acts on it, before anything is printed.
    .option('--no-color', 'print no colours; the variable NO_COLOR does the same')
    .exitOverride()
    .showHelpAfterError('Add --help for usage.')
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error:/, (word) => styled('red', word, process.stderr))),
    });
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
  addOpenApiCommand(program, documentConfig);
  addCompletionCommand(program);
  program.addHelpText('after', () => `\n${listVariables(program.createHelp())}\n\n${exitCodes}`);
  return program;
}

/** On a terminal wrapped to its width, like the rest of the help. */
function listVariables(help: Help): string {
  help.helpWidth = process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
  const rows = Object.entries(variables).map(([name, { fallback, help: text }]) =>
    help.formatItem(name, termWidth, `${text}${fallback ? ` (default: ${fallback})` : ''}`, help),
  );
  return [styled('bold', 'Environment:', process.stdout), ...rows].join('\n');
}

/** Prints in one line what went wrong, and returns the exit status. */
function report(error: unknown, used: Config | undefined): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Declined) {
    printNote(error.message);
    return 1;
  }
  const isUserError = error instanceof UsageError || error instanceof ConfigError || error instanceof ClientsError;
  printProblem(isUserError ? error.message : explainFailure(error, used));
  return isUserError ? 2 : 1;
}
