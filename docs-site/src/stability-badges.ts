import { type Html, html } from '../../service/src/platform/html.ts';
import type { Operation } from './reference-document.ts';

/** Badges for the stability and the deprecation of an operation. */
export function badgesOf({ deprecated, ...operation }: Operation): Html[] {
  const stability = operation['x-stability'];
  const sunset = operation['x-sunset'];
  return [
    ...(stability ? [html`<a class="badge ${stability}" href="/docs/stability">${stability}</a> `] : []),
    ...(deprecated
      ? [html`<a class="badge deprecated" href="/docs/deprecations">Deprecated${sunset && ` · removed on ${dayInWords(sunset)}`}</a> `]
      : []),
  ];
}

const dayInWords = (day: string) =>
  new Date(day).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
