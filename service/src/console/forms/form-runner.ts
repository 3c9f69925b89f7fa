import { hash } from 'node:crypto';
import type { Transactor } from '../../platform/db/handles.ts';
import { rerunning } from '../../store/applications/moved-meanwhile.ts';
import type { Catalogue, CatalogueTransaction } from '../../store/list-cache/catalogue.ts';
import { claimForm, concludeForm, type FormResult, lockFormResult } from './form-result-queries.ts';

/** For operations that would open a transaction: they join the one of the form. */
export interface JoinedTransaction extends Pick<Transactor, 'query' | 'write'> {
  readonly transaction: <T>(work: (tx: CatalogueTransaction) => Promise<T>) => Promise<T>;
}

export interface ReceivedForm {
  readonly personId: bigint;
  readonly formId: Buffer;
  readonly path: string;
  readonly body: URLSearchParams;
}

type Carry = (
  tx: CatalogueTransaction,
  joined: JoinedTransaction,
) => Promise<{ readonly to: string; readonly done?: string; readonly once?: string }>;

const messageLengthMax = 500;

/** Carries out each form once: what it does and where it leads to are in one transaction. */
export class FormRunner {
  readonly #catalogue: Pick<Catalogue, 'transaction'>;

  constructor(catalogue: Pick<Catalogue, 'transaction'>) {
    this.#catalogue = catalogue;
  }

  /** A form that is sent again with the same content leads to where it has led before. With another content it is another form. */
  run(
    { personId, formId, path, body }: ReceivedForm,
    clientId: bigint,
    carry: Carry,
  ): Promise<FormResult & { readonly once?: string | undefined }> {
    const form = { personId, formId, content: contentOf(path, body) };
    return rerunning(this.#catalogue).transaction(async (tx) => {
      if (!(await claimForm(tx, form))) {
        const before = await lockFormResult(tx, form);
        if (!before) throw new Error('a form that was carried out has no result');
        return before;
      }
      const { to, done, once } = await carry(tx, joined(tx));
      const result = { location: to, message: done === undefined ? null : [...done].slice(0, messageLengthMax).join('') };
      await concludeForm(tx, form, result);
      return { ...result, once };
    }, clientId);
  }
}

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
