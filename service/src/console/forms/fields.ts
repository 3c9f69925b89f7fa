import type { TObject } from 'typebox';
import { type Html, type HtmlValue, html } from '../../platform/html.ts';
import { factsOf } from './form-values.ts';

/** What was sent and not accepted: the fields show it again, and what is wrong. */
export interface Shown {
  readonly values: URLSearchParams;
  readonly errors: ReadonlyMap<string, string>;
}

/** A field that shows what is wrong with it. */
export interface WrongField {
  readonly id: string;
  readonly label: string;
  readonly error: string;
}

/** A value as a field shows it. */
export type Initial = string | number | bigint | boolean | null | undefined | ReadonlyArray<string | number | bigint>;

interface FieldOptions {
  readonly hint?: HtmlValue;
  /** What a browser may fill in. */
  readonly autocomplete?: string;
  readonly type?: 'text' | 'email' | 'tel' | 'url' | 'date' | 'search';
  /** It has the focus when the page opens. One in a page. */
  readonly isFirst?: boolean;
  /** A key that leads to it. */
  readonly key?: string;
  readonly rows?: number;
}

export interface Choice {
  readonly value: string | bigint | number;
  readonly label: HtmlValue;
  readonly hint?: HtmlValue;
}

/** The fields of one form, by its schema: whether one is required and how long it may be are there. */
export class Fields {
  readonly #schema: TObject;
  readonly #initial: Readonly<Record<string, Initial>>;
  readonly #shown: Shown | undefined;
  readonly #prefix: string;
  /** Those that were made so far. */
  readonly wrong: WrongField[] = [];

  constructor(schema: TObject, initial: Readonly<Record<string, Initial>>, shown: Shown | undefined, prefix: string) {
    this.#schema = schema;
    this.#initial = initial;
    this.#shown = shown;
    this.#prefix = prefix;
  }

  text(name: string, label: string, { hint, autocomplete = 'off', type = 'text', isFirst = false, key }: FieldOptions = {}): Html {
    const { kind, minimum, maximum } = factsOf(this.#schema, name);
    const isNumber = kind === 'integer' || kind === 'number';
    // Not of the type number: a wheel would change it, and what is no number would be lost.
    const mode = isNumber && html` inputmode="${kind === 'integer' && (minimum ?? -1) >= 0 ? 'numeric' : 'decimal'}"`;
    const about = isNumber && hint === undefined && minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : hint;
    const given = html`${this.#attributes(name, about)} value="${this.#valueOf(name)}" autocomplete="${autocomplete}"`;
    const focus = isFirst && this.#shown === undefined && html` autofocus`;
    const shortcut = key !== undefined && html` data-key="${key}"`;
    return this.#field(name, label, about, html`<input type="${type}" ${given}${mode}${this.#lengthMax(name)}${focus}${shortcut}>`);
  }

  area(name: string, label: string, { hint, rows = 4 }: FieldOptions = {}): Html {
    // The first line break of the content is not part of it.
    return this.#field(
      name,
      label,
      hint,
      html`<textarea ${this.#attributes(name, hint)} rows="${rows}"${this.#lengthMax(name)}>
${this.#valueOf(name)}</textarea>`,
    );
  }

  select(name: string, label: string, choices: readonly Choice[], { hint }: FieldOptions = {}): Html {
    const chosen = this.#valueOf(name);
    const option = ({ value, label: text }: Choice) =>
      html`<option value="${value}"${String(value) === chosen && html` selected`}>${text}</option>`;
    return this.#field(name, label, hint, html`<select ${this.#attributes(name, hint)}>${choices.map(option)}</select>`);
  }

  /** One of a few, each with a word about it. */
  choices(name: string, label: string, choices: readonly Choice[], { hint }: FieldOptions = {}): Html {
    return this.#group(name, label, hint, 'radio', choices);
  }

  /** Any of a few. */
  boxes(name: string, label: string, choices: readonly Choice[], { hint }: FieldOptions = {}): Html {
    return this.#group(name, label, hint, 'checkbox', choices);
  }

  /** Yes or no. */
  check(name: string, label: HtmlValue, { hint }: FieldOptions = {}): Html {
    const checked = this.#valueOf(name) === 'true' && html` checked`;
    return choiceOf(html`<input type="checkbox" name="${name}" value="true"${checked}>`, label, hint);
  }

  /** What is not shown and is sent with the form. */
  hidden(name: string): Html {
    return html`<input type="hidden" name="${name}" value="${this.#valueOf(name)}">`;
  }

  #group(name: string, label: string, hint: HtmlValue | undefined, type: 'radio' | 'checkbox', choices: readonly Choice[]): Html {
    const chosen = this.#valuesOf(name);
    const id = `${this.#prefix}${name}`;
    const choice = ({ value, label: text, hint: about }: Choice, i: number) => {
      const first = i === 0 && html` id="${id}"`;
      const checked = chosen.includes(String(value)) && html` checked`;
      const focus = i === 0 && this.#isOnlyWrong(name) && html` autofocus`;
      return choiceOf(html`<input type="${type}"${first} name="${name}" value="${value}"${checked}${focus}>`, text, about);
    };
    this.#note(id, name, label);
    return html`<fieldset class="field"${this.#describedBy(id, name, hint)}>
<legend>${label}</legend>
${this.#about(id, name, hint)}
${choices.map(choice)}
</fieldset>`;
  }

  #field(name: string, label: string, hint: HtmlValue | undefined, control: Html): Html {
    const { isRequired } = factsOf(this.#schema, name);
    const id = `${this.#prefix}${name}`;
    this.#note(id, name, label);
    return html`<div class="field">
<label for="${id}">${label}${!isRequired && html` <span class="soft">(optional)</span>`}</label>
${this.#about(id, name, hint)}
${control}
</div>`;
  }

  #about(id: string, name: string, hint: HtmlValue | undefined): Html {
    const error = this.#shown?.errors.get(name);
    return html`${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
${error !== undefined && html`<p class="wrong" id="${id}-error">${error}</p>`}`;
  }

  #attributes(name: string, hint: HtmlValue | undefined): Html {
    const id = `${this.#prefix}${name}`;
    const { isRequired } = factsOf(this.#schema, name);
    const required = isRequired && html` required`;
    const invalid = this.#shown?.errors.has(name) === true && html` aria-invalid="true"`;
    const focus = this.#isOnlyWrong(name) && html` autofocus`;
    return html`id="${id}" name="${name}"${required}${invalid}${focus}${this.#describedBy(id, name, hint)}`;
  }

  #lengthMax(name: string): Html | false {
    const { lengthMax } = factsOf(this.#schema, name);
    return lengthMax !== undefined && html` maxlength="${lengthMax}"`;
  }

  /** A form opens there. With several that are wrong, it opens at the list of them. */
  #isOnlyWrong(name: string): boolean {
    return this.#shown?.errors.size === 1 && this.#shown.errors.has(name);
  }

  #note(id: string, name: string, label: string): void {
    const error = this.#shown?.errors.get(name);
    if (error !== undefined) this.wrong.push({ id, label, error });
  }

  #describedBy(id: string, name: string, hint: HtmlValue | undefined): Html | false {
    const parts = [hint !== undefined && `${id}-hint`, this.#shown?.errors.has(name) === true && `${id}-error`].filter(
      (one) => one !== false,
    );
    return parts.length > 0 && html` aria-describedby="${parts.join(' ')}"`;
  }

  #valueOf(name: string): string {
    return this.#valuesOf(name)[0] ?? '';
  }

  #valuesOf(name: string): string[] {
    if (this.#shown) return this.#shown.values.getAll(name);
    const initial = this.#initial[name];
    return [initial ?? []].flat().map(String);
  }
}

/** A box or a button to tick, with a word about it. */
const choiceOf = (input: Html, label: HtmlValue, hint: HtmlValue | undefined): Html => html`<label class="choice">
${input}
<span>
<span>${label}</span>
${hint !== undefined && html`<span class="soft small">${hint}</span>`}
</span>
</label>`;
