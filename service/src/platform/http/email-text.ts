import { Type } from 'typebox';
import { controls } from '../characters.ts';

export const EmailText = (description: string, example: string) =>
  Type.String({
    description,
    maxLength: 254,
    pattern: emailPattern(),
    'x-must-not-contain': rejectedInEmail,
    'x-must-be': `an e-mail address of at most 254 characters, such as ${example}`,
    examples: [example],
  });

/** Includes invisible characters such as U+200B, so that two different addresses can't look the same. */
const rejectedInEmail = `${controls}\\p{Cf}`;

/**
 * A deliverable e-mail address: no quoted local part, and a domain with a top level. The pattern runs in linear time, since
 * no two neighbouring parts of the pattern match the same character.
 */
function emailPattern(): string {
  const atom = `[^\\s${rejectedInEmail}"<>()\\[\\]\\\\,;:@.]+`;
  const [letter, inner] = ['\\p{L}', '[\\p{L}\\p{M}\\p{Nd}]'];
  const label = `${inner}+(?:-+${inner}+)*`;
  const topLevel = `${letter}${inner}+(?:-+${inner}+)*`;
  return `^(?=[^@]{1,64}@)${atom}(?:\\.${atom})*@(?:${label}\\.)+${topLevel}$`;
}
