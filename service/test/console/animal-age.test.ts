import { describe, expect, test } from 'vitest';
import { ageText, birthDateOf } from '../../src/console/animals/animal-age.ts';

const today = '2026-11-20';

describe('an age is shown', () => {
  test.each([
    ['2026-11-20', 'less than a week'],
    ['2026-11-14', 'less than a week'],
    ['2026-11-25', 'less than a week'],
    ['2026-11-13', 'about 1 week'],
    ['2026-09-25', 'about 8 weeks'],
    ['2026-08-01', 'about 15 weeks'],
    ['2026-07-31', 'about 3 months'],
    ['2025-11-21', 'about 11 months'],
    ['2025-11-20', 'about 1 year'],
    ['2024-08-20', 'about 2 years and 3 months'],
    ['2020-01-01', 'about 6 years'],
  ])('of an animal that was born on %s as %s', (birthDate, text) => {
    expect(ageText(birthDate, false, today)).toBe(text);
  });

  test('without a doubt if the day is known', () => {
    expect(ageText('2026-09-25', true, today)).toBe('8 weeks');
  });
});

describe('an age that is written', () => {
  test.each([
    ['8 weeks', '2026-09-25'],
    ['8w', '2026-09-25'],
    ['about 8 Weeks old', '2026-09-25'],
    ['5 months', '2026-06-20'],
    ['9 months', '2026-02-20'],
    ['2 years and 3 months', '2024-08-20'],
    ['2y 3m', '2024-08-20'],
    ['1 year, 2 weeks', '2025-11-06'],
    ['10 days', '2026-11-10'],
  ])('as %s is that of an animal that was born on %s', (age, birthDate) => {
    expect(birthDateOf(age, today)).toBe(birthDate);
  });

  test('at the end of a month is on the last day of a shorter one', () => {
    expect(birthDateOf('1 month', '2026-03-31')).toBe('2026-02-28');
    expect(birthDateOf('13 months', '2025-03-31')).toBe('2024-02-29');
  });

  test.each(['', '8', 'weeks', 'old', '8 weeks 3 days 2 hours', '1 2 3 weeks', '9999 weeks', '-2 weeks', '8 weeks; drop'])(
    'as %j is none',
    (age) => {
      expect(birthDateOf(age, today)).toBeUndefined();
    },
  );

  test('is shown as it was written', () => {
    for (let weeks = 1; weeks < 16; weeks += 1)
      expect(ageText(birthDateOf(`${weeks} weeks`, today) ?? '', false, today)).toBe(`about ${weeks} week${weeks === 1 ? '' : 's'}`);
  });
});
