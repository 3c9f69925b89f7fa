import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NewPasskey, Passkey } from '../../access/people/credentials.ts';
import type { Person } from '../../access/people/people.ts';
import type { Clock } from '../../platform/clock.ts';
import { PageError } from '../screens/page-error.ts';
import type { Cookies, Seals } from '../sessions/cookies.ts';

type Ceremony = 'create' | 'get';

/** A challenge that this browser was given. It is not stored until it is used. */
export interface Challenge {
  readonly text: string;
  readonly endsAt: Date;
}

interface Parts {
  readonly seals: Seals;
  readonly cookies: Cookies;
  readonly clock: Clock;
  readonly consoleUrl: string;
}

const cookie = 'challenge';
const challengeMs = 300_000;

/** The two ceremonies of WebAuthn: a passkey is made, or signs. Both require that the authenticator verifies its user. */
export class PasskeyCeremonies {
  readonly #parts: Parts;
  /** Passkeys belong to the host name: they work on no other. */
  readonly #rpID: string;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#rpID = new URL(parts.consoleUrl).hostname;
  }

  async startCreating(reply: FastifyReply, person: Person, existing: readonly Passkey[]) {
    const options = await generateRegistrationOptions({
      rpName: 'Homeward',
      rpID: this.#rpID,
      userID: new TextEncoder().encode(`homeward-${person.id}`),
      userName: person.email,
      userDisplayName: person.name,
      timeout: challengeMs,
      attestationType: 'none',
      excludeCredentials: existing.map(({ credentialId: id }) => ({ id })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    this.#give(reply, 'create', options.challenge);
    return options;
  }

  async finishCreating(
    request: FastifyRequest,
    reply: FastifyReply,
    response: unknown,
  ): Promise<{ passkey: Omit<NewPasskey, 'name'>; challenge: Challenge }> {
    const challenge = this.#take(request, reply, 'create');
    const verified = await verifyRegistrationResponse({
      response: response as Parameters<typeof verifyRegistrationResponse>[0]['response'],
      ...this.#expected(challenge),
    }).catch(() => undefined);
    if (!verified?.verified) throw notAccepted();
    const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
    return { passkey: { credentialId: id, publicKey, counter, transports }, challenge };
  }

  async startSigning(reply: FastifyReply) {
    // No list of passkeys: that would say which exist.
    const options = await generateAuthenticationOptions({ rpID: this.#rpID, userVerification: 'required', timeout: challengeMs });
    this.#give(reply, 'get', options.challenge);
    return options;
  }

  /** `find` gets the id that the browser names. Returns whose passkey has signed, and its new counter. */
  async finishSigning<Found extends { readonly passkey: Passkey }>(
    request: FastifyRequest,
    reply: FastifyReply,
    response: unknown,
    find: (credentialId: string) => Promise<Found | undefined>,
  ): Promise<{ found: Found; counter: number; challenge: Challenge }> {
    const challenge = this.#take(request, reply, 'get');
    const { id } = (response ?? {}) as { id?: unknown };
    if (typeof id !== 'string' || id.length > 1_400) throw notAccepted();
    const found = await find(id);
    if (!found) throw new PageError(403, '', 'The console does not know this passkey: it was removed, or is for another store.');
    const { publicKey } = found.passkey;
    const verified = await verifyAuthenticationResponse({
      response: response as Parameters<typeof verifyAuthenticationResponse>[0]['response'],
      // The stored counter is compared when the new one is stored: of what this passkey has signed, and of nothing that others have made up.
      credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
      ...this.#expected(challenge),
    }).catch(() => undefined);
    if (!verified?.verified) throw notAccepted();
    return { found, counter: verified.authenticationInfo.newCounter, challenge };
  }

  #expected({ text }: Challenge) {
    return {
      expectedChallenge: text,
      expectedOrigin: this.#parts.consoleUrl,
      expectedRPID: this.#rpID,
      requireUserVerification: true,
    };
  }

  #give(reply: FastifyReply, ceremony: Ceremony, text: string): void {
    const { seals, cookies, clock } = this.#parts;
    const endsAtMs = clock.now() + challengeMs;
    cookies.write(reply, cookie, seals.sealValue('passkey', { ceremony, text, endsAtMs }, endsAtMs), { seconds: challengeMs / 1_000 });
  }

  #take(request: FastifyRequest, reply: FastifyReply, ceremony: Ceremony): Challenge {
    const { seals, cookies, clock } = this.#parts;
    const given = seals.openValue<{ ceremony: Ceremony; text: string; endsAtMs: number }>(
      'passkey',
      cookies.read(request, cookie),
      clock.now(),
    );
    cookies.forget(reply, cookie);
    if (given?.ceremony !== ceremony) throw new PageError(403, '', 'That took longer than 5 minutes. Try again.');
    return { text: given.text, endsAt: new Date(given.endsAtMs) };
  }
}

const notAccepted = () => new PageError(403, '', 'The passkey was not accepted. Try again, or sign in in another way.');
