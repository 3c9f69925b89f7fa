import { createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../platform/clock.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';

interface CookieOptions {
  /** How long a browser has it. 0: it forgets the one that it has. Undefined: until it is closed. */
  readonly seconds?: number;
  /** Lax: sent also where another site leads to, as from a provider. */
  readonly sameSite?: 'Strict' | 'Lax';
}

/** Longer headers are not looked at. */
const lengthMax = 8_192;

/**
 * The cookies of the console: for this host alone, over TLS alone, unreadable for scripts. On plain loopback, where a browser would not
 * take them, without prefix and Secure.
 */
export class Cookies {
  readonly #isSecure: boolean;

  constructor(consoleUrl: string) {
    this.#isSecure = consoleUrl.startsWith('https:');
  }

  read({ headers }: FastifyRequest, name: string): string | undefined {
    const { cookie } = headers;
    if (cookie === undefined || cookie.length > lengthMax) return undefined;
    const start = `${this.#nameOf(name)}=`;
    const values = cookie.split(';').flatMap((part) => (part.trim().startsWith(start) ? [part.trim().slice(start.length)] : []));
    // Of two, one is not ours.
    return values.length === 1 ? values[0] : undefined;
  }

  write(reply: FastifyReply, name: string, value: string, { seconds, sameSite = 'Strict' }: CookieOptions = {}): void {
    const age = seconds === undefined ? '' : `; Max-Age=${seconds}`;
    reply.header(
      'set-cookie',
      `${this.#nameOf(name)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}${this.#isSecure ? '; Secure' : ''}${age}`,
    );
  }

  forget(reply: FastifyReply, name: string): void {
    this.write(reply, name, '', { seconds: 0 });
  }

  #nameOf(name: string): string {
    return this.#isSecure ? `__Host-${name}` : name;
  }
}

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

interface Device {
  readonly id: string;
  /** Whose it is. */
  readonly address: string;
}

const cookie = 'device';
/** The longest that a browser has a cookie. */
const days = 400;

/** Knows browsers in which somebody was signed in, by a cookie that gives no right: they get mailed links whatever others ask for. */
export class Devices {
  readonly #parts: { readonly seals: Seals; readonly cookies: Cookies; readonly clock: Clock };

  constructor(parts: { readonly seals: Seals; readonly cookies: Cookies; readonly clock: Clock }) {
    this.#parts = parts;
  }

  /** Of the last who was signed in. */
  note(request: FastifyRequest, reply: FastifyReply, email: string): void {
    if (this.idOf(request, email) !== undefined) return;
    const { seals, cookies, clock } = this.#parts;
    const device: Device = { id: randomBytes(12).toString('base64url'), address: addressOf(email) };
    cookies.write(reply, cookie, seals.sealValue('device', device, clock.now() + days * 86_400_000), { seconds: days * 86_400 });
  }

  /** Undefined: nobody with this address was signed in here. */
  idOf(request: FastifyRequest, email: string): string | undefined {
    const { seals, cookies, clock } = this.#parts;
    const device = seals.openValue<Device>('device', cookies.read(request, cookie), clock.now());
    return device?.address === addressOf(email) ? device.id : undefined;
  }
}

/** So that who borrows the device does not read it. */
const addressOf = (email: string): string => hash('sha256', canonicalAddress(email) ?? email, 'base64url');
