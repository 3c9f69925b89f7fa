import { expect, test } from 'vitest';
import { boxAround } from '../../../src/search/listings/geography.ts';

test('a box reaches as far as the distance in every direction', () => {
  const { latitude, longitudes } = boxAround({ latitude: 60, longitude: 10, withinKm: 111.19 });
  expect(latitude.from).toBeCloseTo(59, 2);
  expect(latitude.to).toBeCloseTo(61, 2);
  expect(longitudes).toHaveLength(1);
  expect(longitudes[0]?.to).toBeCloseTo(12, 1);
});

test('a box across the 180th meridian is two ranges', () => {
  expect(boxAround({ latitude: 0, longitude: 179.5, withinKm: 111.19 }).longitudes).toEqual([
    { from: expect.closeTo(178.5, 2), to: 180 },
    { from: -180, to: expect.closeTo(-179.5, 2) },
  ]);
  expect(boxAround({ latitude: 0, longitude: -179.5, withinKm: 111.19 }).longitudes).toEqual([
    { from: -180, to: expect.closeTo(-178.5, 2) },
    { from: expect.closeTo(179.5, 2), to: 180 },
  ]);
});

test('a box around a pole is every longitude', () => {
  expect(boxAround({ latitude: 89.9, longitude: 0, withinKm: 100 }).longitudes).toEqual([{ from: -180, to: 180 }]);
  expect(boxAround({ latitude: -90, longitude: 0, withinKm: 1 }).longitudes).toEqual([{ from: -180, to: 180 }]);
});
