import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FeedWindow } from '../../../src/changes/delivery/feed-reader.ts';
import { Line, type LineOptions } from '../../../src/changes/delivery/line.ts';
import type { EventRow } from '../../../src/changes/events/events.ts';
import { eventOf, eventsOf, windowOf } from './delivery-parts.ts';

const all = () => true;
const numbers = (events: readonly EventRow[]) => events.map(({ position }) => Number(position));

/** Takes everything that may be sent now. */
function takeAll(line: Line, window: FeedWindow, isWanted = all as (event: EventRow) => boolean): EventRow[] {
  const taken: EventRow[] = [];
  for (let event = line.take(window, isWanted); event; event = line.take(window, isWanted)) taken.push(event);
  return taken;
}

/** Sends everything successfully, and returns it in the order in which it was sent. */
function drain(line: Line, window: FeedWindow, isWanted?: (event: EventRow) => boolean): number[] {
  const sent: number[] = [];
  for (let taken = takeAll(line, window, isWanted); taken.length > 0; taken = takeAll(line, window, isWanted)) {
    for (const event of taken) {
      line.finish(event);
      line.close(event.position);
    }
    sent.push(...numbers(taken));
  }
  return sent;
}

const one = (events: readonly EventRow[], position: number): EventRow => {
  const event = events.find((candidate) => candidate.position === BigInt(position));
  if (!event) throw new Error(`no event ${position}`);
  return event;
};

describe('A line', () => {
  test('takes one event of each animal at a time, in the order of the feed', () => {
    const events = eventsOf(1, 1, 2, 1, 3);
    const [line, window] = [new Line({ position: 0n }), windowOf(events)];
    expect(numbers(takeAll(line, window))).toEqual([1, 3, 5]);
    line.finish(one(events, 3));
    expect(takeAll(line, window)).toEqual([]);
    line.finish(one(events, 1));
    expect(numbers(takeAll(line, window))).toEqual([2]);
    line.finish(one(events, 2));
    expect(numbers(takeAll(line, window))).toEqual([4]);
  });

  test('has a mark that passes no event until its result is stored, also not one that waits for another', () => {
    const events = eventsOf(1, 1, 2);
    const [line, window] = [new Line({ position: 0n }), windowOf(events)];
    takeAll(line, window);
    expect([line.cursor, line.mark, line.isIdle]).toEqual([3n, 0n, false]);
    line.finish(one(events, 3));
    line.close(3n);
    line.finish(one(events, 1));
    expect(line.mark).toBe(0n);
    line.close(1n);
    expect([line.mark, line.isIdle]).toEqual([1n, false]);
    const [second] = takeAll(line, window);
    if (!second) throw new Error('nothing taken');
    line.finish(second);
    line.close(2n);
    expect([line.mark, line.isIdle, line.isAtEnd(window)]).toEqual([3n, true, true]);
  });

  test('returns the events behind a failed one, and lets no later one of the animal pass until that is stored', () => {
    const events = eventsOf(1, 1, 1, 2, 1);
    const [line, window] = [new Line({ position: 0n }), windowOf(events.slice(0, 4))];
    expect(numbers(takeAll(line, window))).toEqual([1, 4]);
    const failed = one(events, 1);
    expect(numbers(line.fail(failed))).toEqual([2, 3]);
    window.append(events.slice(4), 5n);
    expect(takeAll(line, window)).toEqual([]);
    expect(line.mark).toBe(0n);
    line.finish(failed);
    for (const position of [1n, 2n, 3n]) line.close(position);
    expect(line.mark).toBe(3n);
    expect(numbers(takeAll(line, window))).toEqual([5]);
  });

  test('takes an event that was put back again, before all others and before the next one of its animal', () => {
    const events = eventsOf(1, 1, 2, 3);
    const [line, window] = [new Line({ position: 0n }), windowOf(events)];
    const taken = takeAll(line, window);
    for (const event of taken.toReversed()) line.putBack(event);
    expect([line.mark, line.isAtEnd(window)]).toEqual([0n, false]);
    expect(numbers(takeAll(line, window))).toEqual([1, 3, 4]);
  });

  test('looks ahead at most 64 events for other animals while one is being sent', () => {
    const events = eventsOf(...Array.from({ length: 100 }, () => 1), 2);
    const [line, window] = [new Line({ position: 0n }), windowOf(events)];
    expect(numbers(takeAll(line, window))).toEqual([1]);
    expect(line.cursor).toBe(65n);
    line.finish(one(events, 1));
    expect(numbers(takeAll(line, window))).toEqual([2]);
    expect(line.cursor).toBe(66n);
    for (const event of events.slice(1, 100)) {
      line.finish(event);
      takeAll(line, window);
    }
    expect(line.cursor).toBe(101n);
  });

  test('looks ahead again after a failure has taken away what waited', () => {
    const events = eventsOf(...Array.from({ length: 66 }, () => 1), 2);
    const [line, window] = [new Line({ position: 0n }), windowOf(events)];
    takeAll(line, window);
    expect(line.fail(one(events, 1))).toHaveLength(64);
    expect(numbers(takeAll(line, window))).toEqual([67]);
  });

  test('leaves out skipped positions and events that the endpoint does not get', () => {
    const events = eventsOf(1, 2, 3, 4, 5, 6, 7, 8);
    const skipped = [
      { after: 1n, upTo: 3n },
      { after: 5n, upTo: 6n },
    ];
    const [line, window] = [new Line({ position: 0n, skipped }), windowOf(events)];
    expect(drain(line, window, ({ petId }) => petId !== 8n)).toEqual([1, 4, 5, 7]);
    expect(line.mark).toBe(8n);
  });

  test('of a replay ends at its last position, wherever the window ends', () => {
    const events = eventsOf(1, 2, 3, 4);
    const [line, window] = [new Line({ position: 1n, upTo: 3n }), windowOf(events.slice(0, 2))];
    expect(drain(line, window)).toEqual([2]);
    expect([line.isAtEnd(window), line.isDone]).toEqual([true, false]);
    window.append(events.slice(2), 4n);
    expect(drain(line, window)).toEqual([3]);
    expect([line.mark, line.isAtEnd(window), line.isDone]).toEqual([3n, true, true]);
  });

  test('whose start is after the end of the window takes nothing before its start', () => {
    const events = eventsOf(1, 2, 3, 4);
    const [line, window] = [new Line({ position: 3n }), windowOf(events.slice(0, 2))];
    expect([drain(line, window), line.mark]).toEqual([[], 3n]);
    window.append(events.slice(2), 4n);
    expect(drain(line, window)).toEqual([4]);
  });

  test('behind the window needs pages, and continues in the window', () => {
    const events = eventsOf(1, 2, 3, 4, 5, 6);
    const [line, window] = [new Line({ position: 0n }), new FeedWindow(4n)];
    window.append(events.slice(4), 6n);
    expect([line.needsPage(window), line.isAtEnd(window), takeAll(line, window)]).toEqual([true, false, []]);
    line.addPage(events.slice(0, 2), 2n);
    expect([line.needsPage(window), drain(line, window), line.cursor]).toEqual([false, [1, 2], 2n]);
    // A page without an event that the endpoint gets.
    expect(line.needsPage(window)).toBe(true);
    line.addPage([], 4n);
    expect([line.needsPage(window), drain(line, window), line.mark]).toEqual([false, [5, 6], 6n]);
  });

  test('that has consumed a page knows of everything up to the end of the page', () => {
    const [line, window] = [new Line({ position: 0n }), new FeedWindow(9n)];
    line.addPage([eventOf(2, 1)], 9n);
    expect([drain(line, window), line.cursor, line.needsPage(window)]).toEqual([[2], 9n, false]);
  });

  test('says since when attempts are to be looked at, for events that another worker may have sent', () => {
    const [first, last, next] = [4, 6, 7].map((position) => eventOf(position, 1, { publishedAt: new Date(100_000) }));
    const checked = (options: LineOptions) => [first, last, next].map((event) => event && new Line(options).checkedSinceFor(event));
    const published = new Date(40_000);
    expect(checked({ position: 3n, checkedTo: 6n })).toEqual([published, published, undefined]);
    const checkedSince = new Date(5);
    expect(checked({ position: 3n, checkedTo: 6n, checkedSince })).toEqual([checkedSince, checkedSince, undefined]);
    expect(checked({ position: 3n })).toEqual([undefined, undefined, undefined]);
  });
});

// Any number of events in the database and in the window, any results in any order: compared with what must hold.
test('A line sends every event once, in order by animal, and its mark passes no open event', () => {
  const actions = fc.array(
    fc.record({ kind: fc.constantFrom('take', 'deliver', 'fail', 'store', 'putBack', 'publish', 'page'), n: fc.nat(50) }),
    {
      maxLength: 150,
    },
  );
  const feed = fc.array(fc.record({ pet: fc.nat(3), isWanted: fc.boolean() }), { maxLength: 150 });
  const property = () =>
    fc.assert(
      fc.property(feed, fc.nat(60), fc.array(fc.nat(150), { maxLength: 6 }), actions, (pets, windowFrom, cuts, steps) => {
        const events = pets.map(({ pet, isWanted }, i) => eventOf(i + 1, pet, { type: isWanted ? 'pet.updated' : 'pet.created' }));
        new Model(events, BigInt(Math.min(windowFrom, events.length)), rangesOf(cuts)).run(steps);
      }),
      { numRuns: 200 },
    );
  expect(property).not.toThrow();
});

type Kind = 'take' | 'deliver' | 'fail' | 'store' | 'putBack' | 'publish' | 'page';

function rangesOf(cuts: readonly number[]): NonNullable<LineOptions['skipped']> {
  const sorted = [...new Set(cuts)].sort((a, b) => a - b).map(BigInt);
  return sorted.flatMap((after, i) => (i % 2 === 0 && sorted[i + 1] !== undefined ? [{ after, upTo: sorted[i + 1] ?? 0n }] : []));
}

const byPosition = (a: bigint, b: bigint) => (a < b ? -1 : 1);

class Model {
  readonly #events: readonly EventRow[];
  readonly #skipped: ReturnType<typeof rangesOf>;
  readonly #line: Line;
  readonly #window: FeedWindow;
  readonly #inFlight: EventRow[] = [];
  readonly #unstored: Array<{ event: EventRow; behind: EventRow[]; isDelivered: boolean }> = [];
  readonly #closed = new Set<bigint>();
  readonly #sent: EventRow[] = [];

  constructor(events: readonly EventRow[], windowFrom: bigint, skipped: ReturnType<typeof rangesOf>) {
    this.#events = events;
    this.#skipped = skipped;
    this.#line = new Line({ position: 0n, skipped });
    this.#window = new FeedWindow(windowFrom);
  }

  run(steps: ReadonlyArray<{ kind: Kind; n: number }>): void {
    for (const { kind, n } of steps) this.#do(kind, n);
    // Then everything is published, sent and stored.
    for (let rounds = 0; rounds < 4 * this.#events.length + 10; rounds += 1) {
      for (const kind of ['publish', 'page', 'take', 'deliver', 'store'] as const) this.#do(kind, kind === 'publish' ? 50 : 0);
    }
    const wanted = this.#events.filter((event) => this.#isWanted(event)).map(({ position }) => position);
    assert.deepEqual([...this.#closed].sort(byPosition), wanted);
    assert.deepEqual([this.#line.isIdle, this.#line.isAtEnd(this.#window), this.#line.mark], [true, true, this.#window.to]);
  }

  #isWanted({ type, position }: EventRow): boolean {
    return type === 'pet.updated' && !this.#skipped.some(({ after, upTo }) => position > after && position <= upTo);
  }

  #do(kind: Kind, n: number): void {
    const [line, window] = [this.#line, this.#window];
    if (kind === 'publish') {
      const more = this.#events.filter(({ position }) => position > window.to).slice(0, n);
      window.append(more, more.at(-1)?.position ?? window.to);
    } else if (kind === 'page' && line.needsPage(window)) {
      const end = line.pageEnd(window);
      const page = this.#events
        .filter(({ position, type }) => position > line.cursor && position <= end && type === 'pet.updated')
        .slice(0, 7);
      line.addPage(page, page.length === 7 ? (page.at(-1)?.position ?? 0n) : end);
    } else if (kind === 'take') this.#take();
    else if (kind === 'store') this.#store(n);
    else if (kind !== 'page') this.#end(kind, n);
    this.#check();
  }

  #take(): void {
    const event = this.#line.take(this.#window, ({ type }) => type === 'pet.updated');
    if (!event) return;
    assert(this.#isWanted(event));
    assert(!this.#inFlight.some(({ petId }) => petId === event.petId));
    this.#inFlight.push(event);
  }

  #end(kind: 'deliver' | 'fail' | 'putBack', n: number): void {
    const [event] = this.#inFlight.splice(n % Math.max(this.#inFlight.length, 1), 1);
    if (!event) return;
    if (kind === 'putBack') {
      this.#line.putBack(event);
      return;
    }
    const behind = kind === 'fail' ? this.#line.fail(event) : [];
    if (kind === 'deliver') this.#line.finish(event);
    for (const ended of [event, ...behind]) {
      // Of each animal, in the order of the feed.
      assert.equal(ended.petId, event.petId);
      const before = this.#sent.findLast(({ petId }) => petId === ended.petId);
      assert(before === undefined || before.position < ended.position);
      this.#sent.push(ended);
    }
    this.#unstored.push({ event, behind, isDelivered: kind === 'deliver' });
  }

  #store(n: number): void {
    const [stored] = this.#unstored.splice(n % Math.max(this.#unstored.length, 1), 1);
    if (!stored) return;
    if (!stored.isDelivered) this.#line.finish(stored.event);
    for (const { position } of [stored.event, ...stored.behind]) {
      this.#line.close(position);
      assert(!this.#closed.has(position));
      this.#closed.add(position);
    }
  }

  #check(): void {
    const { mark, cursor } = this.#line;
    assert(mark <= cursor);
    const open = this.#events.find((event) => event.position <= mark && this.#isWanted(event) && !this.#closed.has(event.position));
    assert.equal(open, undefined);
    // While a failed event is not stored, none of its animal is in flight.
    for (const { event, isDelivered } of this.#unstored) {
      assert(isDelivered || !this.#inFlight.some(({ petId }) => petId === event.petId));
    }
  }
}
