import { type Html, html } from '../../platform/html.ts';
import type { PageTexts } from './page-texts.ts';

export type Names = Readonly<Record<string, string | number>>;

const placeholder = /\{(\w+)\}/;

/** A text with its names, each isolated: one in another script must not reorder what is around it. */
export const filled = (text: string, names: Names): Html =>
  html`${text.split(placeholder).map((part, i) => (i % 2 === 0 ? part : html`<bdi>${names[part] ?? ''}</bdi>`))}`;

/** For a title, which has no elements. */
export const plain = (text: string, names: Names): string =>
  text
    .split(placeholder)
    .map((part, i) => (i % 2 === 0 ? part : `\u2068${names[part] ?? ''}\u2069`))
    .join('');

/** In the shelter's time zone, with its name. UTC if the shelter has none, or one that this Node.js doesn't know. */
export function formatTime(time: Date, timeZone: string | null, { locale }: Pick<PageTexts, 'locale'>): string {
  const format = (zone: string) =>
    new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: zone,
      timeZoneName: 'short',
    }).format(time);
  try {
    return format(timeZone ?? 'UTC');
  } catch {
    return format('UTC');
  }
}
