// Applications with data that occurs nowhere else, so that a dump can be searched for it. A step that fails ends the test.

import { dumpDatabase, linesWith } from '../../testkit/dump.ts';
import { addPet } from './adoption-steps.ts';
import { type ApplicationBody, submit } from './application-steps.ts';
import type { TestKey, TestStore } from './test-store.ts';

export interface Applicant {
  readonly id: number;
  readonly petId: number;
  /** In everything that is stored about the adopter. */
  readonly word: string;
  readonly email: string;
}

let count = 0;

export async function apply(
  store: TestStore,
  { partner, manager }: { readonly partner: TestKey; readonly manager: TestKey },
  given: { readonly email?: string; readonly petId?: number } = {},
): Promise<Applicant> {
  const word = `applicant${++count}x`;
  const petId = given.petId ?? (await addPet(store, partner)).id;
  const email = given.email ?? `${word}@example.org`;
  const { id } = await submit(store, partner, petId, { adopter: { name: `Ada ${word}`, email, phone: `+43 ${word}` } });
  const answers = [{ question: 'home', text: 'Where do you live?', answer: `In a flat with ${word}` }];
  await store.write('update applications set answers = $2 where id = $1', id, JSON.stringify(answers));
  const noted = await store.call<ApplicationBody>('PATCH', `/v1/applications/${id}`, { key: manager.key, body: { note: `note ${word}` } });
  if (noted.status !== 200) throw new Error(`expected 200; got ${noted.status} ${noted.text}`);
  return { id, petId, word, email };
}

/** Stores it as one that the adopter has not confirmed, as if the store sent e-mail. */
export async function makeUnconfirmed(store: TestStore, { id }: Applicant): Promise<void> {
  await store.asOwner('delete from application_history where application_id = $1', id);
  await store.write(`update applications set status = 'unconfirmed', note = null, is_mailed = true where id = $1`, id);
}

/** The lines of a dump that contain one of the words. */
export async function findInDump(store: TestStore, ...words: string[]): Promise<string[]> {
  return linesWith(await dumpDatabase(store.databaseUrl), words);
}
