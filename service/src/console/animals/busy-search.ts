import { AppError } from '../../platform/errors.ts';
import { html } from '../../platform/html.ts';

/** Undefined: the search has not got its turn in the time of a person. */
export const unlessBusy = <Found>(search: Promise<Found>): Promise<Found | undefined> =>
  search.catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'too_many_searches') return undefined;
    throw error;
  });

export const busySearch = html`<p role="alert">So many of your colleagues are searching that this search has not got its turn. What you typed is still here: reload the page in a few seconds.</p>`;
