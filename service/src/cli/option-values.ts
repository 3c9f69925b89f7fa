// What the texts of arguments and options stand for. Each throws a UsageError before the command begins.
import { Option } from 'commander';
import { UsageError } from './output.ts';

const units = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses '90d', '12h', '30m' or '45s' into seconds. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (!count || !unit) throw new UsageError(`"${text}" is not a duration; write 90d, 12h, 30m or 45s.`);
  return Number(count) * units[unit as keyof typeof units];
}

export function parseId(text: string): bigint {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new UsageError(`"${text}" is not an id.`);
  return BigInt(text);
}

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`"${text}" is not a count from 1 to 999999999.`);
  return Number(text);
}

/** An option with one of these values, which the help and the completion list. Its message is like those of other options. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description).choices(choices);
  return option.argParser((text) => {
    if (choices.includes(text)) return text;
    throw new UsageError(`${option.long} must be one of ${choices.join(', ')}; got "${text}".`);
  });
}
