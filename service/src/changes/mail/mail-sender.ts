import { setTimeout as sleep } from 'node:timers/promises';
import { extendClaim } from '../../platform/db/claims.ts';
import type { Db, Writer } from '../../platform/db/handles.ts';
import type { MailAddress } from '../../platform/email-addresses.ts';
import type { SmtpServer } from '../../platform/server-urls.ts';
import {
  beginMail,
  claimMail,
  countMail,
  deferMail,
  endMail,
  isMailDue,
  type MailClaim,
  type MailCount,
  postponeMail,
} from './claim-queries.ts';
import {
  addressBounds,
  addressKeyOf,
  askerBounds,
  beginSeconds,
  dailyLimit,
  hashAddress,
  hashAsked,
  hashInvited,
  hashShelter,
  hashSubject,
  type ServerPause,
  type ShelterBound,
  shelterBounds,
} from './mail-queue.ts';
import { composeMessage, type MailMessage } from './message.ts';
import { badAddress, type SmtpFault, SmtpSession, type SmtpTimeouts, smtpFaultOf } from './smtp-session.ts';

export interface MailKind {
  /**
   * Against the bounds of the address. Staff: of the subject instead, once the address is confirmed. Invitation: as a confirmation, counted
   * apart, so that who fills in forms with an address does not keep the store from inviting it. Nothing: as often as there is something to say.
   */
  readonly countsAs: 'confirmation' | 'invitation' | 'message' | 'staff' | 'nothing';
  /** Against which bound of the shelter it counts, too. */
  readonly shelterBound?: ShelterBound;
  /** Beyond a bound: it waits for the next day, or fails, so that staff see it. Otherwise it is dropped. */
  readonly atBound?: 'wait' | 'fail';
}

/** Returns what is to be said now; undefined if there is nothing to say any more. */
export type ReadMail = (
  db: Db,
  mail: Pick<MailClaim, 'id' | 'kind' | 'subjectId' | 'createdAt' | 'recipient'>,
) => Promise<MailMessage | undefined>;

/** Limited: beyond a bound of the day, whatever becomes of it. */
export type MailOutcome = 'sent' | 'failed' | 'dropped' | 'deferred' | 'limited';

export interface MailParts {
  readonly db: Db & Writer;
  readonly server: SmtpServer;
  readonly from: MailAddress;
  /** Of the store. */
  readonly replyTo: MailAddress | undefined;
  readonly language: string;
  readonly kinds: Readonly<Record<string, MailKind>>;
  readonly read: ReadMail;
  /** Of the deployment. */
  readonly secret: Buffer;
  /** Shared by the senders of this process. */
  readonly pause: ServerPause;
  /** Aborted when the worker stops. What has begun may end. */
  readonly signal: AbortSignal;
  readonly onOutcome: (outcome: MailOutcome) => void;
  /** Shorter in tests. */
  readonly timeouts?: Partial<SmtpTimeouts>;
}

/** In one process. Each has one connection, and sends one message at a time. */
export const mailSenders = 4;

const defaultTimeouts: SmtpTimeouts = { openMs: 15_000, checkMs: 5_000, envelopeMs: 20_000, replyMs: 300_000 };
/** Until the text is sent. Longer than `envelopeMs`, with what comes before it. */
const claimSeconds = 60;
/** From then on: a worker that takes the message over sends it a second time. Extended while the server has not replied. */
const begunSeconds = 120;
const extendMs = 30_000;
/** As `beginSeconds`, with time to hand the text over. */
const beginMs = beginSeconds * 1_000 - 1_000;
const idleMsMax = 10_000;
const pauseSecondsMin = 30;
const pauseSecondsMax = 3_600;
const recordTries = 100;
const recordPauseMs = 1_000;

/**
 * Sends queued messages, one after the other. Several senders and workers do so at once, and each may be killed at any time:
 * - First the connection: a message is claimed only when it can be sent at once.
 * - A message belongs to the sender that has claimed it, until the claim ends. Each write has the number of the claim, which only grows.
 * - What it says is read after the claim. When the server has taken the envelope and asks for the text, the claim is checked once more:
 *   that is where a cancelled message stops. The text is sent within `beginSeconds` of that check or not at all.
 * - So a message is sent twice only if the text was sent, and the reply was not read or not recorded. Both have the same Message-ID.
 * - No connection of PostgreSQL is held while the SMTP server replies.
 */
export class MailSender {
  readonly #parts: MailParts;
  readonly #kinds: readonly string[];
  readonly #addressKey: Buffer;
  readonly #timeouts: SmtpTimeouts;
  #session: SmtpSession | undefined;
  #usedAtMs = 0;

  constructor(parts: MailParts) {
    this.#parts = parts;
    this.#kinds = Object.keys(parts.kinds);
    this.#addressKey = addressKeyOf(parts.secret);
    this.#timeouts = { ...defaultTimeouts, ...parts.timeouts };
  }

  /** A job. Returns 0 if no message is due. Rejects if the server or PostgreSQL fails. */
  async sendNext(): Promise<number> {
    const { db, signal, pause } = this.#parts;
    if (!(await isMailDue(db, this.#kinds))) {
      if (performance.now() - this.#usedAtMs > idleMsMax) this.close();
      return 0;
    }
    await pause.wait(signal);
    if (signal.aborted) return 0;
    const session = await this.#openSession();
    const claim = await claimMail(db, this.#kinds, claimSeconds);
    if (!claim) return 0;
    this.#usedAtMs = performance.now();
    await this.#sendClaimed(session, claim);
    return 1;
  }

  /** Ends the connection. */
  close(): void {
    this.#session?.quit();
    this.#session = undefined;
  }

  async #openSession(): Promise<SmtpSession> {
    const { pause, server } = this.#parts;
    if (this.#session && (await this.#session.isReady())) return this.#session;
    this.#session = undefined;
    try {
      this.#session = await SmtpSession.open(server, this.#timeouts);
      return this.#session;
    } catch (error) {
      pause.note();
      throw error;
    }
  }

  async #sendClaimed(session: SmtpSession, claim: MailClaim): Promise<void> {
    const { db, from, replyTo, language } = this.#parts;
    let message: MailMessage | undefined;
    try {
      message = claim.isSuperseded ? undefined : await this.#parts.read(db, claim);
    } catch (error) {
      await this.#defer(claim, { isOfRecipient: false, failure: null });
      throw error;
    }
    if (!message) return this.#end(claim, 'dropped');
    const composed = await composeMessage(message, { from, replyTo, language, id: claim.id, createdAt: claim.createdAt });
    if (!composed) return this.#end(claim, 'failed', badAddress);
    if (!(await this.#mayBeSent(claim, message))) return this.#limit(claim);
    try {
      await this.#exchange(session, claim, composed);
    } catch (error) {
      if (!(error instanceof NotBegun)) return this.#conclude(claim, smtpFaultOf(error));
      // It was cancelled, another worker has it, or this one stops: then it is due again at once.
      return this.#defer(claim, { seconds: 0, isOfRecipient: false, failure: null });
    }
    this.#parts.pause.clear();
    await this.#end(claim, 'sent');
  }

  async #mayBeSent(claim: MailClaim, message: MailMessage): Promise<boolean> {
    const counts = this.#countsOf(claim, message);
    return counts.length === 0 || claim.isCounted || countMail(this.#parts.db, claim, counts);
  }

  /** What the message counts against. */
  #countsOf({ kind, subjectId }: MailClaim, { to: { address }, isUnconfirmed = false, shelter }: MailMessage): MailCount[] {
    const key = this.#addressKey;
    const { countsAs: usually = 'nothing', shelterBound } = this.#parts.kinds[kind] ?? {};
    const countsAs = isUnconfirmed && usually !== 'invitation' ? 'confirmation' : usually;
    const isConfirmation = countsAs === 'confirmation' || countsAs === 'invitation';
    const counted =
      countsAs === 'staff'
        ? hashSubject(key, subjectId)
        : countsAs === 'invitation'
          ? hashInvited(key, address)
          : hashAddress(key, address);
    return [
      ...(countsAs === 'nothing' ? [] : [{ of: counted, isConfirmation, max: addressBounds }]),
      ...(countsAs === 'confirmation' && shelter?.clientId !== undefined
        ? [{ of: hashAsked(key, address, shelter.clientId), isConfirmation, max: askerBounds }]
        : []),
      ...(shelterBound && shelter
        ? [{ of: hashShelter(key, shelterBound, shelter), isConfirmation, max: shelterBounds[shelterBound] }]
        : []),
    ];
  }

  async #limit(claim: MailClaim): Promise<void> {
    const { db, kinds } = this.#parts;
    const { atBound } = kinds[claim.kind] ?? {};
    if (atBound === 'wait') {
      this.#parts.onOutcome('limited');
      return this.#record(() => postponeMail(db, claim));
    }
    return atBound === 'fail' ? this.#end(claim, 'failed', dailyLimit, 'limited') : this.#end(claim, 'dropped', null, 'limited');
  }

  async #exchange(
    session: SmtpSession,
    claim: MailClaim,
    { envelope, bytes }: NonNullable<Awaited<ReturnType<typeof composeMessage>>>,
  ): Promise<void> {
    const { db, signal } = this.#parts;
    let extending: NodeJS.Timeout | undefined;
    let hasBegun = false;
    const stop = () => {
      if (!hasBegun) session.destroy();
    };
    const begin = async () => {
      const askedAtMs = performance.now();
      if (signal.aborted || !(await beginMail(db, claim, begunSeconds))) throw new NotBegun();
      if (performance.now() - askedAtMs > beginMs) throw new NotBegun();
      hasBegun = true;
      extending = setInterval(() => void extendClaim(db, 'mail', claim, begunSeconds).catch(() => {}), extendMs);
      return bytes;
    };
    signal.addEventListener('abort', stop);
    try {
      await session.send(envelope, begin);
    } catch (error) {
      throw signal.aborted && !hasBegun ? new NotBegun() : error;
    } finally {
      clearInterval(extending);
      signal.removeEventListener('abort', stop);
    }
  }

  async #conclude(claim: MailClaim, fault: SmtpFault): Promise<void> {
    const { pause } = this.#parts;
    const failure = fault.code ?? null;
    if (fault.of === 'recipient') {
      pause.clear();
      return fault.isPermanent ? this.#end(claim, 'failed', failure) : this.#defer(claim, { isOfRecipient: true, failure });
    }
    pause.note();
    await this.#defer(claim, { isOfRecipient: false, failure });
    throw fault;
  }

  async #end(
    claim: MailClaim,
    state: 'sent' | 'failed' | 'dropped',
    failure: string | null = null,
    outcome: MailOutcome = state,
  ): Promise<void> {
    this.#parts.onOutcome(outcome);
    await this.#record(() => endMail(this.#parts.db, claim, state, failure));
  }

  async #defer(
    claim: MailClaim,
    { seconds = pauseSecondsAfter(claim.attempts), ...rest }: { seconds?: number; isOfRecipient: boolean; failure: string | null },
  ): Promise<void> {
    const state = await this.#record(() => deferMail(this.#parts.db, claim, { seconds, ...rest }));
    this.#parts.onOutcome(state === 'queued' ? 'deferred' : state);
  }

  /** Again while PostgreSQL is away: a message that was sent and is not marked would be sent again. */
  async #record<T>(write: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await write();
      } catch (error) {
        if (tries === recordTries) throw error;
        await sleep(recordPauseMs);
      }
    }
  }
}

class NotBegun extends Error {}

/** 30 s, 1 min, 2 min, … 1 h, each up to a quarter longer, so that those that failed together do not come back together. */
const pauseSecondsAfter = (attempts: number): number =>
  Math.min(pauseSecondsMin * 2 ** (attempts - 1), pauseSecondsMax) * (1 + Math.random() / 4);
