// What a response must be, and the errors for responses that differ.
import type { Response } from '../../testkit/http.ts';
import type { Credentials } from './model-callers.ts';
import type { Action, Step } from './model-steps.ts';
import { type ModelPage, readExactly } from './model-store.ts';

/** The response that a step must get. */
export interface Expected {
  readonly status: number;
  readonly code?: string;
  readonly content?: Content;
  readonly page?: ModelPage;
  /** Applies the change to the model; throws if the body is wrong. */
  readonly apply?: (body: unknown) => void;
}

interface Content {
  /** The expected body, as `serialise` returns it. */
  readonly text: string;
  readonly more: boolean;
  readonly serialise: (body: unknown) => string;
}

export const rejected = (status: number, code: string): Expected => ({ status, code });

/** A rejected key and an exceeded limit come before any other check. */
export function rejectionBefore(action: Action, { rejection }: Credentials, admitted: boolean): Expected | undefined {
  if (action.kind === 'preflight') return undefined;
  if (!admitted) return rejected(429, 'rate_limit_exceeded');
  return rejection ? rejected(401, rejection) : undefined;
}

export function applyCondition(expected: Expected, condition: string | undefined, known: { tagged: string } | undefined): Expected {
  if (expected.status !== 200 || condition === undefined || !expected.content) return expected;
  const matches = condition === '*' || (condition !== '"other"' && known?.tagged === tagged(expected.content));
  return matches ? { ...expected, status: 304 } : expected;
}

/** What the ETag identifies. */
export const tagged = ({ text, more }: Content) => `${text} ${more}`;

export function conditionOf(condition: Step['condition'], etag: string | undefined): string | undefined {
  if (condition === 'any') return '*';
  if (condition === 'other') return '"other"';
  if (condition === 'none' || etag === undefined) return undefined;
  return condition === 'weak' ? `"x", W/${etag}` : etag;
}

export function judgeError({ status, text }: Response, code: string): void {
  const body = JSON.parse(text) as Record<string, unknown>;
  const isWhole =
    Object.keys(body).sort().join() === 'code,message,status' && typeof body['message'] === 'string' && body['status'] === status;
  if (!isWhole || body['code'] !== code) throw new Error(`the body must be an Error with the code ${code}`);
}

export function judgeContent({ text }: Response, content: Content): void {
  if (content.serialise(readExactly(text)) !== content.text) throw new Error(`the body must be ${content.text.slice(0, 300)}`);
}
