// What every part of the site needs to reply, and the replies that several of them give.
import type { IncomingMessage } from 'node:http';
import type { Store } from '@homeward/sdk';
import type { Catalogue } from './catalogue.ts';
import { isFromThisSite } from './form-request.ts';
import type { Html } from './html.ts';
import { messagePage } from './message-page.ts';

export interface Site {
  readonly store: Store;
  readonly key: string;
  readonly catalogue: Catalogue;
  /** The address under which visitors reach the site. */
  readonly publicUrl: string;
  readonly startedAt: Date;
}

export interface Reply {
  readonly status: number;
  readonly page?: Html;
  /** The origins from which the page loads photos. */
  readonly photosFrom?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Of a page that is for one adopter. */
export const forAdopterAlone = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex' };

export const redirectTo = (location: string, headers?: Reply['headers']): Reply => ({ status: 303, headers: { location, ...headers } });

export const notFound = (text: string): Reply => ({ status: 404, page: messagePage('Not found', text) });

export const notAllowed = (allow: string): Reply => ({
  status: 405,
  page: messagePage('That does not work here', 'This page can be read, but not sent to.'),
  headers: { allow },
});

/** Undefined: the form was sent from this site. */
export const rejectOtherSites = (request: IncomingMessage): Reply | undefined =>
  isFromThisSite(request)
    ? undefined
    : { status: 403, page: messagePage('That did not come from here', 'Please send the form from this site.') };

/** The idempotency key was used for other details. */
export const sentBefore = (): Reply => ({
  status: 409,
  page: messagePage(
    'This form was sent already',
    'You have sent this form before, with other details. What you sent first still counts; its page shows the status.',
  ),
});

/** It is unknown whether the form took effect. Sending it again reuses the idempotency key, so it can't take effect twice. */
export const unclear = {
  title: 'Please try again',
  text: 'We could not confirm that your request arrived. Please send the form once more in a moment: it counts only once.',
};
