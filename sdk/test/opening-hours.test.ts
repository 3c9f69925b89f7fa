import { describe, expect, test } from 'vitest';
import { openingState } from '../src/opening-hours.ts';

const day = [
  { from: '10:00', to: '12:00' },
  { from: '14:00', to: '17:00' },
];
const hours = {
  weekly: {
    friday: day,
    saturday: [
      { from: '01:30', to: '03:30' },
      { from: '10:00', to: '24:00' },
    ],
    sunday: [{ from: '01:30', to: '03:30' }],
  },
  exceptions: [
    { date: '2026-12-25', hours: [] },
    { date: '2026-12-28', hours: [{ from: '09:00', to: '11:00' }] },
  ],
};
const at = (time: string, timezone = 'Europe/Vienna') => openingState(hours, timezone, new Date(time));

describe('openingState', () => {
  test.each([
    ['2026-11-20T09:00:00+01:00', { isOpen: false, opens: { date: '2026-11-20', at: '10:00', inDays: 0 } }],
    ['2026-11-20T10:00:00+01:00', { isOpen: true, until: '12:00' }],
    ['2026-11-20T11:59:59+01:00', { isOpen: true, until: '12:00' }],
    ['2026-11-20T12:00:00+01:00', { isOpen: false, opens: { date: '2026-11-20', at: '14:00', inDays: 0 } }],
    ['2026-11-20T16:30:00+01:00', { isOpen: true, until: '17:00' }],
    ['2026-11-20T17:00:00+01:00', { isOpen: false, opens: { date: '2026-11-21', at: '01:30', inDays: 1 } }],
    ['2026-11-21T23:59:00+01:00', { isOpen: true, until: '24:00' }],
    ['2026-11-23T12:00:00+01:00', { isOpen: false, opens: { date: '2026-11-27', at: '10:00', inDays: 4 } }],
    ['2026-12-25T11:00:00+01:00', { isOpen: false, opens: { date: '2026-12-26', at: '01:30', inDays: 1 } }],
    ['2026-12-28T10:00:00+01:00', { isOpen: true, until: '11:00' }],
  ])('at %s is %j', (time, state) => {
    expect(at(time)).toEqual(state);
  });

  test('goes by the day of the shelter, and not by that of who asks', () => {
    expect(at('2026-11-20T22:30:00Z', 'Pacific/Auckland')).toEqual({ isOpen: true, until: '24:00' });
    expect(at('2026-11-20T22:30:00Z', 'America/Los_Angeles')).toEqual({ isOpen: true, until: '17:00' });
  });

  test('holds over the hour that clocks leave out, and the one that they repeat', () => {
    // 29 March 2026: 02:00 is 03:00. 25 October 2026: 03:00 is 02:00.
    expect(['00:29', '00:31', '00:59', '01:00', '01:29', '01:30'].map((time) => at(`2026-03-29T${time}:00Z`).isOpen)).toEqual([
      false,
      true,
      true,
      true,
      true,
      false,
    ]);
    const clocks = ['23:29', '23:31', '00:30', '01:30', '02:29', '02:31'];
    const days = ['24', '24', '25', '25', '25', '25'];
    expect(clocks.map((time, i) => at(`2026-10-${days[i]}T${time}:00Z`).isOpen)).toEqual([false, true, true, true, true, false]);
  });

  test('without hours in two weeks opens at no time that is known', () => {
    expect(openingState({ weekly: {}, exceptions: [] }, 'Europe/Vienna')).toEqual({ isOpen: false, opens: undefined });
  });
});
