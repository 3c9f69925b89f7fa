import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { pagesPath } from '../../domain/token-formats.ts';
import { normalizeEmail } from '../../platform/email-addresses.ts';

const linkDays = 3;
const dayMs = 86_400_000;
/** Keys for other uses of the secret have other labels. */
const label = "homeward: links that confirm shelters' addresses, 1";
const pattern = /^(\d{1,18})-(\d{1,6})-([\w-]{22})$/;

/** Where the pages of these links are, beside those of adopters. */
export const shelterPagesPath = `${pagesPath}/shelter`;

/** The links that confirm the e-mail address of a shelter. Each is good for one address, which it does not contain, and ends with a day (UTC). */
export class ShelterLinks {
  readonly #key: Buffer;

  constructor(secret: Buffer) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', label, 32));
  }

  write(shelterId: bigint, email: string, nowMs: number): string {
    const lastDay = Math.floor(nowMs / dayMs) + linkDays;
    return `${shelterId}-${lastDay}-${this.#sign(shelterId, email, lastDay)}`;
  }

  /** Of which shelter it is, unless it has ended. `isOf` says whether it was mailed to an address: nothing else shows that it is genuine. */
  read(token: string, nowMs: number): { readonly shelterId: bigint; readonly isOf: (email: string) => boolean } | undefined {
    const [, id = '', day = '', signature = ''] = pattern.exec(token) ?? [];
    const [shelterId, lastDay] = [BigInt(id || 0), Number(day)];
    if (id === '' || lastDay < Math.floor(nowMs / dayMs)) return undefined;
    return {
      shelterId,
      isOf: (email) => timingSafeEqual(Buffer.from(signature), Buffer.from(this.#sign(shelterId, email, lastDay))),
    };
  }

  #sign(shelterId: bigint, email: string, lastDay: number): string {
    return createHmac('sha256', this.#key)
      .update(`${shelterId} ${lastDay} ${normalizeEmail(email)}`)
      .digest('base64url')
      .slice(0, 22);
  }
}
