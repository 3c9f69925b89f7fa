import type { Person } from '../../src/access/people/people.ts';
import { Staff } from './adoption-site.ts';
import { addAnimal, addPasskeyRow } from './console-steps.ts';
import type { TestConsole } from './test-console.ts';

type Sample = (site: TestConsole, visitor: Person) => Promise<bigint> | bigint;

/** What stands in the place of an id in the path of a page. A page with an id that is not here fails the tests that open all pages. */
const samples: Readonly<Record<string, Sample>> = {
  personId: (_, { id }) => id,
  shelterId: (_, { shelterId }) => shelterId ?? 1n,
  petId: (site, { shelterId }) => addAnimal(site, { shelterId }),
  passkeyId: (site, { id }) => addPasskeyRow(site, id),
  actId: async (site, { id, shelterId }) => {
    const [act] = await site.store.write<{ id: bigint }>(
      `insert into undoable_acts (kind, person_id, pet_id, final_at, former, history_mark, application_mark)
        values ('photo_removed', $1, $2, now() + interval '2 minutes', '{}', 0, 0) returning id`,
      id,
      await addAnimal(site, { shelterId }),
    );
    return act?.id ?? 0n;
  },
  applicationId: async (site, { shelterId }) => applied(await staffOf(site, shelterId)),
  clientId: async (site, { shelterId }) => {
    const staff = await staffOf(site, shelterId);
    return (await staff.apply((await staff.addPet()).id)).clientId;
  },
  jobId: async (site, { shelterId }) => {
    const staff = await staffOf(site, shelterId);
    return staff.endAll((await staff.apply((await staff.addPet()).id)).clientId);
  },
  orderId: async (site, { shelterId }) => {
    const staff = await staffOf(site, shelterId);
    return (await staff.placeOrder((await staff.addPet()).id)).id;
  },
};

/** Volunteers can't decide: somebody of their shelter does. */
const staffOf = async (site: TestConsole, shelterId: bigint | null = null): Promise<Staff> =>
  new Staff(site, (await site.arrive({ role: 'staff', shelterId })).person);

async function applied(staff: Staff): Promise<bigint> {
  return (await staff.apply((await staff.addPet()).id)).id;
}

/** A path at which this person finds the page. */
export async function samplePath(site: TestConsole, path: string, visitor: Person): Promise<string> {
  let found = path;
  for (const [, name = ''] of path.matchAll(/:(\w+)/g)) {
    const sample = samples[name];
    if (!sample) throw new Error(`${path} needs a sample of ${name} in ${import.meta.filename}`);
    found = found.replace(`:${name}`, String(await sample(site, visitor)));
  }
  return found;
}
