/** HTML that is already escaped. */
export class Html {
  readonly text: string;
  /** It shows personal data, or what it was put together from does. */
  readonly isPersonal: boolean;

  constructor(text: string, isPersonal = false) {
    this.text = text;
    this.isPersonal = isPersonal;
  }
}

export type HtmlValue = Html | string | number | bigint | false | undefined | readonly HtmlValue[];

/**
 * A template tag that escapes its values, unless they are HTML already. undefined and false render as nothing. Values may be text or
 * quoted attributes: html`<a href="${address}">${name}</a>`. In a style or a script nothing is escaped that matters there.
 */
export const html = (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(
    parts.reduce((text, part, i) => text + textOf(values[i - 1]) + part),
    values.some(isPersonal),
  );

/** HTML that shows personal data: the log line of a request that gets it says so. */
export const personal = (value: HtmlValue): Html => new Html(textOf(value), true);

function isPersonal(value: HtmlValue): boolean {
  if (value instanceof Html) return value.isPersonal;
  return typeof value === 'object' && value.some(isPersonal);
}

function textOf(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}
