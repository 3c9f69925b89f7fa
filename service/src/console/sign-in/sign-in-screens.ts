import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Origin } from '../../access/audit/audit.ts';
import { bindIdentity, bindOwnIdentity, findByIdentity, findPasskey, recordPasskeyUse, useOnce } from '../../access/people/credentials.ts';
import type { LinkBudget } from '../../access/people/link-budget.ts';
import { findLinkOwner, type LinkKind, linkPaths, peekLink, useInvitation, useRaise, useSignInLink } from '../../access/people/links.ts';
import { PeopleError } from '../../access/people/people-error.ts';
import { type FailedSignIns, freshMs, type WayIn } from '../../access/people/sessions.ts';
import { theService } from '../../domain/actor.ts';
import { networkOfAddress } from '../../platform/caller-addresses.ts';
import type { ServiceDb, Transaction } from '../../platform/db/handles.ts';
import type { Journal } from '../../platform/journal/journal.ts';
import { onwardPage } from '../frame/layout.ts';
import { ownPath } from '../screens/entrance.ts';
import { type Frame, send } from '../screens/frame.ts';
import { ifUnrecorded, PageError } from '../screens/page-error.ts';
import { Workplaces } from '../sessions/visitors.ts';
import type { LinkMailer } from './link-mailer.ts';
import type { PasskeyCeremonies } from './passkey-ceremonies.ts';
import { type Flow, NotConfirmed, type Provider, ProviderAway } from './provider.ts';
import {
  endedLinkPage,
  invitationPage,
  linkPage,
  mailedPage,
  notMailedPage,
  raisePage,
  rejectedPage,
  secondsOf,
  signInPage,
  type Ways,
} from './sign-in-pages.ts';
import type { StrangerRoutes } from './strangers.ts';

interface Parts {
  readonly db: ServiceDb;
  readonly frame: Frame;
  readonly ceremonies: PasskeyCeremonies;
  readonly provider: Provider | undefined;
  readonly linkMailer: LinkMailer | undefined;
  readonly linkBudget: LinkBudget;
  readonly failed: Pick<FailedSignIns, 'count'>;
  readonly journal: Journal;
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
/** Every way in. Until a way has succeeded, nothing is stored but a count: what must come back is in a sealed cookie. */
export function addSignIn(
  routes: StrangerRoutes,
  { db, frame, ceremonies, provider, linkMailer, linkBudget, failed, journal }: Parts,
): void {
  const { seals, cookies, clock, visitors, devices, consoleUrl, assets } = frame.parts;
  const workplaces = new Workplaces(db);
  const ways: Ways = { mails: linkMailer !== undefined, provider: provider !== undefined };
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

  /** Counts those who are rejected. */
  const counted = <T>(way: WayIn, { ip }: FastifyRequest, work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => {
      if (error instanceof PeopleError || (error instanceof PageError && error.status < 500)) failed.count(way, ip);
      throw error;
    });

  routes.script('/sign-in/passkey/options', (_, reply) => ceremonies.startSigning(reply));

  routes.script('/sign-in/passkey', async (request, reply) => {
    const { response, to } = (request.body ?? {}) as { response?: unknown; to?: unknown };
    const token = await counted('passkey', request, () => signInByPasskey(request, reply, response));
    visitors.start(reply, token);
    return { next: ownPath(typeof to === 'string' ? to : undefined, consoleUrl) };
  });

  async function signInByPasskey(request: FastifyRequest, reply: FastifyReply, response: unknown): Promise<string> {
    const { found, counter, challenge } = await ceremonies.finishSigning(request, reply, response, (id) => findPasskey(db, id));
    if (request.visitor && request.visitor.person.id !== found.person.id) throw otherPerson();
    const token = await db.transaction(async (tx) => {
      if (!(await useOnce(tx, 'passkey challenge', challenge.text, challenge.endsAt)))
        throw new PageError(403, '', 'This was sent before. Try again.');
      // Committed either way: who looks for the copy finds it in the audit.
      if (!(await recordPasskeyUse(tx, found, counter, originOf(request)))) return undefined;
      return visitors.open(tx, request, found.person.id, 'passkey');
    }, theService);
    if (token !== undefined) return token;
    throw new PageError(403, '', 'There is a copy of this passkey, so it is not accepted any more. Sign in in another way, and remove it.');
  }

  for (const kind of ['sign_in', 'invitation', 'raise'] as const) {
    const path = linkPaths[kind];
    const way: WayIn = kind === 'sign_in' ? 'link' : kind;
    const tokenOf = ({ params }: FastifyRequest) => (params as { token: string }).token;
    routes.page(path, async (request, reply) => {
      const peeked = await peekLink(db, tokenOf(request));
      // One that was used is opened again by its owner, or by a program that checks mail.
      if (!peeked) failed.count(way, request.ip);
      if (!peeked?.link.isOpen || peeked.link.kind !== kind)
        return frame.sendToStranger(reply.status(404), endedLinkPage(endedTexts[kind]));
      const { person } = peeked;
      const here = request.url.split('?', 1)[0] ?? '';
      if (kind === 'sign_in') return frame.sendToStranger(reply, linkPage(here, person.name));
      const post = kind === 'raise' && person.raise ? person.raise : person;
      const place = post.shelterId === null ? 'the whole store' : (await workplaces.get(post.shelterId)).name;
      return frame.sendToStranger(
        reply,
        kind === 'raise' ? raisePage(here, person.name, post.role, place) : invitationPage(here, person.name, place),
      );
    });
    routes.form(path, async (request, reply) => {
      try {
        const enter = async (tx: Transaction) => {
          const { person, isJournaled } = await useLink(tx, kind, tokenOf(request), originOf(request));
          return { token: await visitors.open(tx, request, person.id, 'link'), isJournaled };
        };
        const { token, isJournaled } = await counted(way, request, () => db.transaction(enter, theService));
        visitors.start(reply, token);
        const next = 'You are signed in. Add a passkey, and this device signs you in from now on.';
        return await frame.redirect(reply, '/me', `${next}${ifUnrecorded(isJournaled)}`);
      } catch (error) {
        if (!(error instanceof PeopleError)) throw error;
        return frame.sendToStranger(reply.status(403), endedLinkPage(error.message));
      }
    });
  }

  async function useLink(tx: Transaction, kind: LinkKind, token: string, origin: Origin) {
    if (kind === 'raise') return useRaise(tx, journal, token, origin);
    const person = await (kind === 'sign_in' ? useSignInLink : useInvitation)(tx, token, origin);
    return { person, isJournaled: true };
  }

  if (linkMailer)
    routes.form('/sign-in/mail', async (request, reply) => {
      const { body } = request;
      const email = body instanceof URLSearchParams ? (body.get('email') ?? '') : '';
      const turn = await linkBudget.take({ email, from: request.ip, deviceId: devices.idOf(request, email) });
      if (!turn.isGranted) return frame.sendToStranger(reply.status(429).header('retry-after', secondsOf(turn)), notMailedPage(turn));
      // Not awaited: how long it takes would tell whether somebody has the address.
      linkMailer.ask(() => findLinkOwner(db, email));
      return frame.sendToStranger(reply, mailedPage(turn));
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
      if (!given) return reject(request, reply, 'That took longer than 5 minutes, or was begun in another browser.');
      const { flow, to, again, endsAtMs } = given;
      try {
        const { identity, email, authenticatedAtMs } = await provider.finish(request.url.split('?', 2)[1] ?? '', flow, nowMs);
        if (again && !(authenticatedAtMs !== undefined && authenticatedAtMs >= flow.startedAtMs - skewMs))
          throw new PeopleError('not_allowed', 'The provider did not ask you to sign in again.');
        const token = await db.transaction(async (tx) => {
          if (!(await useOnce(tx, 'provider state', flow.state, new Date(endsAtMs))))
            throw new PeopleError('ended', 'This was sent before.');
          const given = again && { id: BigInt(again.sessionId), personId: BigInt(again.personId) };
          const known =
            (await findByIdentity(tx, identity)) ??
            (given && email !== undefined ? await bindOwnIdentity(tx, identity, email, given, originOf(request)) : undefined);
          if (again && String(known?.id) !== again.personId) throw new PeopleError('not_allowed', otherPerson().message);
          if (!known && email === undefined)
            throw new PeopleError('not_allowed', 'The provider does not say that your e-mail address is verified.');
          const person = known ?? (await bindIdentity(tx, identity, email ?? '', originOf(request)));
          // Who is signed in at the provider comes back without a question: that shows nothing new. Unsaid, it is too long ago.
          const signedInAt = again ? undefined : new Date(authenticatedAtMs ?? nowMs - freshMs - skewMs);
          return visitors.open(tx, request, person.id, 'oidc', { given, signedInAt });
        }, theService);
        visitors.start(reply, token);
      } catch (error) {
        if (error instanceof ProviderAway) return sendOtherWays(request, reply, to);
        if (error instanceof NotConfirmed) {
          request.log.info({ err: error.cause }, 'the provider did not confirm who it is');
          return reject(request, reply, 'The provider did not confirm who you are.');
        }
        if (error instanceof PeopleError) return reject(request, reply, error.message);
        throw error;
      }
      return send(reply, onwardPage(assets, to));
    });
  }

  const sendOtherWays = ({ visitor }: FastifyRequest, reply: FastifyReply, to: string) =>
    frame.sendToStranger(reply.status(503), signInPage(ways, { to, again: visitor?.person, isProviderAway: true }));

  function reject({ ip }: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
    failed.count('provider', ip);
    return frame.sendToStranger(reply.status(403), rejectedPage(text));
  }
}

const ifAway = (error: unknown): undefined => {
  if (!(error instanceof ProviderAway)) throw error;
};

const otherPerson = () => new PageError(403, '', 'This signs in somebody else. Sign out first.');

const endedTexts: Readonly<Record<LinkKind, string>> = {
  sign_in: 'It was used before, or is older than 10 minutes. Ask for another one.',
  invitation: 'It was used before, or has ended. Ask the admin who has invited you for another one.',
  raise: 'It was used before, or has ended. Ask the admin who has given you the role for another one.',
};
