import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unconfirmed } from '../../domain/application-states.ts';
import { pagesPath, pageToken } from '../../domain/token-formats.ts';
import { requestSubject } from '../../platform/caller-addresses.ts';
import type { Config } from '../../platform/config.ts';
import type { AppError, ErrorCode } from '../../platform/errors.ts';
import type { Html } from '../../platform/html.ts';
import { asAppError, noteError } from '../../platform/http/error-handler.ts';
import { isFromElsewhere } from '../../platform/http/protocol/browsers.ts';
import { routeAllMethods } from '../../platform/http/routing.ts';
import { type AdopterAct, type AdopterLink, LinkEnded } from '../applications/adopter-links.ts';
import type { PageToken, PageTokens } from '../applications/page-tokens.ts';
import type { PageActs } from './page-acts.ts';
import { answersPage, askAnswersPage } from './page-answers.ts';
import {
  askPage,
  asksForAddress,
  confirmPage,
  erasePage,
  mayErase,
  mayReadAnswers,
  mayWithdraw,
  messagePage,
  obstaclePage,
  type PageParts,
  statusPage,
  type Way,
  withdrawPage,
} from './page-html.ts';
import { type Names, pageHeaders } from './page-layout.ts';
import type { PageFacts } from './page-queries.ts';
import { type Message, type PageTexts, pageTexts } from './page-texts.ts';

interface Parts {
  readonly acts: PageActs;
  readonly tokens: PageTokens;
  /** The seconds until an address may ask again; 0: now. */
  readonly admit: (address: string) => Promise<number>;
  readonly config: Pick<Config, 'language' | 'photosUrl' | 'publicUrl' | 'siteUrl' | 'mail'>;
}

const actNames = ['confirm', 'withdraw', 'erase', 'answers'] as const;
type Act = (typeof actNames)[number];

/** A path that leads to a page, if there is an application. */
interface Asked extends PageToken {
  readonly text: string;
  readonly act: Act | undefined;
}

const path = new RegExp(`^${pagesPath}/(${pageToken})(?:/(${actNames.join('|')}))?$`);
/** The forms have one field at most, an e-mail address. */
const bodyBytesMax = 1_024;

/**
 * The pages of adopters. Their links are opened by programs too, such as scanners of e-mail: a GET or HEAD changes nothing. Before
 * PostgreSQL is asked, a request was counted against its address and its token was checked.
 */
export async function applicationPages(app: FastifyInstance, { acts, tokens, admit, config }: Parts): Promise<void> {
  const texts = pageTexts[config.language];
  const headers = pageHeaders(config.photosUrl);
  const mails = config.mail !== undefined;
  const asked = new WeakMap<FastifyRequest, Asked>();
  const read = (url: string): Asked | undefined => {
    // As it was sent: the router has decoded it, and a token has one spelling.
    const [, text = '', act] = path.exec(url.split('?', 1)[0] ?? '') ?? [];
    const token = tokens.read(text);
    // A link that acts has a page of its own, and none below it.
    if (!token || (linkOf(token) && act !== undefined)) return undefined;
    return { ...token, text, act: actNames.find((name) => name === act) };
  };

  const check = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    reply.headers(headers).header('x-request-id', request.id);
    const seconds = await admit(requestSubject(request));
    if (seconds > 0) return sendMessage(reply.status(429).header('retry-after', seconds), texts.tooManyRequests, { seconds });
    const found = read(request.url);
    if (!found) return sendMessage(reply.status(404), texts.notFound);
    const methods = found.act || linkOf(found) ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
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
    const link = linkOf(found);
    // Looking at one that acts does not use it up: scanners of e-mail do that too.
    if (link ? !(await acts.isLive(link)) : found.number !== facts.linkNumber) return sendMessage(reply.status(410), texts.ended);
    return request.method === 'POST' ? perform(found, facts, request, reply) : show(found, facts, reply);
  };

  /** How the adopter withdraws and erases. A link in the hand is not the person, unless the store has no other way to reach them. */
  const wayOf = ({ purpose }: Asked, { status, isReached }: PageFacts): Way => {
    if (!mails) return 'here';
    // It was mailed there and nowhere else, and there is nothing yet that could be lost.
    if (status === unconfirmed) return purpose === 'confirm' ? 'here' : 'nowhere';
    return isReached ? 'mail' : 'shelter';
  };

  /** Where a page is, from below `/a/`: a link that confirms, or acts, is of no use afterwards, and then leads to the other one. */
  const urlOf = ({ id, text, act, purpose }: Asked, facts: PageFacts): string => {
    const isOfUse = facts.status === unconfirmed || (purpose === 'confirm' && asksForAddress(facts));
    return `${act ? '../' : ''}${isOfUse ? text : tokens.write({ id, purpose: 'see', number: facts.linkNumber })}`;
  };
  const redirect = (reply: FastifyReply, found: Asked, facts: PageFacts) =>
    reply.status(303).header('location', urlOf(found, facts)).send();
  const partsOf = (found: Asked, facts: PageFacts): PageParts => ({
    texts,
    photosUrl: config.photosUrl,
    siteUrl: config.siteUrl,
    self: urlOf(found, facts),
    way: wayOf(found, facts),
  });

  const show = async (found: Asked, facts: PageFacts, reply: FastifyReply): Promise<FastifyReply> => {
    const { id, act, purpose } = found;
    const parts = partsOf(found, facts);
    if (act === 'answers') return mayReadAnswers(facts) ? sendPage(reply, askAnswersPage(facts, parts)) : redirect(reply, found, facts);
    const asks = linkOf(found)?.act ?? (act === 'confirm' ? undefined : act);
    if (asks) {
      if (!may[asks](facts)) return redirect(reply, found, facts);
      if (linkOf(found) || parts.way === 'here') return sendPage(reply, (asks === 'erase' ? erasePage : withdrawPage)(facts, parts));
      if (parts.way === 'mail') return sendPage(reply, askPage(facts, asks, await acts.readAsked(id, asks), parts));
    }
    const confirms = purpose === 'confirm' && asksForAddress(facts);
    if (act || (purpose === 'confirm' && !confirms)) return redirect(reply, found, facts);
    if (facts.status !== unconfirmed || !confirms) return sendPage(reply, statusPage(facts, parts, confirms));
    return sendPage(reply, facts.pet.isAvailable ? confirmPage(facts, parts) : obstaclePage(facts, 'unavailable', parts));
  };

  const perform = async (found: Asked, facts: PageFacts, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { id, purpose, act } = found;
    if (act === 'answers') return showAnswers(found, facts, request, reply);
    const link = linkOf(found);
    const does = link?.act ?? (act === 'confirm' ? undefined : act);
    try {
      if (act === 'confirm' && purpose === 'confirm') await acts.confirm(id);
      else if (does && may[does](facts)) {
        const way = wayOf(found, facts);
        if (link || way === 'here') await acts[does](id, link);
        else if (way === 'mail') {
          await acts.ask(facts, does);
          // Back to the page that asks, which says what was sent.
          return await reply.status(303).header('location', does).send();
        }
      }
    } catch (thrown) {
      if (thrown instanceof LinkEnded) return sendMessage(reply.status(410), texts.ended);
      const error = asAppError(thrown);
      const obstacle = obstacles[error.code];
      // It has moved meanwhile: its page says where to.
      if (error.code !== 'application_state_conflict' && !obstacle) throw thrown;
      request.errorCode = error.code;
      if (obstacle) return sendPage(reply.status(409), obstaclePage(facts, obstacle, partsOf(found, facts)));
    }
    const now = await acts.find(id);
    return now ? redirect(reply, found, now) : sendMessage(reply, texts.deleted);
  };

  /** Changes nothing. How often an address may be tried is bounded as it is for all pages. */
  const showAnswers = async (found: Asked, facts: PageFacts, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (!mayReadAnswers(facts)) return redirect(reply, found, facts);
    const parts = partsOf(found, facts);
    const email = new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString() : '').get('email') ?? '';
    const answers = await acts.readAnswers(found.id, email);
    if (!answers) return sendPage(reply.status(422), askAnswersPage(facts, parts, true));
    return sendPage(reply, answersPage(facts, answers, parts));
  };

  const sendMessage = (reply: FastifyReply, message: Message, names?: Names) => sendPage(reply, messagePage(message, texts, names));

  await app.register(async (pages) => {
    routeAllMethods(pages);
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bodyBytesMax }, (_, body, done) => done(null, body));
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

/** The link by which an adopter acts; undefined: it is another one. */
const linkOf = ({ id, number, purpose }: PageToken): AdopterLink | undefined =>
  purpose === 'withdraw' || purpose === 'erase' ? { id, number, act: purpose } : undefined;

const may: Readonly<Record<AdopterAct, (facts: PageFacts) => boolean>> = { withdraw: mayWithdraw, erase: mayErase };

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
