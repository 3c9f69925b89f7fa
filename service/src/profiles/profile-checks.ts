import { AppError, show } from '../errors.ts';
import type { MergedProfile, StoredProfile } from './profile-changes.ts';
import { attributesMax } from './profile-schemas.ts';

const firstDay = '1900-01-01';
/** Days begin up to 14 hours before they begin in UTC. */
const earliestZoneMs = 14 * 3_600_000;

/** The day in UTC, as YYYY-MM-DD. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Rejects what the schema can't. Whether other animals exist is not checked here. */
export function requireValid(petId: bigint, profile: MergedProfile, nowMs: number): StoredProfile {
  requirePastDay('birthDate', profile.birthDate, nowMs);
  requirePastDay('arrivedOn', profile.arrivedOn, nowMs);
  requireVideo(profile.videoUrl);
  const repeated = profile.bondedWith.find((id, i, ids) => ids.indexOf(id) !== i);
  if (repeated !== undefined) throw invalid(`bondedWith must name each animal once; got ${repeated} twice.`);
  if (profile.bondedWith.includes(petId)) throw invalid(`bondedWith must name other animals; ${petId} is the animal itself.`);
  const pairs = Object.keys(profile.attributes).length;
  if (pairs > attributesMax) throw invalid(`attributes must be at most ${attributesMax} pairs; with these there would be ${pairs}.`);
  return { ...profile, adoptionFee: requireWholeFee(profile.adoptionFee) };
}

function requirePastDay(field: string, day: string | null, nowMs: number): void {
  if (day === null) return;
  if (!isDay(day)) throw invalid(`${field} must be a date that exists; got ${show(day)}.`);
  if (day < firstDay) throw invalid(`${field} must be ${firstDay} or later; got ${show(day)}.`);
  if (day > dayOf(nowMs + earliestZoneMs))
    throw invalid(`${field} must not be in the future; got ${show(day)}, and today is ${dayOf(nowMs)}.`);
}

function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && dayOf(time) === text;
}

function requireVideo(url: string | null): void {
  if (url === null) return;
  if (!URL.canParse(url)) throw invalid(`videoUrl must be a valid URL, such as https://video.example/biscuit; got ${show(url)}.`);
  const { username, password } = new URL(url);
  if (username || password) throw invalid('videoUrl contains a user name or a password, which everyone would see.');
}

function requireWholeFee(fee: MergedProfile['adoptionFee']): StoredProfile['adoptionFee'] {
  if (fee === null) return null;
  const { amount, currency } = fee;
  if (amount === undefined) throw invalid('adoptionFee.amount is required with a currency. To remove the fee, send null as adoptionFee.');
  if (currency === undefined)
    throw invalid('adoptionFee.currency is required with an amount. To remove the fee, send null as adoptionFee.');
  return { amount, currency };
}

export const invalid = (message: string) => new AppError('invalid_body', message);
