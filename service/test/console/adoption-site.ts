// A console with two shelters, whose staff decide on animals and applications of their own.

import type { Person } from '../../src/access/people/people.ts';
import type { PersonCaller } from '../../src/access/principals/principals.ts';
import type { Application } from '../../src/adoption/applications/application-schemas.ts';
import { actOnApplication } from '../../src/adoption/applications/applications.ts';
import { startBulkEnd } from '../../src/adoption/applications/bulk-ends.ts';
import { settleApplications } from '../../src/adoption/applications/settling.ts';
import { submitApplication } from '../../src/adoption/applications/submissions.ts';
import type { Order } from '../../src/adoption/orders/order-schemas.ts';
import { actOnOrder, placeOrder } from '../../src/adoption/orders/orders.ts';
import type { Pet } from '../../src/animals/pets/pet-schemas.ts';
import { createPet } from '../../src/animals/pets/pets.ts';
import { theService } from '../../src/domain/actor.ts';
import type { ApplicationCallerAction } from '../../src/domain/application-states.ts';
import { actAs } from '../people-steps.ts';
import type { TestConsole } from './test-console.ts';

let count = 0;

/** What somebody of a shelter, or of the store, has to decide on. Animals of the store's people are in the first shelter. */
export class Staff {
  readonly site: TestConsole;
  readonly person: Pick<Person, 'id' | 'shelterId'>;
  #acting: Promise<PersonCaller> | undefined;

  constructor(site: TestConsole, person: Pick<Person, 'id' | 'shelterId'>) {
    this.site = site;
    this.person = person;
  }

  /** One session: a person who opens many ends the first. */
  #caller(): Promise<PersonCaller> {
    this.#acting ??= actAs(this.site.store, this.person);
    return this.#acting;
  }

  async addPet(name = 'Biscuit'): Promise<Pet> {
    const { catalogue } = this.site.store.dependencies;
    const caller = await this.#caller();
    const shelterId = this.person.shelterId ?? 1n;
    return catalogue.transaction(
      (tx) => createPet(tx, { name, categoryId: 1n }, caller, { categories: 'open', shelterId, registrant: undefined }),
      theService,
    );
  }

  async apply(petId: bigint, { name = 'Ada Lovelace', answers = {}, isMailed = false } = {}): Promise<Application> {
    const { db } = this.site.store.dependencies;
    const caller = await this.#caller();
    count += 1;
    const adopter = { name, email: `adopter-${count}@example.org`, phone: '+43 1 555 01 23' };
    const terms = { clientId: caller.clientId, bounds: caller.bounds, mails: isMailed };
    return db.transaction((tx) => submitApplication(tx, { petId, adopter, answers, confirmed: true }, caller, terms), theService);
  }

  async decide(id: bigint, action: ApplicationCallerAction): Promise<Application> {
    const caller = await this.#caller();
    return this.site.store.dependencies.catalogue.transaction(
      (tx) => actOnApplication(tx, id, action, caller, { orderExpirySeconds: 3_600 }),
      theService,
    );
  }

  /** Begins a job. Those before are done. */
  async endAll(clientId: bigint): Promise<bigint> {
    const caller = await this.#caller();
    const { db } = this.site.store.dependencies;
    await this.site.store.write(`update bulk_ends set state = 'done' where client_id = $1`, clientId);
    return db.transaction((tx) => startBulkEnd(tx, caller, caller, { clientId, petId: null }), theService);
  }

  async placeOrder(petId: bigint): Promise<Order> {
    const caller = await this.#caller();
    count += 1;
    return this.site.store.dependencies.catalogue.transaction(
      (tx) =>
        placeOrder(tx, { petId, adopter: { name: 'Eve', email: `adopter-${count}@example.org` } }, caller, {
          client: caller,
          expiresInSeconds: 3_600,
        }),
      theService,
    );
  }

  async cancel(orderId: bigint): Promise<Order> {
    const caller = await this.#caller();
    return this.site.store.dependencies.catalogue.transaction(
      (tx) => actOnOrder(tx, orderId, 'cancel', caller, settleApplications),
      theService,
    );
  }

  async statusOf(kind: 'applications' | 'orders' | 'pets', id: bigint): Promise<string | undefined> {
    const [row] = await this.site.store.read<{ status: string }>(`select status from ${kind} where id = $1`, id);
    return row?.status;
  }
}
