import { Argument, type Command } from 'commander';
import { bashScript, type CompletedCommand, fishScript, zshScript } from './completion-scripts.ts';
import { printLines } from './output.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that lets a shell complete commands and options; the documentation says where to put it')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts) => printLines(...scripts[shell](completedCommands(program)).trimEnd().split('\n')));
}

/** The program and every command below it, as commander knows them, so that the scripts can't lag behind. */
function completedCommands(command: Command, path = ''): CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const completed: CompletedCommand = {
    path,
    subcommands: subcommands.map((one) => ({ word: one.name(), description: firstClause(one.description()) })),
    options: options.map(({ long, short, description, required, argChoices = [] }) => ({
      word: long ?? short ?? '',
      description: firstClause(description),
      takesValue: required,
      choices: argChoices,
    })),
    argumentChoices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    takesFiles: command.registeredArguments.some((argument) => argument.name() === 'file'),
  };
  const below = command.commands.flatMap((one) => completedCommands(one, path ? `${path} ${one.name()}` : one.name()));
  return [completed, ...below];
}

const firstClause = (description: string) => description.split(/[;:(]/)[0]?.trim() ?? '';
