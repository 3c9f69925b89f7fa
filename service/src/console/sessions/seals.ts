import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** What a text was sealed for: one that is sealed for something else is not accepted. */
type Purpose = 'session' | 'passkey' | 'provider' | 'done' | 'device';

/** Keys for other uses of the secret have other labels. */
const label = 'homeward: texts that a browser keeps for the console, 1';

/**
 * Signs what the console gives to a browser to keep, so that nothing is stored for strangers and an invented text costs no query. The
 * browser can read what is sealed.
 */
export class Seals {
  readonly #key: Buffer;

  constructor(secret: Buffer) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', label, 32));
  }

  seal(purpose: Purpose, text: string): string {
    return `${text}.${this.#sign(purpose, text).toString('base64url')}`;
  }

  /** Undefined unless it was sealed for this purpose. */
  open(purpose: Purpose, sealed: string | undefined): string | undefined {
    const end = sealed?.lastIndexOf('.') ?? -1;
    if (sealed === undefined || end < 0) return undefined;
    const text = sealed.slice(0, end);
    const given = Buffer.from(sealed.slice(end + 1), 'base64url');
    const signature = this.#sign(purpose, text);
    return given.length === signature.length && timingSafeEqual(given, signature) ? text : undefined;
  }

  /** A value that ends. It must be JSON. */
  sealValue(purpose: Purpose, value: object, endsAtMs: number): string {
    return this.seal(purpose, Buffer.from(JSON.stringify({ value, endsAtMs })).toString('base64url'));
  }

  openValue<Value>(purpose: Purpose, sealed: string | undefined, nowMs: number): Value | undefined {
    const text = this.open(purpose, sealed);
    if (text === undefined) return undefined;
    const { value, endsAtMs } = JSON.parse(Buffer.from(text, 'base64url').toString()) as { value: Value; endsAtMs: number };
    return nowMs < endsAtMs ? value : undefined;
  }

  /** The token of a session's forms. It can't be derived without the session's own token, which scripts can't read. */
  formToken(sessionToken: string): string {
    return createHmac('sha256', this.#key).update(`form\n${sessionToken}`).digest('base64url').slice(0, 32);
  }

  #sign(purpose: Purpose, text: string): Buffer {
    return createHmac('sha256', this.#key).update(`${purpose}\n${text}`).digest().subarray(0, 18);
  }
}
