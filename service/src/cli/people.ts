import type { Command } from 'commander';
import { queueInvitation } from '../changes/mail/people-mail.ts';
import { type Role, roles } from '../domain/roles.ts';
import { linkUrl } from '../partners/people/link-url.ts';
import { makeSignInLink } from '../partners/people/links.ts';
import { changePerson, findPerson, findPersonOf, invitePerson, listPeople, type Person, removePerson } from '../partners/people/people.ts';
import { PeopleError } from '../partners/people/people-error.ts';
import type { ReadConfig } from '../platform/config.ts';
import type { Db } from '../platform/db/handles.ts';
import { commandManager } from './command-author.ts';
import { type JournalOptions, openCommandJournal, reportMissingLine, withoutJournalOption } from './command-journal.ts';
import { consoleUrlOf } from './console-url.ts';
import { addListAction } from './list-command.ts';
import { named } from './names.ts';
import { choiceOption, parseId } from './option-values.ts';
import { type Asked, confirm, UsageError } from './output.ts';
import { onStore, yesOption } from './store-command.ts';

interface PlaceOptions {
  readonly role?: Role;
  readonly shelter?: bigint;
  readonly name?: string;
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
      of: person.shelterId === null ? 'store' : `shelter ${person.shelterId}`,
      state: stateOf(person),
      'last seen': person.lastSeenAt,
    }),
    leastImportant: ['name', 'last seen'],
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
            return { ...invitation, mailAt: isMailed ? await queueInvitation(tx, invitation.person.id) : undefined };
          }),
        );
        const { person, token, expiresAt, mailAt } = invited;
        const url = linkUrl(consoleUrlOf(settings), 'invitation', token);
        return {
          json: { ...person, url, expiresAt, isMailed },
          text: [
            `Invited ${person.email} as ${role} of ${shelter === null ? 'the store' : `shelter ${shelter}`}. The link works once, until ${expiresAt.toISOString()}:`,
            '',
            `  ${url}`,
            ...(mailAt ? ['', `A mail with a link of its own is due at ${mailAt.toISOString()}.`] : []),
          ],
        };
      },
  );

  const change = people
    .command('change')
    .description('change the role, the shelter or the name of a person; it applies from the next page')
    .argument('<person>', 'the id or the address')
    .addOption(choiceOption('--role <role>', 'the new role', roles))
    .option('--shelter <id>', 'the new shelter', parseId)
    .option('--store', 'of the store itself from now on')
    .option('--name <name>', 'the new name');
  onStore(change, config, (who: string, { role, shelter, store, name }: PlaceOptions & { readonly store?: boolean }) => {
    if (shelter !== undefined && store) throw new UsageError('--shelter and --store contradict each other; give one.');
    if (role === undefined && shelter === undefined && !store && name === undefined)
      throw new UsageError('Give what to change: --role, --shelter, --store or --name.');
    return async ({ db }) => {
      const { id } = await getPerson(db, who);
      const shelterId = store ? null : shelter;
      const changed = await asUsageError(db.transaction((tx) => changePerson(tx, commandManager(), id, { role, shelterId, name })));
      return {
        json: changed,
        text: `${named(changed.email, id)} is ${changed.role} of ${changed.shelterId === null ? 'the store' : `shelter ${changed.shelterId}`}.`,
      };
    };
  });

  const remove = people
    .command('remove')
    .description('remove a person: sessions, passkeys and links end at once; what the person has done stays')
    .argument('<person>', 'the id or the address')
    .option(...withoutJournalOption)
    .option(...yesOption);
  onStore(remove, config, (who: string, options: Asked & JournalOptions) => async (dependencies) => {
    const { db } = dependencies;
    const journal = await openCommandJournal(dependencies, options);
    const { id, email, role } = await getPerson(db, who);
    await confirm(`${named(email, id)}, ${role}`, 'Remove?', options);
    const { isJournaled } = await asUsageError(db.transaction((tx) => removePerson(tx, journal, commandManager(), id)));
    if (!isJournaled) reportMissingLine(dependencies.config);
    return { json: { id, email, removed: true }, text: `${named(email, id)} was removed.` };
  });

  const link = people
    .command('link')
    .description('make a link that signs a person in, once and within 10 minutes; who opens it acts as this person')
    .argument('<email>', 'the address');
  onStore(link, config, (email: string) => async ({ db, config: settings }) => {
    const made = await asUsageError(db.transaction((tx) => makeSignInLink(tx, commandManager(), email)));
    const url = linkUrl(consoleUrlOf(settings), 'sign_in', made.token);
    return {
      json: { id: made.person.id, email: made.person.email, url, expiresAt: made.expiresAt },
      text: [`Signs ${made.person.email} in, once, until ${made.expiresAt.toISOString()}:`, '', `  ${url}`],
    };
  });
}

function stateOf({ invitedUntil, isOpen }: Person): string {
  if (invitedUntil === null) return 'active';
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
