import type { Command } from 'commander';
import { linkUrl, type MintedLink, makeSignInLink, mint } from '../../access/people/links.ts';
import {
  changePerson,
  findPerson,
  findPersonOf,
  invitedShownMax,
  invitePerson,
  listInvited,
  listPeople,
  type Person,
  removePerson,
} from '../../access/people/people.ts';
import { PeopleError } from '../../access/people/people-error.ts';
import { queueInvitation, queueRaise } from '../../changes/mail/people-mail.ts';
import { theService } from '../../domain/actor.ts';
import { type Post, type Role, roles } from '../../domain/roles.ts';
import { type Config, ConfigError, type ReadConfig } from '../../platform/config.ts';
import type { Db } from '../../platform/db/handles.ts';
import {
  commandManager,
  type JournalOptions,
  openCommandJournal,
  reportMissingLine,
  withoutJournalOption,
} from '../terminal/command-records.ts';
import { type ConfirmOptions, confirm, named, UsageError } from '../terminal/output.ts';
import { addListAction, choiceOption, onStore, parseId, yesOption } from '../terminal/store-command.ts';

interface PlaceOptions {
  readonly role?: Role;
  readonly shelter?: bigint;
  readonly name?: string;
}

interface ChangeOptions extends PlaceOptions, JournalOptions {
  /** Of the store itself. */
  readonly store?: boolean;
}

export function addPeopleCommands(program: Command, config: ReadConfig): void {
  const people = program
    .command('people')
    .description('list, invite, change and remove those who work with the console, and make links to sign in');

  const list = people
    .command('list')
    .description('list people with their roles')
    .option('--shelter <id>', 'only those of this shelter', parseId)
    .option('--store', 'only those of the store itself');
  addListAction(list, config, {
    what: 'people',
    ifNone: 'There are no people. Invite the first: homeward people invite EMAIL --role admin',
    find: async ({ db }, page, { shelter, store }: { shelter?: bigint; store?: boolean }) => {
      if (shelter !== undefined && store) throw new UsageError('--shelter and --store contradict each other; give one.');
      const found = await listPeople(db, {
        ...page,
        ...(shelter !== undefined && { shelterId: shelter }),
        ...(store && { shelterId: null }),
      });
      return { found, filters: { shelter, ...(store && { store: '' }) } };
    },
    columns: (person) => ({
      id: person.id,
      email: person.email,
      name: person.name,
      role: person.role,
      of: placeOf(person),
      state: stateOf(person),
      'invited by': person.invitedBy ?? 'command',
      'last seen': person.lastSeenAt,
    }),
    leastImportant: ['name', 'invited by', 'last seen'],
  });

  const invite = people
    .command('invite')
    .description('invite someone to a shelter, or without --shelter to the store itself; again: the link from before ends')
    .argument('<email>', 'the address')
    .addOption(choiceOption('--role <role>', 'what the person may do', roles).makeOptionMandatory())
    .option('--shelter <id>', 'the shelter', parseId)
    .option('--name <name>', 'what the person is called (default: what comes before the @)');
  onStore(
    invite,
    config,
    (email: string, { role, shelter = null, name }: { role: Role; shelter?: bigint | null; name?: string }) =>
      async (dependencies) => {
        const { db, config: settings } = dependencies;
        const isMailed = settings.mail !== undefined;
        const invited = await asUsageError(
          db.transaction(async (tx) => {
            const invitation = await invitePerson(tx, commandManager(), { email, name, role, shelterId: shelter });
            if (isMailed) await queueInvitation(tx, invitation.person.id);
            return invitation;
          }, theService),
        );
        const { person, token, expiresAt } = invited;
        const url = linkUrl(consoleUrlOf(settings), 'invitation', token);
        return {
          json: { ...person, url, expiresAt, isMailed },
          text: [
            `Invited ${person.email} as ${postOf(person)}. The link works once, until ${expiresAt.toISOString()}:`,
            '',
            `  ${url}`,
            ...(isMailed ? ['', mailedToo] : []),
          ],
        };
      },
  );

  const change = people
    .command('change')
    .description('change the role, the shelter or the name of a person; more rights wait until the person follows a link, which is printed')
    .argument('<person>', 'the id or the address')
    .addOption(choiceOption('--role <role>', 'the new role', roles))
    .option('--shelter <id>', 'the new shelter', parseId)
    .option('--store', 'of the store itself from now on')
    .option('--name <name>', 'the new name')
    .option(...withoutJournalOption);
  onStore(change, config, (who: string, { role, shelter, store, name, ...options }: ChangeOptions) => {
    if (shelter !== undefined && store) throw new UsageError('--shelter and --store contradict each other; give one.');
    if (role === undefined && shelter === undefined && !store && name === undefined)
      throw new UsageError('Give what to change: --role, --shelter, --store or --name.');
    return async (dependencies) => {
      const { db, config: settings } = dependencies;
      const journal = await openCommandJournal(dependencies, options);
      const { id } = await getPerson(db, who);
      const shelterId = store ? null : shelter;
      const isMailed = settings.mail !== undefined;
      const { person, link, isJournaled } = await asUsageError(
        db.transaction(async (tx) => {
          const changed = await changePerson(tx, journal, commandManager(), id, { role, shelterId, name });
          if (!changed.isOffered) return { ...changed, link: undefined };
          if (isMailed) await queueRaise(tx, id);
          return { ...changed, link: await mint(tx, changed.person, 'raise') };
        }, theService),
      );
      if (!isJournaled) reportMissingLine(dependencies.config);
      const is = `${named(person.email, id)} is ${postOf(person)}`;
      if (!link) return { json: person, text: `${is}.` };
      const url = linkUrl(consoleUrlOf(settings), link.kind, link.token);
      return {
        json: { ...person, url, expiresAt: link.expiresAt, isMailed },
        text: [`${is}, and ${raiseText(link)}`, '', `  ${url}`, ...(isMailed ? ['', mailedToo] : [])],
      };
    };
  });

  const remove = people
    .command('remove')
    .description('remove a person: sessions, passkeys and links end at once; what the person has done stays')
    .argument('<person>', 'the id or the address')
    .option('--and-invited', 'also those whom the person has invited, but not those whom they have invited')
    .option(...withoutJournalOption)
    .option(...yesOption);
  onStore(
    remove,
    config,
    (who: string, options: ConfirmOptions & JournalOptions & { readonly andInvited?: boolean }) => async (dependencies) => {
      const { db } = dependencies;
      const journal = await openCommandJournal(dependencies, options);
      const person = await getPerson(db, who);
      const invited = await listInvited(db, commandManager(), person.id);
      const meant = options.andInvited ? [person, ...invited] : [person];
      await confirm(meant.map(({ email, id, role }) => `${named(email, id)}, ${role}`).join('\n'), 'Remove?', options);
      const others = meant.slice(1).map(({ id }) => id);
      const { isJournaled } = await asUsageError(
        db.transaction((tx) => removePerson(tx, journal, commandManager(), person.id, others), theService),
      );
      if (!isJournaled) reportMissingLine(dependencies.config);
      const left = options.andInvited ? [] : invited;
      const more = left.length === invitedShownMax ? ['  … there may be more'] : [];
      return {
        json: { id: person.id, email: person.email, removed: true, alsoRemoved: others, invitedAndLeft: left.map(({ id }) => id) },
        text: [
          ...meant.map(({ email, id }) => `${named(email, id)} was removed.`),
          ...(left.length > 0
            ? ['', 'Invited by this person, and still there:', ...left.map(({ email, id }) => `  ${named(email, id)}`), ...more]
            : []),
        ],
      };
    },
  );

  const link = people
    .command('link')
    .description(
      'make a link that signs a person in, once and within 10 minutes; who opens it acts as this person, with the rights that wait',
    )
    .argument('<email>', 'the address');
  onStore(link, config, (email: string) => async ({ db, config: settings }) => {
    const made = await asUsageError(db.transaction((tx) => makeSignInLink(tx, commandManager(), email), theService));
    const url = linkUrl(consoleUrlOf(settings), made.kind, made.token);
    const { id, email: address } = made.person;
    return {
      json: { id, email: address, kind: made.kind, url, expiresAt: made.expiresAt },
      text: [
        made.kind === 'raise' ? `${address} ${raiseText(made)}` : `Signs ${address} in, once, until ${made.expiresAt.toISOString()}:`,
        '',
        `  ${url}`,
      ],
    };
  });
}

const mailedToo = 'A mail with a link of its own is on its way.';

const placeOf = ({ shelterId }: Pick<Post, 'shelterId'>, store = 'store'): string => (shelterId === null ? store : `shelter ${shelterId}`);

const postOf = (post: Post): string => `${post.role} of ${placeOf(post, 'the store')}`;

const raiseText = ({ person, expiresAt }: MintedLink): string =>
  `becomes ${person.raise ? postOf(person.raise) : ''} by this link. It works once, until ${expiresAt.toISOString()}, and ends what the person signs in with now:`;

function stateOf({ invitedUntil, isOpen, raise }: Person): string {
  if (invitedUntil === null) return raise?.isOpen ? `active, ${postOf(raise)} by a link` : 'active';
  return isOpen ? 'invited' : 'invitation ended';
}

async function getPerson(db: Db, who: string): Promise<Person> {
  const person = /^\d+$/.test(who) ? await findPerson(db, parseId(who)) : await findPersonOf(db, who);
  if (!person) throw new UsageError(`There is no person ${who}. 'homeward people list' lists all.`);
  return person;
}

/** What the rules forbid is a mistake of the operator here. */
const asUsageError = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw error instanceof PeopleError ? new UsageError(error.message) : error;
  });

const loopback = new Set(['localhost', '127.0.0.1', '::1']);

/** Where people reach the console, as links to it are written. */
export function consoleUrlOf({ consoleUrl, consoleHost, consolePort }: Config): string {
  if (consoleUrl !== '') return consoleUrl;
  if (loopback.has(consoleHost) && consolePort !== 0) return `http://localhost:${consolePort}`;
  throw new ConfigError('HOMEWARD_CONSOLE_URL must be set, such as https://console.example.org: people reach the console there.');
}
