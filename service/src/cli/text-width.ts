import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const plain = /^[ -~]*$/;

/** The columns of a terminal that a text takes. Few commands need the library, and it takes a fifth of the time to start one. */
export function textWidth(text: string): number {
  if (plain.test(text)) return text.length;
  const { default: stringWidth } = require('string-width') as typeof import('string-width');
  return stringWidth(text);
}
