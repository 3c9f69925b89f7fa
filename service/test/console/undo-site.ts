// What can be undone, each as people do it in a console, and how the rows are before and after.

import { randomBytes } from 'node:crypto';
import type { UndoableKind } from '../../src/domain/undo.ts';
import { Staff } from './adoption-site.ts';
import type { Answer, TestBrowser, TestConsole } from './test-console.ts';

/** Somebody in front of a browser, for whom there is something to do. */
export interface Desk {
  readonly site: TestConsole;
  readonly staff: Staff;
  readonly browser: TestBrowser;
  readonly petId: bigint;
  /** Of those that wait for a decision. */
  readonly applicationIds: readonly bigint[];
}

/** An animal with a photo, for which three have applied. */
export async function prepareDesk(site: TestConsole, shelterId: bigint | null, role: 'staff' | 'admin' = 'staff'): Promise<Desk> {
  const browser = await site.arrive({ role, shelterId });
  const staff = new Staff(site, browser.person);
  const { id: petId } = await staff.addPet('Moose');
  for (const position of [0, 1]) await addPhotoRow(site, petId, position);
  const applicationIds = [];
  for (const name of ['Ada Lovelace', 'Ben Okri', 'Cleo Laine'])
    applicationIds.push((await staff.apply(petId, { name, isMailed: true })).id);
  await site.store.write(`update applications set is_confirmed = true where pet_id = $1`, petId);
  await site.store.write(`delete from mail`);
  return { site, browser, staff, petId, applicationIds };
}

/** A photo that is ready. No file is stored: only its rows are looked at. */
async function addPhotoRow({ store }: TestConsole, petId: bigint, position: number): Promise<void> {
  const hash = randomBytes(32).toString('hex');
  await store.write(
    `insert into photos (pet_id, client_id, position, status, alt, original_hash, original_name, width, height, placeholder, files, pictures_bytes)
      select $1, min(id), $2, 'ready', 'On the sofa', $3, 'originals/' || $3, 320, 240, 'x',
        jsonb_build_array(jsonb_build_object('width', 320, 'height', 240, 'hash', $3)), 1000 from clients`,
    petId,
    position,
    hash,
  );
}

interface Deed {
  /** Returns what does it: the preparation is over. */
  readonly prepare: (desk: Desk) => Promise<() => Promise<Answer>>;
  /** The messages that it queues. */
  readonly mails: number;
}

const [first, second] = [0, 1];
const accepted = async ({ staff, applicationIds }: Desk): Promise<bigint> =>
  (await staff.decide(applicationIds[first] ?? 0n, 'accept')).orderId ?? 0n;
const press =
  (browser: TestBrowser, page: string, action: string, values: Readonly<Record<string, string>> = {}) =>
  () =>
    browser.submit(page, action, values);

export const deeds: Readonly<Record<UndoableKind, Deed>> = {
  adopted: { mails: 3, prepare: async ({ browser, petId }) => press(browser, `/animals/${petId}/adopted`, `/animals/${petId}/sold`) },
  accepted: {
    mails: 1,
    prepare: async ({ browser, applicationIds }) => {
      const path = `/applications/${applicationIds[first]}/accept`;
      return press(browser, path, path);
    },
  },
  declined: {
    mails: 1,
    prepare: async ({ browser, applicationIds }) => {
      const path = `/applications/${applicationIds[second]}/decline`;
      return press(browser, path, path, { message: 'We are sorry.' });
    },
  },
  handed_over: {
    mails: 2,
    prepare: async (desk) => {
      const order = `/orders/${await accepted(desk)}`;
      return press(desk.browser, `${order}/hand-over`, `${order}/complete`);
    },
  },
  taken_back: {
    mails: 0,
    prepare: async (desk) => {
      const order = `/orders/${await accepted(desk)}`;
      await desk.browser.submit(`${order}/hand-over`, `${order}/complete`);
      return press(desk.browser, order, `${order}/return`);
    },
  },
  left: {
    mails: 3,
    prepare: async ({ browser, petId }) =>
      press(browser, `/animals/${petId}/leaving`, `/animals/${petId}/leaving/note`, { type: 'transferred' }),
  },
  removed: {
    mails: 3,
    prepare: async ({ browser, petId }) => press(browser, `/animals/${petId}/leaving`, `/animals/${petId}/leaving/remove`),
  },
  held: {
    mails: 0,
    prepare: async ({ browser, petId }) =>
      press(browser, `/animals/${petId}/hold`, `/animals/${petId}/hold/save`, { reason: 'medical', note: 'Eye drops' }),
  },
  hold_ended: {
    mails: 0,
    prepare: async ({ browser, petId }) => {
      await browser.submit(`/animals/${petId}/hold`, `/animals/${petId}/hold/save`, { reason: 'medical', note: 'Eye drops' });
      return press(browser, `/animals/${petId}/hold`, `/animals/${petId}/hold/end`);
    },
  },
  photo_removed: {
    mails: 0,
    prepare: async ({ browser, petId, site }) => {
      const [photo] = await site.store.read<{ id: bigint }>('select id from photos where pet_id = $1 order by position limit 1', petId);
      return press(browser, `/animals/${petId}/photos`, `/animals/${petId}/photos/${photo?.id}/remove`);
    },
  },
};

/** All that an act may change, without the times of changes. */
export async function stateOf({ store }: TestConsole, petId: bigint): Promise<unknown> {
  const [row] = await store.read<{ state: unknown }>(
    `select jsonb_build_object(
        'pet', (select to_jsonb(pets) - 'updated_at' from pets where id = $1),
        'orders', (select coalesce(jsonb_agg(to_jsonb(orders) - '{updated_at}'::text[] order by id), '[]') from orders
          where pet_id = $1 and status <> 'cancelled'),
        'applications', (select jsonb_agg(to_jsonb(applications) - '{updated_at,acted_at,order_id}'::text[] order by id)
          from applications where pet_id = $1),
        'photos', (select jsonb_agg(to_jsonb(photos) - 'updated_at' order by position, id) from photos where pet_id = $1)) as state`,
    petId,
  );
  return row?.state;
}

/** The last thing that was done with the animal. */
export async function lastAct({ store }: TestConsole, petId: bigint): Promise<{ id: bigint; kind: string; finalAt: Date } | undefined> {
  const [act] = await store.read<{ id: bigint; kind: string; finalAt: Date }>(
    'select id, kind, final_at as "finalAt" from undoable_acts where pet_id = $1 order by id desc limit 1',
    petId,
  );
  return act;
}

/** As if two minutes had passed, or were about to. */
export async function makeFinal({ store }: TestConsole, actId: bigint, inSeconds = 0): Promise<void> {
  await store.write('update undoable_acts set final_at = now() + make_interval(secs => $2) where id = $1', actId, inSeconds);
  await store.write(`update mail set due_at = now() + make_interval(secs => $2) where act_id = $1 and state = 'queued'`, actId, inSeconds);
}

export const undo = ({ browser }: Desk, actId: bigint): Promise<Answer> => browser.submit(`/acts/${actId}`, `/acts/${actId}/undo`);
