// The console of a test store, in this process, called over real HTTP as a browser calls it.

import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { freePort } from '../../../testkit/servers.ts';
import { type LinkKind, linkUrl, mintMailedLink } from '../../src/access/people/links.ts';
import { invitePerson, type NewPerson, type Person } from '../../src/access/people/people.ts';
import { type ConsoleApp, createConsole } from '../../src/console/console-app.ts';
import { Seals } from '../../src/console/sessions/cookies.ts';
import { openLimiter } from '../../src/dependencies.ts';
import { theService } from '../../src/domain/actor.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { join, operator, signIn } from '../people-steps.ts';
import { createTestStore, type TestStore, type TestStoreOptions } from '../test-store.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it redirects to. */
  readonly location: string | undefined;
}

export interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | FormData | Blob;
  readonly method?: string;
}

interface TestConsoleOptions extends TestStoreOptions {
  readonly formMsMax?: number;
  /** Gets the lines of its log. */
  readonly onLog?: (fields: Readonly<Record<string, unknown>>) => void;
}

export class TestConsole implements AsyncDisposable {
  readonly store: TestStore;
  readonly app: ConsoleApp;
  readonly url: string;

  constructor(store: TestStore, app: ConsoleApp, url: string) {
    this.store = store;
    this.app = app;
    this.url = url;
  }

  /** Somebody who has joined and is signed in. */
  async arrive(person: Partial<NewPerson> = {}): Promise<TestBrowser & { readonly person: Person }> {
    const joined = await join(this.store, person);
    return this.enter(joined);
  }

  /** One more browser of this person. */
  async enter(person: Person): Promise<TestBrowser & { readonly person: Person }> {
    const browser = this.browser();
    const sealed = new Seals(this.store.dependencies.secret).seal('session', await signIn(this.store, person));
    browser.cookies.set('session', sealed);
    return Object.assign(browser, { person });
  }

  /** The path of an invitation. */
  async invite(person: Partial<NewPerson> & { readonly email: string }): Promise<string> {
    const { db } = this.store.dependencies;
    const { token } = await db.transaction((tx) => invitePerson(tx, operator, { role: 'staff', shelterId: null, ...person }), theService);
    return linkUrl('', 'invitation', token);
  }

  /** The path of a link for somebody, as it is mailed. */
  async link(kind: LinkKind, { id }: Pick<Person, 'id'>): Promise<string> {
    const minted = await this.store.dependencies.db.transaction((tx) => mintMailedLink(tx, kind, id), theService);
    if (!minted) throw new Error('there is no such person');
    return linkUrl('', kind, minted.token);
  }

  browser(): TestBrowser {
    return new TestBrowser(this.url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.server.close();
    await this.store[Symbol.asyncDispose]();
  }
}

/** Keeps cookies as a browser does, and says where its requests come from. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  readonly #url: string;
  readonly #address = newAddress();

  constructor(url: string) {
    this.#url = url.replace('localhost', '127.0.0.1');
  }

  get(path: string, { headers = {} }: Sending = {}): Promise<Answer> {
    return this.send(path, { headers: { 'sec-fetch-site': 'none', ...headers } });
  }

  /** Follows redirects. */
  async open(path: string): Promise<Answer> {
    let answer = await this.get(path);
    for (let hops = 0; answer.location !== undefined && hops < 5; hops += 1)
      answer = await this.get(answer.location, { headers: { 'sec-fetch-site': 'same-origin' } });
    return answer;
  }

  /** As a page of the console sends it. */
  post(path: string, values: Readonly<Record<string, string>> | URLSearchParams = {}, { headers = {} }: Sending = {}): Promise<Answer> {
    return this.send(path, { method: 'POST', body: new URLSearchParams(values), headers: { 'sec-fetch-site': 'same-origin', ...headers } });
  }

  /** Opens a page, fills in its form that goes to `action`, and sends it. */
  async submit(page: string, action: string, values: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.post(action, { ...hiddenOf((await this.open(page)).text, action), ...values });
  }

  async send(path: string, { method = 'GET', headers = {}, body }: Sending): Promise<Answer> {
    const response = await fetch(new URL(path, this.#url), {
      method,
      redirect: 'manual',
      headers: {
        'x-forwarded-for': this.#address,
        ...(this.cookies.size > 0 && { cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const location = response.headers.get('location') ?? undefined;
    return { status: response.status, headers: response.headers, text: await response.text(), location };
  }
}

/** The fields of a form that are not seen, and of those that are what they begin with. */
export function hiddenOf(page: string, action: string): Record<string, string> {
  const form = page.split('<form ').find((part) => part.includes(`action="${action}"`));
  if (form === undefined) throw new Error(`no form goes to ${action}`);
  const fields = form.split('</form>', 1)[0] ?? '';
  return Object.fromEntries(
    [...fields.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      unescaped(value),
    ]),
  );
}

/** The text of a page as it is read. */
export const wordsOf = (page: string): string =>
  page
    .replace(/^.*<body>/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#\d+;/g, unescaped)
    .replaceAll(/\s+/g, ' ')
    .trim();

const unescaped = (text: string): string => text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));

let visits = 0;
/** Each browser is somewhere else: an address may ask 60 times a minute. */
const newAddress = () => `10.${visits >> 16}.${(visits >> 8) & 255}.${visits++ & 255}`;

/** A console for all tests of a file. */
export const openTestConsole = async (options?: TestConsoleOptions): Promise<TestConsole> =>
  disposeAfterAll(await createTestConsole(options));

export async function createTestConsole({ env, formMsMax, onLog, ...options }: TestConsoleOptions = {}): Promise<TestConsole> {
  const store = await createTestStore({ ...options, env: { HOMEWARD_TRUSTED_PROXIES: '127.0.0.1,::1', ...env } });
  const log = onLog && (pino({}, { write: (line: string) => onLog(JSON.parse(line)) }) as FastifyBaseLogger);
  const dependencies = { ...store.dependencies, ...(log && { log }) };
  // Links and cookies need the port before anything listens on it.
  const url = `http://localhost:${await freePort()}`;
  const app = await createConsole(dependencies, { limiter: openLimiter(dependencies), consoleUrl: url, formMsMax });
  await app.server.listen({ host: '127.0.0.1', port: Number(new URL(url).port) });
  return new TestConsole(store, app, url);
}
