import { type Html, html } from './html.ts';

/** A long path or name that may break after each slash or dot. */
export const breakable = (text: string): Html[] => text.split(/(?<=[/.])/).map((part) => html`${part}<wbr>`);
