import { Option } from 'commander';

/** An option whose values the help and the completion list. The command itself checks the value, with a message of our own. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argChoices = [...choices];
  return option;
}
