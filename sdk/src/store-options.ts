import { isInBrowser, readVariable } from './environment.ts';

export interface StoreOptions {
  /** The store's URL, such as https://homeward.example. Default: the environment variable HOMEWARD_URL. */
  readonly url?: string | URL | undefined;
  /** API key. Server-side only: never ship it to a browser. Default: the environment variable HOMEWARD_KEY. */
  readonly key?: string | undefined;
  /** Used instead of the global fetch. */
  readonly fetch?: typeof fetch;
  /** Total time for a call, including waits and retries. Default: 90 s, so that it can wait out a one-minute rate limit. */
  readonly totalTimeoutMs?: number;
  /** Time for one attempt. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Extra headers for every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

interface Target {
  /** Ends in /v1. */
  readonly base: string;
  readonly key: string;
}

let hasWarnedOfBrowser = false;

/** Where to send requests, and with which key. Throws one TypeError with everything that is wrong; no message contains the key. */
export function targetOf({ url = '', key = '' }: StoreOptions): Target {
  const givenUrl = String(url) || readVariable('HOMEWARD_URL') || '';
  const givenKey: unknown = key || readVariable('HOMEWARD_KEY');
  const mistakes = [mistakeInUrl(givenUrl, givenKey), mistakeInKey(givenKey)].filter((one) => one !== undefined);
  if (mistakes.length > 0) throw new TypeError(mistakes.join('\n'));
  warnInBrowser();
  const { origin, pathname } = new URL(givenUrl);
  return { base: `${origin}${pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`, key: String(givenKey) };
}

function mistakeInUrl(given: string, key: unknown): string | undefined {
  if (given === '') return 'The URL of the store is missing. Set the environment variable HOMEWARD_URL, or pass `url` to createStore.';
  if (isUnset(given)) return 'The URL of the store is the name of a variable, not its value. Check how HOMEWARD_URL is set and read.';
  if (looksLikeKey(given) || given === key) return 'The URL of the store is an API key. Check that `url` and `key` are not swapped.';
  const parsed = parseUrl(given);
  const shown = JSON.stringify(given.slice(0, 200));
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    return `The URL of the store must start with https:// or http://, such as https://homeward.example; got ${shown}.`;
  }
  // Not shown: it may contain a password.
  if (parsed.username || parsed.password) return 'The URL of the store contains a user name or a password. Pass the address alone.';
  if (parsed.search || parsed.hash) return `The URL of the store must end after the host; got ${shown}. Try ${parsed.origin}`;
  // A store behind a proxy may have a longer path, which the full base address shows.
  if (/^\/*$|\/v1\/*$/.test(parsed.pathname)) return undefined;
  return `The URL of the store must be its address, without the path of an operation or page; got ${shown}. Try ${parsed.origin}`;
}

function mistakeInKey(given: unknown): string | undefined {
  if (given === undefined) return 'The API key is missing. Set the environment variable HOMEWARD_KEY, or pass `key` to createStore.';
  if (typeof given !== 'string') return `The API key must be a string; got ${typeof given}.`;
  if (isUnset(given)) return 'The API key is the name of a variable or a placeholder, not a key. Check how HOMEWARD_KEY is set and read.';
  if (/^bearer\s/i.test(given)) return 'The API key starts with "Bearer". Pass the key alone; the client adds the rest.';
  if (/\s/.test(given)) return 'The API key contains a space or a line break. Copy it again, or trim it: it is one word.';
  if (/^["'`]|["'`]$/.test(given)) return 'The API key has quotation marks around it. Remove them.';
  if (/^https?:/i.test(given)) return 'The API key is a URL. Check that `url` and `key` are not swapped.';
  if (given.startsWith('whsec_')) return 'The API key is the secret of a webhook, which is only for verifyWebhook. Keys start with hw_.';
  if (!/^[\x21-\x7e]+$/.test(given)) return 'The API key contains a character that no key has. Copy it again.';
  return undefined;
}

/** What is left of a variable that was not set or not replaced, or of a sample. */
const isUnset = (text: string): boolean =>
  /^(undefined|null|NaN|\[object Object\]|HOMEWARD_\w+)$|^[$%<{]|^process\.env\b|^import\.meta\b|…|\.\.\.$/.test(text.trim());

const looksLikeKey = (text: string): boolean => /^\W*(bearer\s+)?(hw_|whsec_)/i.test(text);

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function warnInBrowser(): void {
  if (hasWarnedOfBrowser || !isInBrowser()) return;
  hasWarnedOfBrowser = true;
  console.warn(
    'Homeward: this page has an API key. Everyone who can open the page can read it and act as you: call the store from a server.',
  );
}
