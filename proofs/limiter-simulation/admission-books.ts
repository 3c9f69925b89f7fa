// What the simulated processes have admitted and what Redis was told, by client and window, and the rules that both must keep.
import { dayMs, minuteMs, type Quota } from '../../service/src/access/rate-limit/plans.ts';
import type { ExecutedCall } from './simulated-network.ts';

export interface Decided {
  readonly subject: string;
  readonly process: number;
  readonly by: 'redis' | 'process';
  readonly outcome: string;
  readonly minute: number;
  readonly day: number;
  readonly arrivedAtMs: number;
  /** From `noteArrived`. */
  readonly arrival: number;
  readonly skewMs: number;
}

export type RuleName = 'exact' | 'shown' | 'rejected' | 'alone' | 'paid' | 'emptied' | 'window' | 'error';

export class RuleBroken extends Error {
  readonly rule: RuleName;

  constructor(rule: RuleName, message: string) {
    super(message);
    this.rule = rule;
  }
}

const kinds = ['minute', 'day'] as const;
type Kind = (typeof kinds)[number];
const lengthsMs: Record<Kind, number> = { minute: minuteMs, day: dayMs };

/** What one process did in a window of a client. */
class Share {
  /** Admitted, whether by Redis or alone. */
  own = 0;
  /** Admitted by the process without Redis, so that it owes them. */
  alone = 0;
  /** Rejected by the process without Redis, so not owed. */
  rejected = 0;
  /** What Redis was told of `alone` afterwards; of that, by calls whose reply came. */
  paid = 0;
  confirmed = 0;
  /** What Redis counted for calls whose reply the process didn't wait for; of these, those whose reply came late. */
  abandoned = 0;
  late = 0;
  /** The latest arrival when the process decided alone, or Redis was emptied. */
  forgetsUpTo = 0;
  /** Admitted by Redis, and still on the way then: the process could not know of it. */
  unknown = 0;
}

/** One window of one client. */
class Book {
  readonly name: string;
  readonly limit: number;
  readonly shares: readonly Share[];
  /** All that was admitted; of that, by the processes without Redis. */
  admitted = 0;
  alone = 0;
  /** What Redis has admitted, and what it was told of afterwards. */
  counted = 0;
  owed = 0;
  emptied = 0;

  constructor(name: string, limit: number, processes: number) {
    this.name = name;
    this.limit = limit;
    this.shares = Array.from({ length: processes }, () => new Share());
  }

  shareOf(process: number): Share {
    const share = this.shares[process];
    if (!share) throw new Error(`there is no process ${process}`);
    return share;
  }

  get used(): number {
    return this.counted + this.owed;
  }
}

/** The admitted lines of a call, until it is known whether the process waited for the reply. */
interface Call {
  readonly sentAtMs: number;
  isAbandoned: boolean;
  isReplied: boolean;
  readonly admissions: Array<{ share: Share; isOfOneWindow: boolean }>;
  readonly payments: Array<{ share: Share; count: number }>;
}

export class AdmissionBooks {
  readonly #processes: number;
  readonly #quotas: ReadonlyMap<string, Quota>;
  readonly #books = new Map<string, Book>();
  readonly #calls = new Map<number, Call>();
  #arrivals = 0;
  /** Requests that have arrived and not ended, by client and process. */
  readonly #undecided = new Map<string, number>();
  /** By the highest share of a limit that was admitted in a window. */
  readonly peaks = { alone: 0, emptied: 0 };

  constructor(processes: number, quotas: ReadonlyMap<string, Quota>) {
    this.#processes = processes;
    this.#quotas = quotas;
  }

  /** Returns the number of the request. */
  noteArrived(subject: string, process: number): number {
    this.#undecided.set(`${subject} ${process}`, this.#undecidedOf(subject, process) + 1);
    this.#arrivals += 1;
    return this.#arrivals;
  }

  /** The request has its decision, or gets none. */
  noteEnded(subject: string, process: number): void {
    this.#undecided.set(`${subject} ${process}`, this.#undecidedOf(subject, process) - 1);
  }

  /** A process has sent a call. */
  noteSent(callId: number, sentAtMs: number): void {
    this.#calls.set(callId, { sentAtMs, isAbandoned: false, isReplied: false, admissions: [], payments: [] });
  }

  /** A process no longer waits for the reply. */
  noteAbandoned(callId: number): void {
    const call = this.#calls.get(callId);
    if (!call || call.isAbandoned) return;
    call.isAbandoned = true;
    for (const { share } of call.admissions) share.abandoned += 1;
  }

  noteReplied(callId: number): void {
    const call = this.#calls.get(callId);
    if (!call || call.isReplied) return;
    call.isReplied = true;
    for (const { share, count } of call.payments) share.confirmed += count;
    if (!call.isAbandoned) this.#calls.delete(callId);
    else for (const { share, isOfOneWindow } of call.admissions) if (isOfOneWindow) share.late += 1;
  }

  /** Redis is empty. */
  noteEmptied(nowMs: number): void {
    for (const [name, book] of this.#books) {
      const [, kind, window] = name.split(' ');
      if (Number(window) >= Math.floor(nowMs / lengthsMs[kind as Kind])) {
        book.emptied += 1;
        for (const share of book.shares) share.forgetsUpTo = this.#arrivals;
      }
    }
  }

  noteExecuted({ id, process, requests, subjects, replies }: ExecutedCall, nowMs: number): void {
    const call = this.#calls.get(id);
    requests.forEach((request, index) => {
      const [limits = '', , , owed = ''] = request.split(';');
      const cost = Number(limits.split(' ')[2]);
      const [outcome, minute, inMinute, day, inDay] = (replies[index] ?? '').split(' ');
      if (outcome === 'stale') return;
      const windows = [
        { kind: 'minute', window: minute, shown: inMinute, at: 0 },
        { kind: 'day', window: day, shown: inDay, at: 2 },
      ] as const;
      for (const { kind, window, shown, at } of windows) {
        const book = this.#book(subjects[index] ?? '', kind, Number(window));
        if (!book) continue;
        const owedHere = countIn(owed, at, window);
        book.owed += owedHere;
        const share = book.shareOf(process);
        share.paid += owedHere;
        if (owedHere > 0) call?.payments.push({ share, count: owedHere });
        if (outcome === 'admitted') book.counted += cost;
        if (book.emptied === 0 && book.alone === 0)
          check('shown', Number(shown) === book.used, () => `Redis replies that ${shown} are used ${book.name}, not ${book.used}`);
        if (cost === 0) continue;
        if (outcome === 'admitted') {
          if (book.emptied === 0)
            check('exact', book.used <= book.limit, () => `Redis has admitted ${book.used} of ${book.limit} ${book.name}`);
          const isOfOneWindow = Math.floor((call?.sentAtMs ?? nowMs) / lengthsMs[kind]) === Number(window);
          call?.admissions.push({ share, isOfOneWindow });
          if (call?.isAbandoned) share.abandoned += 1;
        } else if (outcome === kind) {
          // What was admitted alone is used, also if only the process that has seen it tells Redis. An emptied Redis may be told again.
          const excess = book.emptied > 0 ? book.alone : Math.max(book.alone - book.owed, 0);
          check(
            'rejected',
            book.used + excess >= book.limit,
            () => `Redis rejects a request ${book.name}, but only ${book.used} of ${book.limit} are used`,
          );
        }
      }
    });
  }

  noteDecided(decided: Decided, nowMs: number): void {
    for (const kind of kinds) this.#noteIn(kind, decided, nowMs);
  }

  /**
   * Nothing is on its way between the process and Redis. So Redis knows what the process has admitted alone: at least once, and if
   * no reply was lost, just once.
   */
  checkPaid(process: number, nowMs: number): void {
    for (const subject of this.#quotas.keys()) {
      for (const kind of kinds) {
        const book = this.#books.get(nameOf(subject, kind, Math.floor(nowMs / lengthsMs[kind])));
        if (book) checkPaidIn(book, process);
      }
    }
  }

  #noteIn(kind: Kind, { subject, process, by, outcome, arrivedAtMs, arrival, skewMs, ...windows }: Decided, nowMs: number): void {
    const window = windows[kind];
    const book = this.#book(subject, kind, window);
    if (!book) return;
    const share = book.shareOf(process);
    const lengthMs = lengthsMs[kind];
    const from = Math.floor((arrivedAtMs + (by === 'redis' ? 0 : Math.min(skewMs, 0))) / lengthMs);
    const to = Math.floor((nowMs + (by === 'redis' ? 0 : Math.max(skewMs, 0))) / lengthMs);
    check('window', window >= from && window <= to, () => `a request of ${kind} ${from} to ${to} is decided ${book.name}`);
    if (outcome !== 'admitted' && by === 'process') share.rejected += 1;
    if (outcome === kind && by === 'process') {
      // A process counts what it admits before the request has its decision.
      const known = book.counted + book.owed + book.alone + this.#undecidedOf(subject, process);
      check(
        'rejected',
        known >= book.limit,
        () => `process ${process} rejects a request ${book.name}, but only ${known} of ${book.limit} are used`,
      );
    }
    if (outcome !== 'admitted') return;
    book.admitted += 1;
    share.own += 1;
    if (by === 'process') {
      book.alone += 1;
      share.alone += 1;
      share.forgetsUpTo = this.#arrivals;
    } else if (arrival <= share.forgetsUpTo) share.unknown += 1;
    this.#checkBounds(book, process, skewMs);
  }

  #checkBounds(book: Book, process: number, skewMs: number): void {
    const { admitted, alone, limit, name, emptied } = book;
    const { own, unknown } = book.shareOf(process);
    const byRedis = admitted - alone;
    const isAlone = alone > 0;
    // A process whose clock is ahead, and decides alone, is in the next window already. It forgets this one, and comes to it again.
    const ownMax = limit * (skewMs === 0 ? 1 : 2 + emptied) + unknown;
    if (emptied > 0) this.peaks.emptied = Math.max(this.peaks.emptied, admitted / limit);
    else if (isAlone) this.peaks.alone = Math.max(this.peaks.alone, admitted / limit);
    if (emptied === 0) check('exact', byRedis <= limit, () => `Redis admits ${byRedis} of ${limit} ${name}`);
    if (!isAlone && emptied === 0)
      check('exact', admitted <= limit, () => `${admitted} of ${limit} are admitted ${name}, although Redis has replied`);
    check(emptied > 0 ? 'emptied' : 'alone', own <= ownMax, () => `process ${process} alone admits ${own} of ${limit} ${name}`);
    if (!isAlone)
      check(
        'emptied',
        admitted <= (1 + emptied) * limit,
        () => `${admitted} of ${limit} are admitted ${name}, in which Redis was emptied ${emptied} times`,
      );
  }

  #undecidedOf(subject: string, process: number): number {
    return this.#undecided.get(`${subject} ${process}`) ?? 0;
  }

  #book(subject: string, kind: Kind, window: number): Book | undefined {
    const quota = this.#quotas.get(subject);
    const limit = kind === 'minute' ? quota?.perMinute : quota?.perDay;
    if (limit === undefined) return undefined;
    const name = nameOf(subject, kind, window);
    let book = this.#books.get(name);
    if (!book) {
      book = new Book(`of ${subject} in ${kind} ${window}`, limit, this.#processes);
      this.#books.set(name, book);
    }
    return book;
  }
}

function checkPaidIn(book: Book, process: number): void {
  const { alone, rejected, paid, confirmed, abandoned, late } = book.shareOf(process);
  const admitted = () => `process ${process} has admitted ${alone} alone ${book.name}`;
  check('paid', alone <= paid + abandoned, () => `${admitted()}, but Redis was told of ${paid + abandoned}`);
  // A reply may also have come late for a request that was not owed.
  if (rejected > 0) return;
  check('paid', confirmed + late <= alone, () => `${admitted()}, but Redis was told of ${confirmed} beside ${late} that it knew`);
}

const nameOf = (subject: string, kind: Kind, window: number) => `${subject} ${kind} ${window}`;

/** Of the counts 'minute in-minute day in-day', that of the window at an index. */
function countIn(counts: string, at: 0 | 2, window: string | undefined): number {
  const texts = counts.split(' ');
  return texts[at] === window ? Number(texts[at + 1] ?? 0) : 0;
}

function check(rule: RuleName, holds: boolean, otherwise: () => string): void {
  if (!holds) throw new RuleBroken(rule, otherwise());
}
