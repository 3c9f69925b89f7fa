import type { SignedOut } from '../../partners/principals/principals.ts';

/** What a page says in place of what was asked for. */
export class PageError extends Error {
  readonly status: number;
  readonly title: string;

  constructor(status: number, title: string, text: string) {
    super(text);
    this.status = status;
    this.title = title;
  }
}

export const notFound = (text = 'It may have been removed, or the address has a typing error.'): PageError =>
  new PageError(404, 'There is nothing here', text);

export const notAllowed = (text = 'Your role does not include this. An admin can change it.'): PageError =>
  new PageError(403, 'This is not yours to do', text);

export const fromElsewhere = (): PageError =>
  new PageError(
    403,
    'This came from elsewhere',
    'The console carries out only what was sent from its own pages. Nothing was changed. Open the page again.',
  );

/** Why a form could not be carried out. What is wrong with a field is shown beside it. */
export class FormError extends Error {
  readonly fields: ReadonlyMap<string, string>;

  constructor(message: string, fields: string | ReadonlyMap<string, string> = new Map()) {
    super(message);
    this.fields = typeof fields === 'string' ? new Map([[fields, message]]) : fields;
  }
}

/** What is wrong with which fields, of all checks that throw it. */
export async function faultsOf(...checks: ReadonlyArray<() => unknown>): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>();
  for (const check of checks) {
    try {
      await check();
    } catch (thrown) {
      if (!(thrown instanceof FormError)) throw thrown;
      for (const [field, fault] of thrown.fields) faults.set(field, fault);
    }
  }
  return faults;
}

/** What a request says whose session can't act any more. */
export function cannotAct({ why }: SignedOut): PageError {
  if (why === 'ended') return signedOut();
  if (why === 'suspended') return suspended();
  return new PageError(
    403,
    'Your role was changed',
    'Nothing was changed. An admin has given you another role a moment ago. Open the page again.',
  );
}

export const suspended = (): PageError =>
  new PageError(
    403,
    'Your shelter is suspended',
    "The store has suspended it, so nothing can be changed or read here. Contact the store's staff.",
  );

export const signedOut = (): PageError =>
  new PageError(
    401,
    'You are signed out',
    'Nothing was changed. Sign in in another tab, then come back to this one and reload it. Your browser asks whether to send the form again: it then shows what you typed.',
  );
