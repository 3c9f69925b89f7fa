import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { pagesPath, pageToken } from '../../domain/token-formats.ts';

/**
 * `see`: shows the page. `confirm`: also confirms the e-mail address, so it is sent there and nowhere else. `withdraw` and `erase`: do that
 * once, mailed to the confirmed address on request.
 */
const purposes = { see: 1, confirm: 2, withdraw: 3, erase: 4 } as const;
export type PagePurpose = keyof typeof purposes;
const purposeNames = Object.keys(purposes) as PagePurpose[];

export interface PageToken {
  /** Of the application. */
  readonly id: bigint;
  readonly purpose: PagePurpose;
  /** Which of the links to this application: those with another number have ended. Below 2^40. */
  readonly number: bigint;
}

/** A purpose, an id, a number unless it is 0, and a signature: 25 or 30 bytes, which are 40 or 48 digits of base 32 without a bit left over. */
const bytes = { purpose: 1, id: 8, number: 5, signature: 16 } as const;
const digits = { plain: 40, numbered: 48 } as const;
export const linkNumberMax = 2 ** (8 * bytes.number) - 1;
/** Keys for other uses of the secret have other labels. */
const label = "homeward: links to adopters' pages, 1";
const isToken = new RegExp(`^${pageToken}$`);

/** Writes and reads the tokens of adopters' pages. No database is asked, so that a flood of invented tokens costs none. */
export class PageTokens {
  readonly #key: Buffer;

  constructor(secret: Buffer) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', label, 32));
  }

  write({ id, purpose, number }: PageToken): string {
    const signed = Buffer.alloc(bytes.purpose + bytes.id + (number === 0n ? 0 : bytes.number));
    signed.writeUInt8(purposes[purpose]);
    signed.writeBigInt64BE(id, bytes.purpose);
    if (number !== 0n) signed.writeUIntBE(Number(number), bytes.purpose + bytes.id, bytes.number);
    const signature = createHmac('sha256', this.#key).update(signed).digest().subarray(0, bytes.signature);
    return BigInt(`0x${Buffer.concat([signed, signature]).toString('hex')}`)
      .toString(32)
      .padStart(number === 0n ? digits.plain : digits.numbered, '0');
  }

  /** Undefined unless it is exactly what `write` returns: every other spelling is another text. */
  read(text: string): PageToken | undefined {
    if (!isToken.test(text)) return undefined;
    const numberBits = text.length === digits.plain ? 0n : BigInt(8 * bytes.number);
    const signed = numberOf(text) >> BigInt(8 * bytes.signature);
    const number = BigInt.asUintN(Number(numberBits), signed);
    const named = signed >> numberBits;
    const purpose = purposeNames.find((name) => BigInt(purposes[name]) === named >> 64n);
    const token = { id: BigInt.asIntN(64, named), purpose: purpose ?? 'see', number };
    const [given, written] = [Buffer.from(text), Buffer.from(this.write(token))];
    return given.length === written.length && timingSafeEqual(given, written) && purpose ? token : undefined;
  }
}

const numberOf = (text: string): bigint => [...text].reduce((number, digit) => 32n * number + BigInt(Number.parseInt(digit, 32)), 0n);

/** The address of an adopter's page. Undefined: the store doesn't know the URL under which it is reached. */
export const pageUrl = (publicUrl: string, tokens: PageTokens, token: PageToken): string | undefined =>
  publicUrl === '' ? undefined : `${publicUrl}${pagesPath}/${tokens.write(token)}`;
