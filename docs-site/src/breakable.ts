import { type Html, html } from '../../service/src/platform/html.ts';

/** A long path or name that may break after each slash, dot or underscore. */
export const breakable = (text: string): Html[] => text.split(/(?<=[/._])/).map((part) => html`${part}<wbr>`);
