import type { FastifyReply, FastifyRequest } from 'fastify';
import { bindIdentity, findByIdentity } from '../../partners/people/identities.ts';
import { linkPaths } from '../../partners/people/link-url.ts';
import { askForSignInLink, type LinkKind, peekLink, useInvitation, useSignInLink } from '../../partners/people/links.ts';
import { findPasskey, recordPasskeyUse } from '../../partners/people/passkeys.ts';
import { PeopleError } from '../../partners/people/people-error.ts';
import { freshMs, type SignInMethod } from '../../partners/people/sessions.ts';
import { useOnce } from '../../partners/people/used-values.ts';
import type { Transaction, Transactor } from '../../platform/db/handles.ts';
import { networkOfAddress } from '../../platform/networks.ts';
import { onwardPage } from '../frame/layout.ts';
import { type Frame, send } from '../screens/frame.ts';
import { PageError } from '../screens/page-error.ts';
import { ownPath } from '../sessions/own-site.ts';
import { Workplaces } from '../sessions/workplaces.ts';
import type { MailLinks } from './mailed-links.ts';
import type { PasskeyCeremonies } from './passkey-ceremonies.ts';
import { type Flow, NotConfirmed, type Provider, ProviderAway } from './provider.ts';
import { endedLinkPage, invitationPage, linkPage, mailedPage, rejectedPage, signInPage, type Ways } from './sign-in-pages.ts';
import type { StrangerRoutes } from './strangers.ts';

interface Parts {
  readonly db: Transactor;
  readonly frame: Frame;
  readonly ceremonies: PasskeyCeremonies;
  readonly provider: Provider | undefined;
  readonly mailLinks: MailLinks | undefined;
}

/** What the cookie of a sign-in at the provider has. */
interface ProviderCookie {
  readonly flow: Flow;
  readonly to: string;
  /** Who signs in again, and in which session; undefined: who signs in. */
  readonly again?: { readonly personId: string; readonly sessionId: string };
  readonly endsAtMs: number;
}

const providerCookie = 'provider';
const flowMs = 300_000;
/** The provider's clock and ours. */
const skewMs = 60_000;
/** Every way in. Until a way has succeeded, nothing is stored: what must come back is in a sealed cookie. */
export function addSignIn(routes: StrangerRoutes, { db, frame, ceremonies, provider, mailLinks }: Parts): void {
  const { seals, cookies, clock, visitors, consoleUrl, assets } = frame.parts;
  const workplaces = new Workplaces(db);
  const ways: Ways = { mails: mailLinks !== undefined, provider: provider !== undefined };
  const toOf = ({ url }: FastifyRequest) => ownPath(new URLSearchParams(url.split('?', 2)[1]).get('to') ?? undefined, consoleUrl);
  const originOf = ({ ip }: FastifyRequest) => ({ network: networkOfAddress(ip) });

  routes.page('/sign-in', async (request, reply) =>
    request.visitor ? frame.redirect(reply, toOf(request)) : frame.sendToStranger(reply, signInPage(ways, { to: toOf(request) })),
  );

  routes.page('/sign-in/again', async (request, reply) => {
    const { visitor } = request;
    if (!visitor) return frame.redirect(reply, '/sign-in');
    return frame.sendToStranger(reply, signInPage(ways, { to: toOf(request), again: visitor.person }));
  });

  /** Opens a session in the transaction that has found out whose it is. */
  const signIn = (request: FastifyRequest, method: SignInMethod, work: (tx: Transaction) => Promise<{ readonly id: bigint }>) =>
    db.transaction(async (tx) => visitors.open(tx, request, (await work(tx)).id, method));

  routes.script('/sign-in/passkey/options', (_, reply) => ceremonies.startSigning(reply));

  routes.script('/sign-in/passkey', async (request, reply) => {
    const { response, to } = (request.body ?? {}) as { response?: unknown; to?: unknown };
    const { found, counter, challenge } = await ceremonies.finishSigning(request, reply, response, (id) => findPasskey(db, id));
    if (request.visitor && request.visitor.person.id !== found.person.id) throw otherPerson();
    const token = await signIn(request, 'passkey', async (tx) => {
      if (!(await useOnce(tx, 'passkey challenge', challenge.text, challenge.endsAt)))
        throw new PageError(403, '', 'This was sent before. Try again.');
      if (!(await recordPasskeyUse(tx, found.passkey.id, counter)))
        throw new PageError(
          403,
          '',
          'There is a copy of this passkey, so it is not accepted any more. Sign in in another way, and remove it.',
        );
      return found.person;
    });
    visitors.start(reply, token);
    return { next: ownPath(typeof to === 'string' ? to : undefined, consoleUrl) };
  });

  for (const kind of ['sign_in', 'invitation'] as const) {
    const path = linkPaths[kind];
    const tokenOf = ({ params }: FastifyRequest) => (params as { token: string }).token;
    routes.page(path, async (request, reply) => {
      const peeked = await peekLink(db, tokenOf(request));
      if (!peeked?.link.isOpen || peeked.link.kind !== kind) return frame.sendToStranger(reply.status(404), endedLinkPage(endedText(kind)));
      const { person } = peeked;
      const here = request.url.split('?', 1)[0] ?? '';
      if (kind === 'sign_in') return frame.sendToStranger(reply, linkPage(here, person.name));
      const { name } = await workplaces.get(person.shelterId);
      return frame.sendToStranger(reply, invitationPage(here, person.name, person.shelterId === null ? 'the whole store' : name));
    });
    routes.form(path, async (request, reply) => {
      try {
        const use = kind === 'sign_in' ? useSignInLink : useInvitation;
        visitors.start(reply, await signIn(request, 'link', (tx) => use(tx, tokenOf(request), originOf(request))));
      } catch (error) {
        if (!(error instanceof PeopleError)) throw error;
        return frame.sendToStranger(reply.status(403), endedLinkPage(error.message));
      }
      return frame.redirect(reply, '/me', 'You are signed in. Add a passkey, and this device signs you in from now on.');
    });
  }

  if (mailLinks)
    routes.form('/sign-in/mail', async ({ body }, reply) => {
      const email = body instanceof URLSearchParams ? (body.get('email') ?? '') : '';
      // Not awaited: how long it takes would tell whether somebody has the address.
      mailLinks.ask(() => askForSignInLink(db, email));
      return frame.sendToStranger(reply, mailedPage);
    });

  if (provider) addProvider(provider);

  function addProvider(provider: Provider): void {
    routes.page('/sign-in/provider', async (request, reply) => {
      const { visitor } = request;
      const nowMs = clock.now();
      const started = await provider.start({ again: visitor !== null, nowMs }).catch(ifAway);
      if (!started) return sendOtherWays(request, reply, toOf(request));
      const { url, flow } = started;
      const again = visitor && { personId: String(visitor.person.id), sessionId: String(visitor.session.id) };
      const value: ProviderCookie = { flow, to: toOf(request), endsAtMs: nowMs + flowMs, ...(again && { again }) };
      // Lax: the provider leads back from another site.
      cookies.write(reply, providerCookie, seals.sealValue('provider', value, nowMs + flowMs), {
        seconds: flowMs / 1_000,
        sameSite: 'Lax',
      });
      return reply.status(303).header('location', url.href).send();
    });

    routes.page('/sign-in/return', async (request, reply) => {
      const nowMs = clock.now();
      const given = seals.openValue<ProviderCookie>('provider', cookies.read(request, providerCookie), nowMs);
      cookies.forget(reply, providerCookie);
      if (!given) return reject(reply, 'That took longer than 5 minutes, or was begun in another browser.');
      const { flow, to, again, endsAtMs } = given;
      try {
        const { identity, email, authenticatedAtMs } = await provider.finish(request.url.split('?', 2)[1] ?? '', flow, nowMs);
        if (again && !(authenticatedAtMs !== undefined && authenticatedAtMs >= flow.startedAtMs - skewMs))
          throw new PeopleError('not_allowed', 'The provider did not ask you to sign in again.');
        const token = await db.transaction(async (tx) => {
          if (!(await useOnce(tx, 'provider state', flow.state, new Date(endsAtMs))))
            throw new PeopleError('ended', 'This was sent before.');
          const known = await findByIdentity(tx, identity);
          if (again && String(known?.id) !== again.personId) throw new PeopleError('not_allowed', otherPerson().message);
          if (!known && email === undefined)
            throw new PeopleError('not_allowed', 'The provider does not say that your e-mail address is verified.');
          const person = known ?? (await bindIdentity(tx, identity, email ?? '', originOf(request)));
          const given = again && { id: BigInt(again.sessionId), personId: BigInt(again.personId) };
          // Who is signed in at the provider comes back without a question: that shows nothing new. Unsaid, it is too long ago.
          const signedInAt = again ? undefined : new Date(authenticatedAtMs ?? nowMs - freshMs - skewMs);
          return visitors.open(tx, request, person.id, 'oidc', { given, signedInAt });
        });
        visitors.start(reply, token);
      } catch (error) {
        if (error instanceof ProviderAway) return sendOtherWays(request, reply, to);
        if (error instanceof NotConfirmed) {
          request.log.info({ err: error.cause }, 'the provider did not confirm who it is');
          return reject(reply, 'The provider did not confirm who you are.');
        }
        if (error instanceof PeopleError) return reject(reply, error.message);
        throw error;
      }
      return send(reply, onwardPage(assets, to));
    });
  }

  const sendOtherWays = ({ visitor }: FastifyRequest, reply: FastifyReply, to: string) =>
    frame.sendToStranger(reply.status(503), signInPage(ways, { to, again: visitor?.person, isProviderAway: true }));

  const reject = (reply: FastifyReply, text: string) => frame.sendToStranger(reply.status(403), rejectedPage(text));
}

const ifAway = (error: unknown): undefined => {
  if (!(error instanceof ProviderAway)) throw error;
};

const otherPerson = () => new PageError(403, '', 'This signs in somebody else. Sign out first.');

const endedText = (kind: LinkKind): string =>
  kind === 'sign_in'
    ? 'It was used before, or is older than 10 minutes. Ask for another one.'
    : 'It was used before, or has ended. Ask the admin who has invited you for another one.';
