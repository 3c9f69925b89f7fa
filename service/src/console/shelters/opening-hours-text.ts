import { type Opening, openingsOfDayMax } from '../../domain/opening-hours.ts';

/** 10:00–12:00, 14:00–17:00 */
export const openingsText = (hours: readonly Opening[]): string => hours.map(({ from, to }) => `${from}–${to}`).join(', ');

const time = String.raw`(\d{1,2})(?:[:.h]\s?(\d{2}))?`;
const range = new RegExp(String.raw`^${time}\s*(?:-|–|—|to|bis)\s*${time}$`, 'i');

/** What people type for the hours of a day, such as 10-12, 14.30-17. Empty, or “closed”: none. A string says what is wrong. */
export function readOpenings(text: string): readonly Opening[] | string {
  const typed = text.trim();
  if (typed === '' || /^closed$/i.test(typed)) return [];
  const openings: Opening[] = [];
  for (const part of typed.split(/\s*[,;&]\s*|\s+and\s+/)) {
    const [whole, fromHour = '', fromMinute = '00', toHour = '', toMinute = '00'] = range.exec(part) ?? [];
    if (whole === undefined) return `Write times such as 10:00–12:00, 14:00–17:00. “${part.slice(0, 40)}” can't be read.`;
    const [from, to] = [clock(fromHour, fromMinute), clock(toHour, toMinute)];
    if (from === undefined || from === '24:00') return `There is no time ${fromHour}:${fromMinute} at which a day could begin.`;
    if (to === undefined) return `There is no time ${toHour}:${toMinute}. A day ends at 24:00.`;
    if (to <= from) return `${from}–${to} ends before it begins. A day ends at 24:00: write what is after midnight with the next day.`;
    const before = openings.at(-1);
    if (before && from < before.to) return `${from} is before ${before.to}. Write the times of a day in their order.`;
    openings.push({ from, to });
  }
  return openings.length > openingsOfDayMax ? `At most ${openingsOfDayMax} times a day.` : openings;
}

function clock(hour: string, minute: string): string | undefined {
  const text = `${hour.padStart(2, '0')}:${minute}`;
  return text === '24:00' || /^([01]\d|2[0-3]):[0-5]\d$/.test(text) ? text : undefined;
}
