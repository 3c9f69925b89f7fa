import type { Command } from 'commander';
import type { Dependencies } from '../dependencies.ts';
import { theService } from '../domain/actor.ts';
import { type ApplicationCallerAction, allowsApplicationAction, applicationCallerActions } from '../domain/application-states.ts';
import type { ReadConfig } from '../platform/config.ts';
import type { Db } from '../platform/db/handles.ts';
import type { NamedApplication } from '../store/applications/application-queries.ts';
import { ApplicationNoteSchema, DeclineSchema } from '../store/applications/application-schemas.ts';
import { actOnApplication, setNote } from '../store/applications/applications.ts';
import { rerunning } from '../store/applications/moved-meanwhile.ts';
import { countOfPet } from '../store/applications/place-queries.ts';
import { checkBySchema } from './checked-options.ts';
import { adopterOf, clientOf, getNamedApplication, petOf, withActions } from './named-applications.ts';
import { parseId } from './option-values.ts';
import { type Asked, confirm } from './output.ts';
import { onStore, type Result, yesOption } from './store-command.ts';

interface ActOptions extends Asked {
  readonly message?: string;
}

const descriptions: Readonly<Record<ApplicationCallerAction, string>> = {
  review: 'note that staff consider an application',
  accept: 'choose the adopter of an application: an approved order reserves the animal, and other applications stay open',
  decline: 'decline an application',
  reopen: 'consider an application again that was declined or closed, or withdrawn by a link of its adopter in the last 7 days',
  withdraw: 'withdraw an application, as its adopter has asked; if it is accepted, its order is cancelled',
};

/** The adopter is told, or an animal reserved or released. */
const asked: readonly ApplicationCallerAction[] = ['accept', 'decline', 'withdraw'];

export function addApplicationActionCommands(applications: Command, config: ReadConfig): void {
  for (const name of applicationCallerActions) {
    const command = applications.command(name).description(descriptions[name]).argument('<id>', 'the application', parseId);
    if (name === 'decline') command.option('--message <text>', 'what the adopter is told');
    if (asked.includes(name)) command.option(...yesOption);
    onStore(command, config, (id: bigint, options: ActOptions) => {
      if (options.message !== undefined) {
        checkBySchema({ type: 'object', properties: { '--message': DeclineSchema.properties.message } }, { '--message': options.message });
      }
      return async (dependencies) => act(dependencies, await getNamedApplication(dependencies.db, id), name, options);
    });
  }

  const note = applications
    .command('note')
    .description('set the note that only staff see; without a text, remove it')
    .argument('<id>', 'the application', parseId)
    .argument('[text]', 'the note');
  onStore(note, config, (id: bigint, text: string | undefined) => {
    checkBySchema(ApplicationNoteSchema, { note: text ?? null });
    return async ({ db }) => {
      await getNamedApplication(db, id);
      await db.transaction((tx) => setNote(tx, id, text ?? null, theService), theService);
      const done = text === undefined ? `Removed the note of application ${id}.` : `Set the note of application ${id}.`;
      return { json: withActions(await getNamedApplication(db, id)), text: done };
    };
  });
}

/** The same operation as the API's, done as the store's staff. */
async function act(
  { db, catalogue, config }: Dependencies,
  application: NamedApplication,
  name: ApplicationCallerAction,
  { message, ...options }: ActOptions,
): Promise<Result> {
  const { id } = application;
  // What is not allowed fails without a question.
  if (asked.includes(name) && allowsApplicationAction(application, name)) {
    const what = `Application ${id} of ${clientOf(application)}: ${adopterOf(application)} for ${petOf(application)}, ${application.status}`;
    await confirm(what, `${await consequence(db, application, name)}${capitalised(name)} it?`, options);
  }
  const { orderExpirySeconds } = config;
  await rerunning(catalogue).transaction((tx) => actOnApplication(tx, id, name, theService, { message, orderExpirySeconds }), theService);
  const changed = await getNamedApplication(db, id);
  return { json: withActions(changed), text: [`Application ${id} is ${changed.status}.`, ...(await effects(db, changed, application))] };
}

/** Said before the question. */
async function consequence(db: Db, application: NamedApplication, name: ApplicationCallerAction): Promise<string> {
  if (name === 'withdraw') return application.status === 'accepted' ? `Order ${application.orderId} is cancelled with it. ` : '';
  if (name !== 'accept') return '';
  return `An approved order reserves the animal. ${await describeOthers(db, application)}`;
}

/** Said afterwards. */
async function effects(db: Db, application: NamedApplication, before: NamedApplication): Promise<string[]> {
  const { orderId, petId, status } = application;
  if (status === 'accepted') {
    return [
      `Order ${orderId} reserves ${petOf(application)} for ${adopterOf(application)}. ${await describeOthers(db, application)}`.trimEnd(),
      '',
      'Next:',
      `  homeward orders complete ${orderId}`,
      `  homeward applications list --pet ${petId}`,
    ];
  }
  return before.status === 'accepted' ? [`Order ${orderId} is cancelled, and ${petOf(application)} is available.`] : [];
}

/** Of an open application. */
async function describeOthers(db: Db, { petId }: NamedApplication): Promise<string> {
  const others = (await countOfPet(db, petId)) - 1;
  if (others <= 0) return '';
  const [count, stay, are] =
    others === 1 ? ['1 other application', 'stays', 'It is'] : [`${others} other applications`, 'stay', 'They are'];
  return `${count} for the animal ${stay} open. ${are} closed when the order is completed. `;
}

const capitalised = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;
