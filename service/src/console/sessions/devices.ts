import { hash, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../platform/clock.ts';
import { canonicalAddress } from '../../platform/email-addresses.ts';
import type { Cookies } from './cookies.ts';
import type { Seals } from './seals.ts';

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
