import type { FastifyReply, FastifyRequest } from 'fastify';

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
