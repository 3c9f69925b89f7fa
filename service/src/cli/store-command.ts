import type { Command } from 'commander';
import { type Dependencies, openDependencies } from '../dependencies.ts';
import type { ReadConfig } from '../platform/config.ts';
import { AppError } from '../platform/errors.ts';
import { printJson, printLines, UsageError } from './output.ts';

/** What a command has found or done. */
export interface Result {
  /** Printed with --json. */
  readonly json: unknown;
  /** Else these lines are printed, or what the function prints. */
  readonly text: string | readonly string[] | (() => void);
}

type Run = (dependencies: Dependencies) => Promise<Result>;

/** What --json does in a command that lists. */
export const printsArray = 'print one JSON array';
/** For commands that can't be undone: see `confirm`. */
export const yesOption = ['--yes', 'do not ask on a terminal'] as const;

/**
 * Adds --json and the action to a command that uses the store. `read` gets the arguments and the options, and throws before anything is
 * opened if they are wrong. What it returns does the work. An error that the API would return to a caller is a mistake of the operator here.
 */
export function onStore<Args extends readonly unknown[]>(
  command: Command,
  config: ReadConfig,
  read: (...args: Args) => Run | Promise<Run>,
  aboutJson = 'print one JSON object',
): void {
  command.option('--json', aboutJson).action(async (...args: unknown[]): Promise<void> => {
    const run = await read(...(args as unknown as Args));
    await using dependencies = await openDependencies(config());
    const { json, text } = await run(dependencies).catch((error: unknown) => {
      throw error instanceof AppError && error.status < 500 ? new UsageError(error.message) : error;
    });
    if (command.opts()['json']) printJson(json);
    else if (typeof text === 'function') text();
    else printLines(...[text].flat());
  });
}
