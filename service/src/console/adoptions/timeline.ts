import { type Html, html } from '../../platform/html.ts';
import type { Times } from '../frame/times.ts';

/** What has happened, the latest first. */
export const timeline = (deeds: ReadonlyArray<{ readonly at: Date; readonly deed: Html }>, times: Times): Html =>
  html`<section class="card"><h2>What has happened</h2><ol class="deeds">${deeds.map(
    ({ at, deed }) => html`
<li><span>${deed}</span><span class="soft small">${times.at(at)}</span></li>`,
  )}</ol></section>`;
