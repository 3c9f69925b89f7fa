/** Text that is already HTML. Every other value in a template is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | bigint | false | undefined | readonly Piece[];

/** Quote attribute values: html`<a href="${address}">${name}</a>`. */
export function html(parts: TemplateStringsArray, ...pieces: Piece[]): Html {
  return new Html(String.raw({ raw: parts }, ...pieces.map(textOf)));
}

function textOf(piece: Piece): string {
  if (piece === undefined || piece === false) return '';
  if (piece instanceof Html) return piece.text;
  if (typeof piece === 'object') return piece.map(textOf).join('');
  return String(piece).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
