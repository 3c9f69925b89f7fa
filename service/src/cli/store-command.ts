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

/** For commands that can't be undone: see `confirm`. */
export const yesOption = ['--yes', 'do not ask on a terminal'] as const;
export const jsonOption = ['--json', 'print one JSON object'] as const;
export const jsonArray = ['--json', 'print one JSON array'] as const;

/**
 * The action of a command that uses the store. `read` gets the arguments and the options, and throws before anything is opened if they
 * are wrong. What it returns does the work. An error that the API would return to a caller is a mistake of the operator here.
 */
export function onStore<Args extends readonly unknown[]>(config: ReadConfig, read: (...args: Args) => Run | Promise<Run>) {
  return async (...args: unknown[]): Promise<void> => {
    const run = await read(...(args as unknown as Args));
    await using dependencies = await openDependencies(config());
    const { json, text } = await run(dependencies).catch((error: unknown) => {
      throw error instanceof AppError && error.status < 500 ? new UsageError(error.message) : error;
    });
    // Commander passes the command after its arguments and options.
    if ((args.at(-1) as Command).opts()['json']) printJson(json);
    else if (typeof text === 'function') text();
    else printLines(...[text].flat());
  };
}
