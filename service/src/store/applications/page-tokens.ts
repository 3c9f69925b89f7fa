import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { pagesPath, pageToken } from '../../domain/page-links.ts';

/** `see`: shows the page, withdraws and erases. `confirm`: also confirms the e-mail address, so it is sent there and nowhere else. */
const purposes = { see: 1, confirm: 2 } as const;
export type PagePurpose = keyof typeof purposes;
const purposeNames = Object.keys(purposes) as PagePurpose[];

export interface PageToken {
  readonly id: bigint;
  readonly purpose: PagePurpose;
}

/** A purpose, an id and a signature: 25 bytes, which are 40 digits of base 32 without a bit left over. */
const bytes = { purpose: 1, id: 8, signature: 16 } as const;
const digits = 40;
/** Keys for other uses of the secret have other labels. */
const label = "homeward: links to adopters' pages, 1";
const isToken = new RegExp(`^${pageToken}$`);

/** Writes and reads the tokens of adopters' pages. No database is asked, so that a flood of invented tokens costs none. */
export class PageTokens {
  readonly #key: Buffer;

  constructor(secret: Buffer) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', label, 32));
  }

  write({ id, purpose }: PageToken): string {
    const signed = Buffer.alloc(bytes.purpose + bytes.id);
    signed.writeUInt8(purposes[purpose]);
    signed.writeBigInt64BE(id, bytes.purpose);
    const signature = createHmac('sha256', this.#key).update(signed).digest().subarray(0, bytes.signature);
    return BigInt(`0x${Buffer.concat([signed, signature]).toString('hex')}`)
      .toString(32)
      .padStart(digits, '0');
  }

  /** Undefined unless it is exactly what `write` returns: every other spelling is another text. */
  read(text: string): PageToken | undefined {
    if (!isToken.test(text)) return undefined;
    const signed = numberOf(text) >> BigInt(8 * bytes.signature);
    const purpose = purposeNames.find((name) => BigInt(purposes[name]) === signed >> 64n);
    const token = { id: BigInt.asIntN(64, signed), purpose: purpose ?? 'see' };
    return timingSafeEqual(Buffer.from(text), Buffer.from(this.write(token))) && purpose ? token : undefined;
  }
}

const numberOf = (text: string): bigint => [...text].reduce((number, digit) => 32n * number + BigInt(Number.parseInt(digit, 32)), 0n);

/** The address of an adopter's page. Undefined: the store doesn't know the URL under which it is reached. */
export const pageUrl = (publicUrl: string, tokens: PageTokens, id: bigint, purpose: PagePurpose = 'see'): string | undefined =>
  publicUrl === '' ? undefined : `${publicUrl}${pagesPath}/${tokens.write({ id, purpose })}`;
