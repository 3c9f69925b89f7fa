import { type Html, html } from './html.ts';

/** What became of a form that was sent. */
export interface Outcome {
  readonly title: string;
  readonly text: string;
  /** Where to go on. */
  readonly more?: Html | false;
}

/** Gets the focus, so that it is read first. */
export const outcomeBox = ({ title, text, more: next }: Outcome, more?: Html | false): Html =>
  html`<div class="outcome" role="alert" tabindex="-1" autofocus><p><strong>${title}</strong></p><p>${text}</p>${next}${more}</div>`;
