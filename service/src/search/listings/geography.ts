import type { Near } from './listing-search.ts';

const earthRadiusKm = 6_371;
const degrees = (radians: number) => (radians * 180) / Math.PI;
const radians = (degrees: number) => (degrees * Math.PI) / 180;

type Point = Pick<Near, 'latitude' | 'longitude'>;

interface Range {
  readonly from: number;
  readonly to: number;
}

interface Box {
  readonly latitude: Range;
  /** Two ranges if the box crosses the 180th meridian. */
  readonly longitudes: readonly Range[];
}

/** In kilometres, as the function of PostgreSQL computes it: the last digits may differ. */
export function distanceKm(a: Point, b: Point): number {
  const [latitude, longitude] = [radians(b.latitude - a.latitude), radians(b.longitude - a.longitude)];
  const half = Math.sin(latitude / 2) ** 2 + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(longitude / 2) ** 2;
  return 2 * earthRadiusKm * Math.asin(Math.sqrt(Math.min(1, half)));
}

/** A box that contains every point within the distance, for an index. */
export function boxAround({ latitude, longitude, withinKm }: Near): Box {
  // A little larger, so that rounding excludes nothing.
  const angle = (withinKm * 1.001) / earthRadiusKm;
  const from = latitude - degrees(angle);
  const to = latitude + degrees(angle);
  const box = (...longitudes: Range[]): Box => ({ latitude: { from, to }, longitudes });
  // A pole is within the distance, so every meridian is.
  if (from <= -90 || to >= 90) return box({ from: -180, to: 180 });
  const width = degrees(Math.asin(Math.sin(angle) / Math.cos(radians(latitude))));
  const [west, east] = [longitude - width, longitude + width];
  if (west < -180) return box({ from: -180, to: east }, { from: west + 360, to: 180 });
  if (east > 180) return box({ from: west, to: 180 }, { from: -180, to: east - 360 });
  return box({ from: west, to: east });
}
