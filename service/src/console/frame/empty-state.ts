import { type Html, html } from '../../platform/html.ts';
import { type IconName, icon } from './icons.ts';

/** What a list shows that has nothing to show: why, and what to do next. */
export const emptyState = (drawing: IconName, title: string, text: string, next: Html | false = false): Html =>
  html`<div class="empty">${icon(drawing)}<h2>${title}</h2><p class="soft">${text}</p>${next}</div>`;
