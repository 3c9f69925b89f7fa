import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { TObject } from 'typebox';
import type { Person } from '../../access/people/people.ts';
import type { Session } from '../../access/people/sessions.ts';
import type { PersonCaller } from '../../access/principals/principals.ts';
import { parseInt64 } from '../../platform/db/int64.ts';
import { type Html, type HtmlValue, html } from '../../platform/html.ts';
import { Fields, type Initial, type Shown, type WrongField } from '../forms/fields.ts';
import { type Times, timesOf } from '../frame/times.ts';
import type { Visitor, Workplace } from '../sessions/visitors.ts';
import { notFound } from './page-error.ts';
import { mayUse, type Needs } from './screens.ts';

/** A form that was sent and not accepted. */
export interface Rejected extends Shown {
  /** Its path, with the ids in it. */
  readonly path: string;
}

/** A form as its page knows it. */
export interface FormOf {
  readonly path: string;
  readonly fields: TObject;
}

interface FormOptions {
  /** The words on the button: a verb. */
  readonly submit: HtmlValue;
  /** What the fields show first. */
  readonly values?: Readonly<Record<string, Initial>>;
  /** The ids in its path, if they are not those of the page. */
  readonly params?: Readonly<Record<string, string | bigint>>;
  /** The version of what is changed, such as its ETag: the act gets it back. */
  readonly version?: string;
  /** `danger`: what can't be taken back. `quiet`: one of several on the page. */
  readonly tone?: 'danger' | 'quiet';
  /** A button in a row, without fields that are seen. */
  readonly isInline?: boolean;
  /** The button is beside the field, of which there is one. */
  readonly isBeside?: boolean;
  /** Beside the button, such as a way back. */
  readonly beside?: Html;
}

const noErrors: ReadonlyMap<string, string> = new Map();
export const hiddenFields = { token: '_token', id: '_form', version: '_version' } as const;

/** One look at a page by a person that is signed in. */
export class Visit {
  readonly session: Session;
  readonly person: Person;
  readonly caller: PersonCaller;
  readonly workplace: Workplace;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  /** In the time zone of the workplace. */
  readonly times: Times;
  /** The form that was sent from this page and not accepted. */
  readonly rejected: Rejected | undefined;
  readonly #formToken: string;
  #forms = 0;
  #wrong: readonly WrongField[] = [];

  constructor(
    { session, person, caller, workplace, formToken }: Visitor,
    { url, params }: Pick<FastifyRequest, 'url' | 'params'>,
    nowMs: number,
    rejected?: Rejected,
  ) {
    const [path = '/', query] = url.split('?', 2);
    this.session = session;
    this.person = person;
    this.caller = caller;
    this.workplace = workplace;
    this.path = path;
    // No field takes U+0000, and PostgreSQL knows no text with it.
    this.query = new URLSearchParams(query?.replaceAll('%00', ''));
    this.params = params as Record<string, string>;
    this.times = timesOf(workplace.zone, nowMs);
    this.rejected = rejected;
    this.#formToken = formToken;
  }

  /** An id in the path. A text that is none is not found, like an unknown id. */
  id(name: string): bigint {
    const id = parseInt64(this.params[name] ?? '');
    if (id === undefined) throw notFound();
    return id;
  }

  may(needs: Needs): boolean {
    return mayUse(this.caller, needs);
  }

  /** A form that its route accepts. If it was sent and not accepted, it shows what was typed, and what is wrong. */
  form({ path: template, fields }: FormOf, options: FormOptions, body: (fields: Fields) => Html | false = () => false): Html {
    const { submit, values = {}, params = this.params, version, tone, isInline = false, isBeside = false, beside } = options;
    const path = template.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
    const rejected = this.rejected?.path === path ? this.rejected : undefined;
    this.#forms += 1;
    const shown = rejected && { values: rejected.values, errors: rejected.errors ?? noErrors };
    const given = new Fields(fields, values, shown, this.#forms === 1 ? '' : `form${this.#forms}-`);
    const content = body(given);
    this.#wrong = [...this.#wrong, ...given.wrong];
    return html`<form method="post" action="${path}" class="${isInline ? 'inline' : isBeside ? 'form beside' : 'form'}" novalidate>
${this.hidden(version)}${content}
<div class="acts"><button class="button ${tone ?? ''}">${submit}</button>${beside}</div>
</form>`;
  }

  /** What every form sends besides its fields: for one that is written out. */
  hidden(version?: string): Html {
    return html`${identityOf(this.#formToken)}${version !== undefined && html`<input type="hidden" name="${hiddenFields.version}" value="${version}">`}`;
  }

  /** Of the forms that the page has shown so far, in their order. */
  get wrongFields(): readonly WrongField[] {
    return this.#wrong;
  }

  /** Of the session, for scripts. */
  get formToken(): string {
    return this.#formToken;
  }
}

/** Whose form it is, and which. */
export const identityOf = (formToken: string): Html =>
  html`<input type="hidden" name="${hiddenFields.token}" value="${formToken}">
<input type="hidden" name="${hiddenFields.id}" value="${randomBytes(16).toString('base64url')}">`;

/** Whether this is the token of the forms of the session. */
export function isFormToken(given: string | null, { formToken }: Pick<Visitor, 'formToken'>): boolean {
  if (given === null) return false;
  const [a, b] = [Buffer.from(given), Buffer.from(formToken)];
  return a.length === b.length && timingSafeEqual(a, b);
}
