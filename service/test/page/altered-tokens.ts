import { randomBytes } from 'node:crypto';
import type { SeededRandom } from '../../../testkit/seeded-random.ts';
import type { PagePurpose, PageTokens } from '../../src/adoption/applications/page-tokens.ts';

/** How long a signature is, in bytes. The digits of a token have no bit left over. */
const signatureLength = 16;
const lengthOf = (text: string) => (text.length * 5) / 8;

interface Original {
  readonly id: bigint;
  readonly purpose: PagePurpose;
  readonly number: bigint;
  readonly text: string;
  readonly tokens: PageTokens;
  readonly random: SeededRandom;
}

const bytesOf = (text: string) =>
  Buffer.from(
    [...text]
      .reduce((n, digit) => 32n * n + BigInt(Number.parseInt(digit, 32)), 0n)
      .toString(16)
      .padStart(2 * lengthOf(text), '0'),
    'hex',
  );
const textOf = (bytes: Buffer) =>
  BigInt(`0x${bytes.toString('hex')}`)
    .toString(32)
    .padStart((bytes.length * 8) / 5, '0');
const replaceAt = (text: string, at: number, by: string) => text.slice(0, at) + by + text.slice(at + 1);
const anyAt = ({ text, random }: Original) => random.between(0, text.length - 1);
const purposes = ['see', 'confirm', 'withdraw', 'erase'] as const satisfies readonly PagePurpose[];
/** Such as a number that is in some links. */
const anyNumber = (random: SeededRandom) => BigInt(random.between(1, random.pick([3, 2 ** 40 - 1])));

/** The first part of one token with the signature of another. */
const spliced = (signed: string, signature: string) =>
  textOf(Buffer.concat([bytesOf(signed).subarray(0, -signatureLength), bytesOf(signature).subarray(-signatureLength)]));

/** What may be done to a token, none of which may leave a valid one. */
export const alterations = {
  'a flipped bit': ({ text, random }) => {
    const bytes = bytesOf(text);
    const at = random.between(0, bytes.length - 1);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.between(0, 7)), at);
    return textOf(bytes);
  },
  'another digit': (original) => {
    const at = anyAt(original);
    const digit = Number.parseInt(original.text[at] ?? '0', 32);
    return replaceAt(original.text, at, ((digit + original.random.between(1, 31)) % 32).toString(32));
  },
  'two digits swapped': ({ text, random }) => {
    // The first digits are zeros.
    const last = text.length - 2;
    for (let at = random.between(14, last); ; at = 14 + ((at - 13) % (last - 13))) {
      const [one = '', two = ''] = text.slice(at, at + 2);
      if (one !== two) return text.slice(0, at) + two + one + text.slice(at + 2);
    }
  },
  'a part of it': ({ text, random }) => text.slice(0, random.between(0, text.length - 1)),
  'the end of it': ({ text, random }) => text.slice(random.between(1, text.length)),
  'another purpose': ({ id, purpose, number, text, tokens, random }) =>
    spliced(tokens.write({ id, purpose: random.pick(purposes.filter((one) => one !== purpose)), number }), text),
  'another id': ({ id, purpose, number, text, tokens, random }) =>
    spliced(tokens.write({ id: id + BigInt(random.between(1, 1_000)), purpose, number }), text),
  'another number': ({ id, purpose, number, text, tokens, random }) =>
    spliced(
      tokens.write({ id, purpose, number: number === 1n ? anyNumber(random) + 1n : number - 1n < 0n ? anyNumber(random) : number - 1n }),
      text,
    ),
  'the number 0 written out': ({ text }) => {
    const bytes = bytesOf(text);
    return textOf(Buffer.concat([bytes.subarray(0, 9), Buffer.alloc(5), bytes.subarray(-signatureLength)]));
  },
  'an unknown purpose': ({ text, random }) => {
    const bytes = bytesOf(text);
    bytes.writeUInt8(random.pick([0, 5, 255]));
    return textOf(bytes);
  },
  'no signature': ({ text }) => textOf(Buffer.concat([bytesOf(text).subarray(0, -signatureLength), Buffer.alloc(signatureLength)])),
  'an invented signature': ({ text }) => textOf(Buffer.concat([bytesOf(text).subarray(0, -signatureLength), randomBytes(signatureLength)])),
  'in capitals': ({ text }) => text.toUpperCase(),
  'a capital': ({ text, random }) => {
    const letters = [...text].flatMap((digit, at) => (/[a-v]/.test(digit) ? [at] : []));
    const at = random.pick(letters);
    return replaceAt(text, at, (text[at] ?? '').toUpperCase());
  },
  'a digit percent-encoded': (original) => {
    const at = anyAt(original);
    return replaceAt(original.text, at, `%${original.text.charCodeAt(at).toString(16)}`);
  },
  'a digit of another script': (original) => {
    const at = anyAt(original);
    return replaceAt(original.text, at, String.fromCodePoint(original.text.charCodeAt(at) + 0xfee0));
  },
  'something after it': ({ text, random }) => text + random.pick(['0', '=', '.', '%20', '%0A', '%00', '/', ';', '-', '\\', '%2F', 'v']),
  'something before it': ({ text, random }) => random.pick(['0', '%20', '+', '.', '%2F', '0x', '-']) + text,
  'without a zero at the front': ({ text }) => text.slice(1),
  'in base64': ({ text }) => bytesOf(text).toString('base64url'),
  'in hexadecimal': ({ text }) => bytesOf(text).toString('hex'),
  'only the id': ({ id, text }) => String(id).padStart(text.length, '0'),
} as const satisfies Record<string, (original: Original) => string>;

export interface AlteredToken {
  readonly how: string;
  readonly text: string;
}

/** Each kind of alteration in turn, of tokens with small and large ids. */
export function alteredTokens(tokens: PageTokens, random: SeededRandom, count: number): AlteredToken[] {
  const kinds = Object.entries(alterations);
  return Array.from({ length: count }, (_, i) => {
    const id = BigInt(random.between(1, random.pick([20, 100_000, Number.MAX_SAFE_INTEGER - 1_000])));
    const purpose = random.pick(purposes);
    const number = random.pick([0n, anyNumber(random)]);
    const [how, alter] = kinds[i % kinds.length] as (typeof kinds)[number];
    return { how, text: alter({ id, purpose, number, text: tokens.write({ id, purpose, number }), tokens, random }) };
  });
}
