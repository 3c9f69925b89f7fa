import { theService } from '../domain/actor.ts';
import { type ApplicationCallerAction, applicationActionsFrom } from '../domain/application-states.ts';
import type { Db } from '../platform/db/handles.ts';
import { addNames, findApplication, type NamedApplication } from '../store/applications/application-queries.ts';
import { readerOf } from '../store/applications/applications.ts';
import { named } from './names.ts';
import { UsageError } from './output.ts';

/** Like the store's staff, a command sees no application that its adopter has not confirmed. */
export const reader = readerOf(theService);

export async function getNamedApplication(db: Db, id: bigint): Promise<NamedApplication> {
  const application = await findApplication(db, reader, id);
  const [found] = application ? await addNames(db, [application]) : [];
  if (!found) throw new UsageError(`There is no application ${id}. 'homeward applications list' lists all.`);
  return found;
}

export const petOf = ({ pet, petId }: Pick<NamedApplication, 'pet' | 'petId'>): string => named(pet, petId);
export const clientOf = ({ client, clientId }: Pick<NamedApplication, 'client' | 'clientId'>): string => named(client, clientId);
export const adopterOf = ({ adopter }: Pick<NamedApplication, 'adopter'>): string => adopter?.name ?? 'an erased adopter';

type Internal = 'isMailed' | 'isConfirmed' | 'linkNumber' | 'isReopenable';

/** An application as `--json` prints it: with the actions that its status allows. */
export const withActions = ({
  isMailed: _,
  isConfirmed: __,
  linkNumber: ___,
  isReopenable,
  ...application
}: NamedApplication): Omit<NamedApplication, Internal> & { actions: ApplicationCallerAction[] } => ({
  ...application,
  actions: applicationActionsFrom({ status: application.status, isReopenable }),
});

/** The commands that the application's status allows. */
export const nextCommands = (application: Pick<NamedApplication, 'id' | 'status' | 'orderId' | 'isReopenable'>): string[] => {
  const { id, status, orderId } = application;
  return [
    // An accepted application ends with its order.
    ...(status === 'accepted' && orderId !== null ? [`homeward orders complete ${orderId}`] : []),
    ...applicationActionsFrom(application).map((action) => `homeward applications ${action} ${id}`),
  ];
};
