import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { roundsOf } from '../../../testkit/rounds.ts';
import type { Change, CheckOptions, Create, Facts, Finding, History, Operation, Place, Read, Rule } from '../history.ts';
import { measureAvailability } from './availability.ts';
import { check } from './check.ts';
import { type Simulated, simulate } from './simulated-history.ts';

const small = { operations: 900, perSecond: 400, animals: 12, lostShare: 0.05, endpoints: 4 };
const clean = simulate({ ...small, seed: 11 });

interface Edited {
  readonly history?: Partial<History>;
  readonly facts?: Partial<Facts>;
  readonly options?: CheckOptions;
}

/** The findings of the clean history with something changed. */
function findingsOf({ history, facts, options }: Edited, { history: history_, facts: facts_, connections }: Simulated = clean): Finding[] {
  return check({ ...history_, ...history }, { ...facts_, ...facts }, { connections, ...options });
}

const rulesOf = (findings: readonly Finding[]): Rule[] => [...new Set(findings.map(({ rule }) => rule))];

/** The first operation of the kind that suits. */
function find<Kind extends Operation['kind']>(
  kind: Kind,
  isSuitable: (operation: Extract<Operation, { kind: Kind }>) => boolean = () => true,
): Extract<Operation, { kind: Kind }> {
  const ofKind = clean.history.operations.filter((operation) => operation.kind === kind) as Extract<Operation, { kind: Kind }>[];
  const found = ofKind.find((operation) => operation.outcome === 'ok' && isSuitable(operation));
  if (!found) throw new Error(`the history has no such ${kind}`);
  return found;
}

const replace = (old: Operation, ...by: Operation[]): Partial<History> => ({
  operations: clean.history.operations.flatMap((operation) => (operation === old ? by : operation)),
});
const endOf = ({ attempts }: Operation) => attempts.at(-1)?.endMs ?? 0;
const beginOf = ({ attempts }: Operation) => attempts[0]?.beginMs ?? 0;
const nextId = 1 + Math.max(...clean.history.operations.map(({ id }) => id));

/** A read some time after an acknowledged change of its animal. */
function staleRead(): { change: Change; read: Read } {
  for (const change of clean.history.operations) {
    if (change.kind !== 'change' || change.outcome !== 'ok') continue;
    const read = clean.history.operations.find(
      (one): one is Read => one.kind === 'read' && one.petId === change.petId && one.value !== null && beginOf(one) > endOf(change),
    );
    if (read) return { change, read };
  }
  throw new Error('the history has no read after a change');
}

describe('A clean history', () => {
  test('with lost responses has no finding', () => {
    expect(clean.history.operations.filter(({ outcome }) => outcome === 'unknown').length).toBeGreaterThan(5);
    expect(findingsOf({ options: { dayCounts: { fromMs: 0, uncountedMax: 0 } } })).toEqual([]);
  });

  test('of any seed has no finding', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.nat({ max: 30 }), (seed, lostPercent) => {
        const simulated = simulate({ seed, operations: 250, perSecond: 500, animals: 3, lostShare: lostPercent / 100, endpoints: 2 });
        expect(check(simulated.history, simulated.facts)).toEqual([]);
      }),
      { numRuns: roundsOf(15, 60) },
    );
  });

  test('of any seed has one if a read shows what was never there, or not any more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.nat(), fc.boolean(), (seed, number, isOld) => {
        const { history, facts } = simulate({ seed, operations: 250, perSecond: 500, animals: 3, lostShare: 0.1, endpoints: 2 });
        const isRead = (one: Operation): one is Read => one.kind === 'read' && one.outcome === 'ok' && Boolean(one.value);
        const overwritten = (read: Read) =>
          history.operations.find(
            (one): one is Change => one.kind === 'change' && one.outcome === 'ok' && one.petId === read.petId && endOf(one) < beginOf(read),
          )?.expected;
        const reads = history.operations.filter((one): one is Read => isRead(one) && (!isOld || overwritten(one) !== undefined));
        const read = reads[number % reads.length];
        fc.pre(read !== undefined);
        const value = isOld ? overwritten(read) : { name: 's-0.never', categoryId: 1, status: 'available' };
        const edited = history.operations.map((one) => (one === read ? { ...read, value: value ?? null } : one));
        expect(rulesOf(check({ ...history, operations: edited }, facts))).toEqual(['animal is linearizable']);
      }),
      { numRuns: roundsOf(15, 60) },
    );
  });

  test('of 60 s at 400 operations a second is judged within 10 s', () => {
    const long = simulate({ seed: 3, operations: 24_000, perSecond: 400, animals: 60, lostShare: 0.02, endpoints: 20 });
    const startMs = performance.now();
    expect(check(long.history, long.facts)).toEqual([]);
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });
});

describe('A planted anomaly is found:', () => {
  test('an acknowledged animal that is lost', () => {
    const { petId, asked } = find('create');
    const findings = findingsOf({ facts: { animals: clean.facts.animals.filter(({ id }) => id !== petId) } });
    expect(findings[0]).toMatchObject({ rule: 'acknowledged animal is there once', subject: `animal "${asked.name}"` });
    expect(findings[0]?.text).toContain('was acknowledged and is not in the database');
  });

  test('a create that was applied twice', () => {
    const { petId, asked } = find('create');
    const twice = [...clean.facts.animals, { id: 9_999, ...asked, isRemoved: false }];
    expect(findingsOf({ facts: { animals: twice } })[0]?.text).toContain(`made 2 animals, with the ids ${petId}, 9999`);
  });

  test('a create without an outcome that was applied twice', () => {
    const create = find('create');
    const history = replace(create, { ...create, outcome: 'unknown' } satisfies Create);
    const facts = { animals: [...clean.facts.animals, { id: 9_999, ...create.asked, isRemoved: false }] };
    expect(rulesOf(findingsOf({ history, facts }))).toContain('unknown animal is there at most once');
  });

  test('a failed create that was applied', () => {
    const create = find('create');
    expect(rulesOf(findingsOf({ history: replace(create, { ...create, outcome: 'failed' }) }))).toEqual(['failed change is not applied']);
  });

  test('a stale read', () => {
    const { change, read } = staleRead();
    const [finding, ...others] = findingsOf({ history: replace(read, { ...read, value: change.expected }) });
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ rule: 'animal is linearizable', subject: `animal ${read.petId}` });
    expect(finding?.text).toContain(`#${read.id} reads animal ${read.petId}`);
  });

  test('a stale list, unless lists may be stale by that much', () => {
    const { change } = staleRead();
    const attempt = { process: 1, beginMs: endOf(change) + 500, endMs: endOf(change) + 510, status: 200, outcome: 'ok' } as const;
    const list: Operation = {
      kind: 'list',
      id: nextId,
      petIds: [change.petId],
      values: [{ id: change.petId, ...change.expected }],
      attempts: [attempt],
      outcome: 'ok',
    };
    const history = { operations: [...clean.history.operations, list] };
    expect(rulesOf(findingsOf({ history }))).toEqual(['animal is linearizable']);
    expect(findingsOf({ history, options: { listsStaleMsMax: 4_000 } })).toEqual([]);
  });

  test('a read of a value that nobody wrote', () => {
    const { read } = staleRead();
    const value = { name: `${read.value?.name.split('.')[0]}.nobody`, categoryId: 1, status: 'available' };
    const [finding] = findingsOf({ history: replace(read, { ...read, value }) });
    expect(finding?.text).toContain(`No operation that may have been applied gave it the name "${value.name}"`);
  });

  test('a lost update: two changes of the same version are acknowledged', () => {
    const change = find('change');
    const other: Change = { ...change, id: nextId, asked: { ...change.asked, name: `${change.asked.name}9` } };
    const event = clean.facts.events.find(({ type, data }) => type === 'pet.updated' && data.includes(`"${change.asked.name}"`));
    const findings = findingsOf({ history: replace(change, change, other) });
    expect(event).toBeDefined();
    expect(findings.filter(({ rule }) => rule === 'animal is linearizable')).toHaveLength(1);
  });

  test('an acknowledged change that is lost', () => {
    const { petId, expected, asked } = find('change', (one) =>
      clean.facts.animals.some(({ name, isRemoved }) => name === one.asked.name && !isRemoved),
    );
    const animals = clean.facts.animals.map((animal) => (animal.id === petId ? { ...animal, name: expected.name } : animal));
    const events = clean.facts.events.filter(({ type, data }) => type !== 'pet.updated' || !data.includes(`"${asked.name}"`));
    expect(rulesOf(findingsOf({ facts: { animals, events } }))).toEqual([
      'animal is linearizable',
      'acknowledged change has its event',
      'a position has one event',
    ]);
  });

  test('a change without an outcome that was applied twice', () => {
    const { change } = staleRead();
    const last = clean.facts.events.length;
    const event = clean.facts.events.find(({ type, data }) => type === 'pet.updated' && data.includes(`"${change.asked.name}"`));
    const read = (id: number, beginMs: number, value: Read['value']): Read => ({
      kind: 'read',
      id,
      petId: change.petId,
      value: value ?? null,
      attempts: [{ process: 0, beginMs, endMs: beginMs + 1, status: 200, outcome: 'ok' }],
      outcome: 'ok',
    });
    const laterMs = clean.facts.readAtMs - 100;
    const final = clean.facts.animals.find(({ id }) => id === change.petId);
    if (!final || !event) throw new Error('the animal of the change is there');
    const again = [{ ...change, outcome: 'unknown' } as const, read(nextId, laterMs, change.asked)];
    const findings = findingsOf({
      history: replace(change, ...again),
      facts: { events: [...clean.facts.events, { ...event, position: last + 1 }] },
    });
    expect(rulesOf(findings)).toContain('animal is linearizable');
  });

  test('an event that is missing in a stream', () => {
    const arrivals = clean.history.arrivals.filter(
      ({ channel, position }) => !(channel.kind === 'stream' && channel.index === 2 && position === 20),
    );
    const [finding, ...others] = findingsOf({ history: { arrivals } });
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ rule: 'every event arrives', subject: 'stream 2' });
    expect(finding?.text).toContain('20 (');
  });

  test('an event that was committed and never published', () => {
    const { position: _, ...event } = clean.facts.events[5] ?? { position: 0, type: '', petId: 1, clientId: null, data: '{}' };
    expect(rulesOf(findingsOf({ facts: { unpublished: [event] } }))).toEqual(['every event arrives']);
  });

  test("an animal's event that first arrives at an endpoint after a later one", () => {
    const ofAnimal = Map.groupBy(clean.facts.events, ({ petId }) => petId);
    const [first, second] = [...ofAnimal.values()].find(({ length }) => length > 1) ?? [];
    const isSwapped = ({ channel, position }: { channel: { kind: string; index: number }; position: number }) =>
      channel.kind === 'endpoint' && channel.index === 1 && position === first?.position;
    const moved = clean.history.arrivals.filter(isSwapped).slice(0, 1);
    const arrivals = [...clean.history.arrivals.filter((one) => !isSwapped(one)), ...moved];
    const [finding, ...others] = findingsOf({ history: { arrivals } });
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ rule: 'events arrive in order', subject: 'endpoint 1' });
    expect(second?.petId).toBe(first?.petId);
  });

  test('an event that comes twice in a stream, unless it had to start again', () => {
    const arrivals = clean.history.arrivals.flatMap((one) =>
      one.channel.kind === 'stream' && one.channel.index === 0 && one.position === 30 ? [one, { ...one, atMs: one.atMs + 0.5 }] : one,
    );
    expect(rulesOf(findingsOf({ history: { arrivals } }))).toEqual(['events arrive in order']);
    const restarts = [{ kind: 'restart', channel: { kind: 'stream', index: 0 }, atMs: 30.2 }] as const;
    expect(findingsOf({ history: { arrivals, restarts } })).toEqual([]);
  });

  test('a position with two events', () => {
    const index = clean.history.arrivals.findIndex(({ channel, position }) => channel.kind === 'endpoint' && position === 40);
    const arrivals = clean.history.arrivals.map((one, i) => (i === index ? { ...one, digest: 'another' } : one));
    expect(findingsOf({ history: { arrivals } })).toMatchObject([{ rule: 'a position has one event', subject: 'position 40' }]);
  });

  test('a 200 after a revocation, unless it counts from later on', () => {
    const keyUses = clean.history.keyUses.map((use) => {
      return use.attempt.status === 401 ? { ...use, attempt: { ...use.attempt, status: 200, outcome: 'ok' as const } } : use;
    });
    expect(findingsOf({ history: { keyUses } })).toMatchObject([{ rule: 'revoked key is rejected', subject: 'key 1' }]);
    expect(findingsOf({ history: { keyUses }, options: { revocationsCountFromMs: clean.facts.readAtMs } })).toEqual([]);
  });

  test('one request over the limit, unless Redis was away', () => {
    const index = clean.history.limitedUses.findIndex(({ attempt }) => attempt.status === 429);
    const limitedUses = clean.history.limitedUses.map((use, i) =>
      i === index ? { ...use, attempt: { ...use.attempt, status: 200 } } : use,
    );
    const [finding, ...others] = findingsOf({ history: { limitedUses } });
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ rule: 'limit is kept', text: '241 requests were admitted, and the limit is 240.' });
    expect(findingsOf({ history: { limitedUses }, options: { withoutRedis: { processes: 2, untilMs: 20_000 } } })).toEqual([]);
  });

  test("requests that are missing in the day's count", () => {
    const limitedUses = clean.history.limitedUses.map((use, i) =>
      i > 300 ? { ...use, dayRemaining: use.dayRemaining ? use.dayRemaining + 50 : 0 } : use,
    );
    const options = { dayCounts: { fromMs: 0, uncountedMax: 10 } };
    expect(findingsOf({ history: { limitedUses }, options })).toMatchObject([{ rule: 'limit is kept', subject: "the day's count" }]);
  });

  test('an animal with two open orders', () => {
    const order = clean.facts.orders.find(({ status }) => status === 'placed') ?? clean.facts.orders[0];
    if (!order) throw new Error('the history has no order');
    const orders = [...clean.facts.orders, { ...order, id: 5_000, status: 'approved' }, { ...order, id: 5_001, status: 'placed' }];
    expect(rulesOf(findingsOf({ facts: { orders } }))).toContain('one open order an animal');
  });

  test('two orders of an available animal that are both acknowledged', () => {
    const place = find('place');
    const other: Place = { ...place, id: nextId, orderToken: 'o-other', orderId: 7_777 };
    expect(rulesOf(findingsOf({ history: replace(place, place, other) }))).toContain('animal is linearizable');
  });

  test('more connections than documented', () => {
    const connections = { samples: [{ atMs: 500, count: 45, probes: 9 }], countMax: 44, probesMax: 8 };
    const text = '45 connections at 0.500 s, and the documented sum is 44.';
    const ofProbes = '9 connections of probes at 0.500 s, and the documented sum is 8.';
    expect(findingsOf({ options: { connections } })).toMatchObject([{ rule: 'connections are bounded', text }, { text: ofProbes }]);
  });
});

describe('What vanishes in a failover', () => {
  const laterMs = clean.facts.readAtMs;
  const at = (beginMs: number) => ({ process: 0, beginMs, endMs: beginMs + 1, status: 200, outcome: 'ok' }) as const;
  const last = clean.facts.animals.find(({ isRemoved, status }) => !isRemoved && status === 'available');
  if (!last) throw new Error('an animal is available at the end');
  const { id: petId, isRemoved: _, ...expected } = last;
  const asked = { ...expected, name: `${expected.name}9` };
  const change = (outcome: 'ok' | 'unknown'): Operation => {
    return { kind: 'change', id: nextId, petId, expected, asked, attempts: [{ ...at(laterMs), outcome }], outcome };
  };
  const read: Operation = { kind: 'read', id: nextId + 1, petId, value: asked, attempts: [at(laterMs + 10)], outcome: 'ok' };
  const failover = { beginMs: laterMs + 20, endMs: laterMs + 30 };
  const facts = { readAtMs: laterMs + 100 };
  const withChange = (outcome: 'ok' | 'unknown') => ({ operations: [...clean.history.operations, change(outcome), read] });

  test('may be a change that was read and not acknowledged, only if that is allowed', () => {
    expect(rulesOf(findingsOf({ history: withChange('unknown'), facts }))).toEqual(['animal is linearizable']);
    expect(findingsOf({ history: withChange('unknown'), facts, options: { vanishing: [failover] } })).toEqual([]);
  });

  test('may be an attempt that was read and not acknowledged, before the next one is, only if that is allowed', () => {
    const attempts = [{ ...at(laterMs), outcome: 'unknown' as const }, at(laterMs + 40)];
    const twice: Operation = { kind: 'change', id: nextId, petId, expected, asked, attempts, outcome: 'ok' };
    const back: Operation = { kind: 'read', id: nextId + 2, petId, value: expected, attempts: [at(laterMs + 35)], outcome: 'ok' };
    const history = { operations: [...clean.history.operations, twice, read, back] };
    const done = { ...facts, animals: clean.facts.animals.map((animal) => (animal.id === petId ? { ...animal, ...asked } : animal)) };
    const ofAnimal = (findings: readonly Finding[]) => findings.filter(({ rule }) => rule === 'animal is linearizable');
    expect(ofAnimal(findingsOf({ history, facts: done }))).toHaveLength(1);
    expect(ofAnimal(findingsOf({ history, facts: done, options: { vanishing: [failover] } }))).toEqual([]);
    // And what was acknowledged stays.
    const later: Operation = { kind: 'read', id: nextId + 3, petId, value: expected, attempts: [at(laterMs + 50)], outcome: 'ok' };
    const lost = { operations: [...history.operations, later] };
    expect(ofAnimal(findingsOf({ history: lost, facts: done, options: { vanishing: [failover] } }))).toHaveLength(1);
  });

  test('may not be an acknowledged change', () => {
    expect(rulesOf(findingsOf({ history: withChange('ok'), facts, options: { vanishing: [failover] } }))).toContain(
      'animal is linearizable',
    );
  });

  test('may be an acknowledged change that the standby lacked, and it is named', () => {
    const options = { lackedByStandby: { standby: clean.facts, ...failover } };
    const findings = findingsOf({ history: withChange('ok'), facts, options });
    expect(findings).toMatchObject([{ rule: 'acknowledged change has its event', subject: `animal ${petId}`, isAllowed: true }]);
    expect(findings[0]?.text).toContain('the standby that took over lacked it');
  });

  test('may not be an acknowledged change that the standby had', () => {
    const data = JSON.stringify({ pet: { id: petId, ...asked } });
    const standby = {
      ...clean.facts,
      animals: clean.facts.animals.map((animal) => (animal.id === petId ? { ...animal, ...asked } : animal)),
      unpublished: [{ type: 'pet.updated', petId, clientId: null, data }],
    };
    const findings = findingsOf({ history: withChange('ok'), facts, options: { lackedByStandby: { standby, ...failover } } });
    expect(findings.map(({ rule, isAllowed }) => [rule, isAllowed])).toEqual([
      ['animal is linearizable', undefined],
      ['acknowledged change has its event', undefined],
    ]);
  });
});

describe('Availability', () => {
  test('is the longest time without a success, and the share of requests that succeed', () => {
    const at = (beginMs: number, status: number): Operation => ({
      kind: 'read',
      id: beginMs,
      petId: 1,
      attempts: [{ process: 0, beginMs, endMs: beginMs + 1, status, outcome: status === 200 ? 'ok' : 'failed' }],
      outcome: status === 200 ? 'ok' : 'failed',
    });
    const operations = [at(0, 200), at(10, 503), at(20, 503), at(30, 200), at(50, 503)];
    expect(measureAvailability({ ...clean.history, operations }).reads).toEqual({
      requests: 5,
      succeeded: 2,
      longestGapMs: 30,
      gapBeganAtMs: 1,
      failures: { '503': 3 },
    });
  });
});
