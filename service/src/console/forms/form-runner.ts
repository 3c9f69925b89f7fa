import { hash } from 'node:crypto';
import type { PersonCaller } from '../../access/principals/principals.ts';
import { rerunning } from '../../adoption/applications/application-errors.ts';
import type { Catalogue, CatalogueTransaction } from '../../animals/list-cache/catalogue.ts';
import type { Db, Writer } from '../../platform/db/handles.ts';
import { claimForm, concludeForm, type FormResult, lockFormResult } from './form-result-queries.ts';

/** For operations that would open a transaction: they join the one of the form. */
export interface JoinedTransaction extends Db, Writer {
  readonly transaction: <T>(work: (tx: CatalogueTransaction) => Promise<T>) => Promise<T>;
}

export interface ReceivedForm {
  readonly formId: Buffer;
  readonly path: string;
  readonly body: URLSearchParams;
}

/** What the next page shows, and nothing stores, so that a repeat of the form does not show it. */
export interface Unstored {
  /** A secret, such as a link. */
  readonly once?: string | undefined;
}

/** What a form leads to. */
export interface FormOutcome extends Unstored {
  /** The path of the page that is shown next. */
  readonly to: string;
  /** What that page says: what was done, in the past tense. It is stored for a repeat of the form, so it names no adopter. */
  readonly done?: string;
  /** What it says after a repeat of the form, if `done` speaks of what is shown once. */
  readonly repeated?: string;
}

type Carry = (tx: CatalogueTransaction, joined: JoinedTransaction) => Promise<FormOutcome>;

const messageLengthMax = 500;

/** Carries out each form once: what it does and where it leads to are in one transaction. */
export class FormRunner {
  readonly #catalogue: Pick<Catalogue, 'transaction'>;

  constructor(catalogue: Pick<Catalogue, 'transaction'>) {
    this.#catalogue = catalogue;
  }

  /** A form that is sent again with the same content leads to where it has led before. With another content it is another form. */
  run({ formId, path, body }: ReceivedForm, by: PersonCaller, carry: Carry): Promise<FormResult & Unstored> {
    const form = { personId: by.personId, formId, content: contentOf(path, body) };
    return rerunning(this.#catalogue).transaction(async (tx) => {
      if (!(await claimForm(tx, form))) {
        const before = await lockFormResult(tx, form);
        if (!before) throw new Error('a form that was carried out has no result');
        return before;
      }
      const { to, done, repeated = done, once } = await carry(tx, joined(tx));
      await concludeForm(tx, form, { location: to, message: cut(repeated) });
      return { location: to, message: cut(done), once };
    }, by);
  }
}

const cut = (text: string | undefined): string | null => (text === undefined ? null : [...text].slice(0, messageLengthMax).join(''));

const joined = (tx: CatalogueTransaction): JoinedTransaction => ({
  query: (statement) => tx.query(statement),
  write: (statement) => tx.write(statement),
  transaction: (work) => work(tx),
});

/** Without an id of the console's making, it is a form of its own. */
export function formIdOf(text: string | null): Buffer {
  const id = Buffer.from(text ?? '', 'base64url');
  return id.length === 16 ? id : hash('sha256', text ?? '', 'buffer').subarray(0, 16);
}

const contentOf = (path: string, body: URLSearchParams): Buffer => hash('sha256', `${path}\n${body}`, 'buffer');
