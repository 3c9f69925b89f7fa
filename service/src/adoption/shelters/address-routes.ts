import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requestSubject } from '../../platform/caller-addresses.ts';
import type { Config, Language } from '../../platform/config.ts';
import type { Transactor } from '../../platform/db/handles.ts';
import { type Html, html } from '../../platform/html.ts';
import { asAppError, noteError } from '../../platform/http/error-handler.ts';
import { isFromElsewhere } from '../../platform/http/protocol/browsers.ts';
import { messagePage } from '../adopter-page/page-html.ts';
import { filled, layout, pageHeaders } from '../adopter-page/page-layout.ts';
import { type Message, type PageTexts, pageTexts } from '../adopter-page/page-texts.ts';
import { type ShelterLinks, shelterPagesPath } from './shelter-links.ts';
import { confirmShelterAddress, findAddress } from './shelters.ts';

interface Parts {
  readonly db: Transactor;
  readonly links: ShelterLinks;
  /** The seconds until an address may ask again; 0: now. */
  readonly admit: (address: string) => Promise<number>;
  readonly now: () => number;
  readonly config: Pick<Config, 'language' | 'photosUrl' | 'publicUrl'>;
}

const bodyBytesMax = 1_024;

/** `{name}` is what store staff have confirmed, or the number of the shelter: the page has no word that a stranger could have written. */
const texts: Readonly<Record<Language, { readonly ask: Message; readonly yes: string; readonly done: Message; readonly name: string }>> = {
  en: {
    ask: {
      title: 'Is this your e-mail address?',
      text: '{email} was given as the address of {name}. If you confirm it, adopters who reply to messages about its animals reach you there, and you are told there when applications wait. If it is not yours, close this page.',
    },
    yes: 'Yes, confirm it',
    done: { title: 'The address is confirmed', text: 'From now on, mail about {name} comes to {email}. You can close this page.' },
    name: 'shelter {id}',
  },
};

/** Confirms the e-mail address of a shelter, by the link that was mailed there. Scanners of e-mail open links too: a GET changes nothing. */
export async function shelterAddressPages(app: FastifyInstance, { db, links, admit, now, config }: Parts): Promise<void> {
  const common: PageTexts = pageTexts[config.language];
  const { ask, yes, done, name } = texts[config.language];
  const headers = pageHeaders(config.photosUrl);
  const send = (reply: FastifyReply, page: Html) => reply.type('text/html; charset=utf-8').send(page.text);
  const namesOf = (id: bigint, found: { readonly name: string | null; readonly email: string }) => ({
    name: found.name ?? name.replace('{id}', String(id)),
    email: found.email,
  });

  const respond = async (request: FastifyRequest<{ Params: { token: string } }>, reply: FastifyReply): Promise<unknown> => {
    const link = links.read(request.params.token, now());
    const found = link && (await findAddress(db, link.shelterId));
    if (!found || !link.isOf(found.email)) return send(reply.status(404), messagePage(common.notFound, common));
    const names = namesOf(link.shelterId, found);
    if (request.method === 'POST') {
      if (isFromElsewhere(request, config.publicUrl)) return send(reply.status(403), messagePage(common.fromElsewhere, common));
      if (!(await confirmShelterAddress(db, link.shelterId, link.isOf)))
        return send(reply.status(404), messagePage(common.notFound, common));
      return send(reply, messagePage(done, common, names));
    }
    if (found.isConfirmed) return send(reply, messagePage(done, common, names));
    const main = html`<h1>${ask.title}</h1>
<section class="card">
<p>${filled(ask.text, names)}</p>
<form class="acts" method="post"><button class="button">${yes}</button></form>
</section>`;
    return send(reply, layout(common, { title: ask.title, shelter: undefined, main }));
  };

  await app.register(async (pages) => {
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bodyBytesMax }, (_, __, parsed) => parsed(null, undefined));
    pages.setErrorHandler((thrown, request, reply) => {
      const error = asAppError(thrown);
      noteError(error, request);
      const said = error.code === 'unavailable' ? common.unavailable : error.status >= 500 ? common.failed : common.notSupported;
      return send(reply.status(error.status).headers({ ...error.headers, ...headers }), messagePage(said, common));
    });
    pages.addHook('onRequest', async (request, reply) => {
      reply.headers(headers).header('x-request-id', request.id);
      const seconds = await admit(requestSubject(request));
      if (seconds > 0)
        return send(reply.status(429).header('retry-after', seconds), messagePage(common.tooManyRequests, common, { seconds }));
      return undefined;
    });
    pages.route({ method: ['GET', 'HEAD', 'POST'], url: `${shelterPagesPath}/:token`, schema: { hide: true }, handler: respond });
  });
}
