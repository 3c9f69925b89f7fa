import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unconfirmed } from '../../domain/application-states.ts';
import { pagesPath, pageToken } from '../../domain/page-links.ts';
import type { Config } from '../../platform/config.ts';
import type { AppError, ErrorCode } from '../../platform/errors.ts';
import type { Html } from '../../platform/html.ts';
import { requestSubject } from '../../platform/http/addresses.ts';
import { asAppError, noteError } from '../../platform/http/error-handler.ts';
import { routeAllMethods } from '../../platform/http/methods.ts';
import { isFromElsewhere } from '../../platform/http/same-origin.ts';
import type { PageActs } from './page-acts.ts';
import { confirmPage, erasePage, mayErase, mayWithdraw, messagePage, obstaclePage, statusPage, withdrawPage } from './page-html.ts';
import type { PageFacts } from './page-queries.ts';
import { pageStyleHash } from './page-style.ts';
import { type Message, type PageTexts, pageTexts } from './page-texts.ts';
import type { PageToken, PageTokens } from './page-tokens.ts';
import type { Names } from './page-words.ts';

interface Parts {
  readonly acts: PageActs;
  readonly tokens: PageTokens;
  /** The seconds until an address may ask again; 0: now. */
  readonly admit: (address: string) => Promise<number>;
  readonly config: Pick<Config, 'photosUrl' | 'publicUrl'>;
}

const actNames = ['confirm', 'withdraw', 'erase'] as const;
type Act = (typeof actNames)[number];

/** A path that leads to a page, if there is an application. */
interface Asked extends PageToken {
  readonly text: string;
  readonly act: Act | undefined;
}

const path = new RegExp(`^${pagesPath}/(${pageToken})(?:/(${actNames.join('|')}))?$`);
/** The forms have no fields. */
const bodyBytesMax = 1_024;

/**
 * The pages of adopters. Their links are opened by programs too, such as scanners of e-mail: a GET or HEAD changes nothing. Before
 * PostgreSQL is asked, a request was counted against its address and its token was checked.
 */
export async function applicationPages(app: FastifyInstance, { acts, tokens, admit, config }: Parts): Promise<void> {
  const texts: PageTexts = pageTexts.en;
  const headers = headersOf(config.photosUrl);
  const asked = new WeakMap<FastifyRequest, Asked>();
  const read = (url: string): Asked | undefined => {
    // As it was sent: the router has decoded it, and a token has one spelling.
    const [, text = '', act] = path.exec(url.split('?', 1)[0] ?? '') ?? [];
    const token = tokens.read(text);
    return token && { ...token, text, act: actNames.find((name) => name === act) };
  };

  const check = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    reply.headers(headers).header('x-request-id', request.id);
    const seconds = await admit(requestSubject(request));
    if (seconds > 0) return sendMessage(reply.status(429).header('retry-after', seconds), texts.tooManyRequests, { seconds });
    const found = read(request.url);
    if (!found) return sendMessage(reply.status(404), texts.notFound);
    const methods = found.act ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
    if (!methods.includes(request.method)) return sendMessage(reply.status(405).header('allow', methods.join(', ')), texts.notSupported);
    if (request.method === 'POST' && isFromElsewhere(request, config.publicUrl)) return sendMessage(reply.status(403), texts.fromElsewhere);
    asked.set(request, found);
    return undefined;
  };

  const respond = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const found = asked.get(request);
    if (!found) throw new Error('the path was not checked');
    const facts = await acts.find(found.id);
    if (!facts) return sendMessage(reply.status(404), texts.notFound);
    return request.method === 'POST' ? perform(found, facts, request, reply) : show(found, facts, reply);
  };

  /** Where a page is, from below `/a/`: the link that confirms is of no use afterwards, and then leads to the other one. */
  const urlOf = ({ id, text, act }: Asked, { status }: PageFacts): string =>
    `${act ? '../' : ''}${status === unconfirmed ? text : tokens.write({ id, purpose: 'see' })}`;
  const redirect = (reply: FastifyReply, found: Asked, facts: PageFacts) =>
    reply.status(303).header('location', urlOf(found, facts)).send();

  const show = (found: Asked, facts: PageFacts, reply: FastifyReply): FastifyReply => {
    const { act, purpose } = found;
    const parts = { texts, photosUrl: config.photosUrl, self: urlOf(found, facts) };
    const confirms = purpose === 'confirm' && facts.status === unconfirmed;
    if (act === 'withdraw' && mayWithdraw(facts)) return sendPage(reply, withdrawPage(facts, parts));
    if (act === 'erase' && mayErase(facts)) return sendPage(reply, erasePage(facts, parts));
    if (act || (purpose === 'confirm' && !confirms)) return redirect(reply, found, facts);
    if (!confirms) return sendPage(reply, statusPage(facts, parts));
    return sendPage(reply, facts.pet.isAvailable ? confirmPage(facts, parts) : obstaclePage(facts, 'unavailable', parts));
  };

  const perform = async (found: Asked, facts: PageFacts, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { id, purpose, act } = found;
    try {
      if (act === 'confirm' && purpose === 'confirm') await acts.confirm(id);
      else if (act === 'withdraw' && mayWithdraw(facts)) await acts.withdraw(id);
      else if (act === 'erase' && mayErase(facts)) await acts.erase(id);
    } catch (thrown) {
      const error = asAppError(thrown);
      const obstacle = obstacles[error.code];
      // It has moved meanwhile: its page says where to.
      if (error.code !== 'application_state_conflict' && !obstacle) throw thrown;
      request.errorCode = error.code;
      if (obstacle) {
        const parts = { texts, photosUrl: config.photosUrl, self: urlOf(found, facts) };
        return sendPage(reply.status(409), obstaclePage(facts, obstacle, parts));
      }
    }
    const now = await acts.find(id);
    return now ? redirect(reply, found, now) : sendMessage(reply, texts.deleted);
  };

  const sendMessage = (reply: FastifyReply, message: Message, names?: Names) => sendPage(reply, messagePage(message, texts, names));

  await app.register(async (pages) => {
    routeAllMethods(pages);
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bodyBytesMax }, (_, __, done) => done(null, undefined));
    pages.setErrorHandler((thrown, request, reply) => {
      const error = asAppError(thrown);
      noteError(error, request);
      return sendMessage(reply.status(error.status).headers({ ...error.headers, ...headers }), messageOf(error, texts));
    });
    pages.addHook('onRequest', check);
    for (const url of [pagesPath, `${pagesPath}/*`])
      pages.route({ method: pages.supportedMethods, url, schema: { hide: true }, handler: respond });
  });
}

/** What forbids a confirmation, by the code of its error. */
const obstacles: Partial<Record<ErrorCode, keyof PageTexts['obstacles']>> = {
  pet_not_found: 'unavailable',
  pet_not_available: 'unavailable',
  application_exists: 'exists',
  open_application_limit: 'tooMany',
  applications_full: 'full',
};

function messageOf({ status, code }: AppError, texts: PageTexts): Message {
  if (code === 'application_not_found') return texts.notFound;
  if (code === 'unavailable') return texts.unavailable;
  return status >= 500 ? texts.failed : texts.notSupported;
}

const sendPage = (reply: FastifyReply, page: Html) => reply.type('text/html; charset=utf-8').send(page.text);

/** The token is in the URL: nothing stores the page, and nothing is told where a reader came from. */
function headersOf(photosUrl: string): Readonly<Record<string, string>> {
  const photos = photosUrl.startsWith('/') ? "'self'" : `'self' ${new URL(photosUrl).origin}`;
  return {
    'content-security-policy': `default-src 'none'; style-src '${pageStyleHash}'; img-src ${photos}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}
