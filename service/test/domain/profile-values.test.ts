import { expect, test } from 'vitest';
import { ageBandOf } from '../../src/domain/profile-fields.ts';

test.each([
  ['2026-11-16', '2026-11-16', 'baby'],
  // A day that has begun elsewhere.
  ['2026-11-17', '2026-11-16', 'baby'],
  ['2025-11-17', '2026-11-16', 'baby'],
  ['2025-11-16', '2026-11-16', 'young'],
  ['2023-11-17', '2026-11-16', 'young'],
  ['2023-11-16', '2026-11-16', 'adult'],
  ['2018-11-17', '2026-11-16', 'adult'],
  ['2018-11-16', '2026-11-16', 'senior'],
  ['1900-01-01', '2026-11-16', 'senior'],
  ['2024-02-29', '2025-02-28', 'baby'],
  ['2024-02-29', '2025-03-01', 'young'],
  ['2025-12-31', '2026-01-01', 'baby'],
])('an animal born on %s is on %s: %s', (birthDate, today, band) => {
  expect(ageBandOf(birthDate, today)).toBe(band);
});
