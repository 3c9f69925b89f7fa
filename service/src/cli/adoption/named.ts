import { addNames, findApplication, type NamedApplication } from '../../adoption/applications/application-queries.ts';
import { readerOf } from '../../adoption/applications/applications.ts';
import { findNamedOrder, type NamedOrder } from '../../adoption/orders/order-queries.ts';
import { listBonded } from '../../animals/profiles/profiles.ts';
import { theService } from '../../domain/actor.ts';
import { type ApplicationCallerAction, applicationActionsFrom } from '../../domain/application-states.ts';
import { actionsFrom, type CallerAction } from '../../domain/order-states.ts';
import type { Db } from '../../platform/db/handles.ts';
import { named, UsageError } from '../terminal/output.ts';

export async function getNamedOrder(db: Db, id: bigint): Promise<NamedOrder> {
  const order = await findNamedOrder(db, id);
  if (!order) throw new UsageError(`There is no order ${id}. 'homeward orders list' lists all.`);
  return order;
}

/** An order as `--json` prints it: with the actions that its status allows. */
export const orderWithActions = (order: NamedOrder): NamedOrder & { actions: CallerAction[] } => ({
  ...order,
  actions: actionsFrom(order.status),
});

/** The commands that the order's status allows. */
export const nextOrderCommands = ({ id, status }: NamedOrder): string[] =>
  actionsFrom(status).map((action) => `homeward orders ${action} ${id}`);

/** Like the store's staff, a command sees no application that its adopter has not confirmed. */
export const applicationReader = readerOf(theService);

export async function getNamedApplication(db: Db, id: bigint): Promise<NamedApplication> {
  const application = await findApplication(db, applicationReader, id);
  const [found] = application ? await addNames(db, [application]) : [];
  if (!found) throw new UsageError(`There is no application ${id}. 'homeward applications list' lists all.`);
  return found;
}

export const petOf = ({ pet, petId }: Pick<NamedOrder, 'pet' | 'petId'>): string => named(pet, petId);
export const clientOf = ({ client, clientId }: Pick<NamedOrder, 'client' | 'clientId'>): string => named(client, clientId);
export const adopterOf = ({ adopter }: Pick<NamedApplication, 'adopter'>): string => adopter?.name ?? 'an erased adopter';

type Internal = 'isMailed' | 'isConfirmed' | 'linkNumber' | 'isReopenable';

/** An application as `--json` prints it: with the actions that its status allows. */
export const applicationWithActions = ({
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
export const nextApplicationCommands = (application: Pick<NamedApplication, 'id' | 'status' | 'orderId' | 'isReopenable'>): string[] => {
  const { id, status, orderId } = application;
  return [
    // An accepted application ends with its order.
    ...(status === 'accepted' && orderId !== null ? [`homeward orders complete ${orderId}`] : []),
    ...applicationActionsFrom(application).map((action) => `homeward applications ${action} ${id}`),
  ];
};

/** The animals that this one must be adopted together with. An order or an application is for one, so staff have to see the others. */
export async function findBond(db: Db, petId: bigint): Promise<string | undefined> {
  const pets = await listBonded(db, petId);
  return pets.length === 0 ? undefined : pets.map(({ id, name }) => named(name, id)).join(', ');
}
