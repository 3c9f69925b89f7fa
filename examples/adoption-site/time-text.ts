import { type Html, html } from './html.ts';

const format = { weekday: 'long', day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/**
 * A time in the zone of the shelter, which is named. Where the zone is not known, `public/times.js` shows the time in the visitor's.
 */
export function timeText(time: string, timeZone: string | undefined): Html {
  const date = new Date(time);
  if (timeZone === undefined)
    return html`<time datetime="${time}" data-local>${new Intl.DateTimeFormat('en-GB', { ...format, timeZone: 'UTC' }).format(date)} (UTC)</time>`;
  return html`<time datetime="${time}">${new Intl.DateTimeFormat('en-GB', { ...format, timeZone }).format(date)} (${zoneName(date, timeZone)})</time>`;
}

/** Such as "Dublin time": people know the town better than the zone. */
function zoneName(date: Date, timeZone: string): string {
  const town = timeZone.split('/').at(-1)?.replaceAll('_', ' ') ?? '';
  const name = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'short' })
    .formatToParts(date)
    .find(({ type }) => type === 'timeZoneName');
  return timeZone.includes('/') ? `${town} time` : (name?.value ?? timeZone);
}
