import { styleText } from 'node:util';
import { Command, CommanderError, type Help } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { ClientsError } from '../access/clients/clients.ts';
import { type Config, ConfigError, loadConfig, type ReadConfig, variables } from '../platform/config.ts';
import { UnreadableJournal } from '../platform/journal-place.ts';
import { type DevServers, withDevServers } from './processes/dev-servers.ts';
import { explainFailure } from './terminal/failures.ts';
import { Declined, printNote, printProblem, styled, UsageError } from './terminal/output.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type AddCommands = (program: Command, config: ReadConfig, env: Environment) => void;

/** What adds each command, in the order of the help. Only what is needed is imported: most commands start in half the time. */
const commands: Readonly<Record<string, () => Promise<AddCommands>>> = {
  serve: async () => (await import('./processes/serve.ts')).addServeCommand,
  console: async () => (await import('./processes/console.ts')).addConsoleCommand,
  worker: async () => (await import('./processes/worker.ts')).addWorkerCommand,
  images: async () => (await import('./processes/images.ts')).addImagesCommand,
  migrate: async () => (await import('./processes/migrate.ts')).addMigrateCommand,
  keys: async () => (await import('./access/keys.ts')).addKeyCommands,
  clients: async () => (await import('./access/clients.ts')).addClientCommands,
  people: async () => (await import('./access/people.ts')).addPeopleCommands,
  audit: async () => (await import('./access/audit.ts')).addAuditCommands,
  usage: async () => (await import('./access/usage.ts')).addUsageCommand,
  deprecations: async () => (await import('./access/usage.ts')).addDeprecationsCommand,
  bans: async () => (await import('./access/bans.ts')).addBanCommands,
  categories: async () => (await import('./animals/categories.ts')).addCategoryCommands,
  shelters: async () => (await import('./adoption/shelters.ts')).addShelterCommands,
  pets: async () => (await import('./animals/pets.ts')).addPetCommands,
  photos: async () => (await import('./animals/photos.ts')).addPhotoCommands,
  applications: async () => (await import('./adoption/applications.ts')).addApplicationCommands,
  orders: async () => (await import('./adoption/orders.ts')).addOrderCommands,
  webhooks: async () => (await import('./access/webhooks.ts')).addWebhookCommands,
  doctor: async () => (await import('./repair/doctor.ts')).addDoctorCommand,
  'support-bundle': async () => (await import('./repair/support-bundle.ts')).addSupportBundleCommand,
  verify: async () => (await import('./repair/verify.ts')).addVerifyCommand,
  journal: async () => (await import('./repair/journal.ts')).addJournalCommands,
  'restore-check': async () => (await import('./repair/restore-check.ts')).addRestoreCheckCommand,
  openapi: async () => (await import('./processes/openapi.ts')).addOpenApiCommand,
  completion: async () => (await import('./terminal/completion.ts')).addCompletionCommand,
};

/** Undefined in a checkout: deploy/assemble writes it where an image or a package is built. */
const { gitHead: commit } = manifest as { readonly gitHead?: string };
/** Such as "1.0.0 (abcdef0)". */
const versionAndCommit = commit ? `${manifest.version} (${commit})` : manifest.version;

const termWidth = Math.max(...Object.keys(variables).map((name) => name.length));
const exitCodes = 'Exit status: 0 success, 1 failure, 2 the command or its configuration is wrong.';

/** The `homeward` command. Commands that end, unlike `serve`, `console`, `worker` and `images`, use `devServers` for what the environment does not set. */
export async function runProgram(args: readonly string[], env: Environment, devServers?: DevServers): Promise<void> {
  let used: Config | undefined;
  const [first = ''] = args;
  const only = Object.hasOwn(commands, first) && first !== 'completion' ? first : undefined;
  const program = await buildProgram(env, { only, devServers, onConfig: (config) => (used = config) });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = report(error, used);
  }
}

interface BuildOptions {
  /** The command that is run. Undefined: all of them, for the help and for mistakes. */
  readonly only?: string | undefined;
  readonly devServers?: DevServers | undefined;
  /** Called with the configuration that the command uses. */
  onConfig?(config: Config): void;
}

/** The commands with their arguments and options. A test compares the documents with it. */
export async function buildProgram(env: Environment, { only, devServers, onConfig = () => {} }: BuildOptions = {}): Promise<Command> {
  const readConfig = (settings: Environment, quiet: boolean): Config => {
    const config = loadConfig(settings);
    onConfig(config);
    return quiet ? { ...config, logLevel: 'silent' } : config;
  };
  const config: ReadConfig = () => readConfig(env, false);
  // The other commands log nothing, so that standard output contains only their result.
  const documentConfig: ReadConfig = () => readConfig(env, true);
  const quietConfig: ReadConfig = () => {
    if (devServers) printNote("Using the store of 'npm run dev'.");
    return readConfig(devServers ? withDevServers(env, devServers) : env, true);
  };
  const program = new Command('homeward')
    .description('An animal adoption store as a service.')
    .version(versionAndCommit, '-V, --version', 'print the version, and the commit of an image or a package')
    // The launcher acts on it, before anything is printed.
    .option('--no-color', 'print no colours; the variable NO_COLOR does the same')
    .exitOverride()
    .showHelpAfterError('Add --help for usage.')
    .configureHelp({ showGlobalOptions: true, styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error:/, (word) => styled('red', word, process.stderr))),
    });
  const configs: Readonly<Record<string, ReadConfig>> = { serve: config, console: config, worker: config, openapi: documentConfig };
  const needed = Object.entries(commands).filter(([name]) => only === undefined || name === only);
  const added = await Promise.all(needed.map(async ([name, load]) => ({ add: await load(), config: configs[name] ?? quietConfig })));
  for (const { add, config: read } of added) add(program, read, env);
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
  const isUserError =
    error instanceof UsageError || error instanceof ConfigError || error instanceof ClientsError || error instanceof UnreadableJournal;
  printProblem(isUserError ? error.message : explainFailure(error, used));
  return isUserError ? 2 : 1;
}
