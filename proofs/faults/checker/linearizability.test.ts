import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linearize, type State, type Step } from './linearizability.ts';

interface Value extends State {
  readonly value: number;
}
type Kind = { readonly set: number } | { readonly from: number; readonly set: number } | { readonly read: number };

const stateOf = (value: number): Value => ({ key: String(value), value });

function stepOf(beginMs: number, endMs: number, kind: Kind): Step<Value> {
  if ('read' in kind) return { beginMs, endMs, isObserver: true, apply: (state) => (state.value === kind.read ? [state] : []) };
  const canApply = ({ value }: Value) => !('from' in kind) || value === kind.from;
  return { beginMs, endMs, isObserver: false, apply: (state) => (canApply(state) ? [stateOf(kind.set)] : []) };
}

/** Tries every order. */
function isExplained(left: readonly Step<Value>[], state: Value): boolean {
  if (left.every(({ endMs }) => endMs === Infinity)) return true;
  return left.some((step) => {
    const others = left.filter((other) => other !== step);
    return others.every(({ endMs }) => endMs >= step.beginMs) && step.apply(state).some((after) => isExplained(others, after));
  });
}

describe('A search for a linearization', () => {
  test('accepts a read that overlaps a write and shows either value', () => {
    const write = stepOf(0, 10, { set: 1 });
    for (const read of [0, 1]) expect(linearize([write, stepOf(5, 6, { read })], stateOf(0)).outcome).toBe('linearizable');
  });

  test('rejects a read of the old value after the write was acknowledged, and names it', () => {
    const read = stepOf(11, 12, { read: 0 });
    const verdict = linearize([stepOf(0, 10, { set: 1 }), read], stateOf(0));
    expect(verdict).toMatchObject({ outcome: 'not linearizable', stuck: read, states: [{ value: 1 }] });
  });

  test('rejects two reads that see a write and then not', () => {
    const steps = [stepOf(0, 100, { set: 1 }), stepOf(10, 20, { read: 1 }), stepOf(30, 40, { read: 0 })];
    expect(linearize(steps, stateOf(0)).outcome).toBe('not linearizable');
  });

  test('lets a write without an outcome happen late, or never, but not twice', () => {
    const unknown = stepOf(0, Infinity, { from: 0, set: 1 });
    const reset = stepOf(30, 40, { set: 0 });
    expect(linearize([unknown, stepOf(100, 110, { read: 0 })], stateOf(0)).outcome).toBe('linearizable');
    expect(linearize([unknown, stepOf(100, 110, { read: 1 })], stateOf(0)).outcome).toBe('linearizable');
    const twice = [unknown, stepOf(10, 20, { read: 1 }), reset, stepOf(50, 60, { read: 1 })];
    expect(linearize(twice, stateOf(0)).outcome).toBe('not linearizable');
  });

  test('is stuck, with 40 writes without an outcome, no longer than a moment', () => {
    const unknown = Array.from({ length: 40 }, (_, i) => stepOf(i, Infinity, { from: i, set: i + 1 }));
    const verdict = linearize([...unknown, stepOf(100, 110, { read: 40 }), stepOf(120, 130, { read: 39 })], stateOf(0));
    expect(verdict.outcome).toBe('not linearizable');
  });

  test('decides as a trial of every order does', () => {
    const small = fc.nat({ max: 2 });
    const kind = fc.oneof(fc.record({ set: small }), fc.record({ from: small, set: small }), fc.record({ read: small }));
    const step = fc
      .record({ beginMs: fc.nat({ max: 12 }), tookMs: fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 8 }) }, fc.constant(Infinity)), kind })
      .filter(({ tookMs, kind: { ...one } }) => tookMs !== Infinity || !('read' in one))
      .map(({ beginMs, tookMs, kind: one }) => stepOf(beginMs, beginMs + tookMs, one));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
        expect(linearize(steps, stateOf(0)).outcome === 'linearizable').toBe(isExplained(steps, stateOf(0)));
      }),
      { numRuns: 2_000 },
    );
  });
});
