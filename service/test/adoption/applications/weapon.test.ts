// A form is filled in with the addresses of strangers, again and again. More: SUBMISSIONS=10000 npm test -- service/test/adoption/applications/weapon.test.ts
import { expect, test } from 'vitest';
import { startMailServer } from '../../../../testkit/mail-server.ts';
import { openMailSenders } from '../../../src/adoption/shelters/mail-senders.ts';
import { defaultScopes } from '../../../src/domain/scopes.ts';
import { addPet } from '../../adoption-steps.ts';
import { type ApplicationBody, apply, decide, submit } from '../../application-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { makeDue } from '../../mail-steps.ts';
import { addShelter } from '../../shelter-steps.ts';
import { openTestStore } from '../../test-store.ts';

const submissions = Number(process.env['SUBMISSIONS'] ?? 120);
const strangers = Math.min(100, submissions / 20);
/** Of one client. */
const perDayMax = 2;
const waitingMax = 3;
const atOnce = 4;

const server = disposeAfterAll(await startMailServer());
const store = await openTestStore({
  env: { HOMEWARD_SMTP_URL: server.url, HOMEWARD_MAIL_FROM: 'no-reply@store.example', HOMEWARD_PUBLIC_URL: 'https://store.example' },
});
const partner = await store.createKey();
const shelterId = BigInt(await addShelter(store));
const shelter = await store.createKey({ scopes: [...defaultScopes, 'shelter:manage'], shelterId });
const { id: petId } = await addPet(store, partner);
await store.write('update pets set shelter_id = $2 where id = $1', petId, shelterId);
const { mail } = store.dependencies.config;
if (!mail) throw new Error('mail is off');
const [sender] = await openMailSenders(store.dependencies, mail, { signal: new AbortController().signal, onOutcome: () => {} });

/** In other spellings that reach the same mailbox. */
const adopterOf = (i: number) => ({
  name: 'Stranger',
  email: `${i % 2 ? 'Stranger' : 'stranger'}.${i % strangers}+tag${i}@example.org`,
});

async function inTurns(work: (i: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < submissions; first += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, submissions - first) }, (_, k) => work(first + k)));
}

/** Messages by mailbox, once everything that is due was sent. */
async function mailboxes(): Promise<number[]> {
  if (!sender) throw new Error('no sender');
  for (let sent = -1; sent < server.accepted.length; ) {
    sent = server.accepted.length;
    await makeDue(store);
    for (let turns = 0; turns <= 3 * submissions && (await sender.sendNext()) > 0; turns += 1);
  }
  const byMailbox = Map.groupBy(server.accepted, ({ to }) =>
    String(to)
      .toLowerCase()
      .replace(/\+[^@]*/, ''),
  );
  return [...byMailbox.values()].map((all) => all.length);
}

const timeoutMs = 60_000 + submissions * 60;

test.each([
  ["a partner's key", partner],
  ["a shelter's key", shelter],
])(
  'with %s a stranger gets two messages a day, three applications of the mailbox wait at most, and staff see nothing',
  async (_, key) => {
    server.accepted.length = 0;
    await store.write('delete from mail_counts');
    const statuses: number[] = [];
    await inTurns(async (i) => statuses.push((await apply(store, key, petId, { adopter: adopterOf(i) })).status));
    expect(statuses.filter((status) => status === 201)).toHaveLength(waitingMax * strangers);
    expect(new Set(statuses)).toEqual(new Set([201, 409]));
    expect(Math.max(...(await mailboxes()))).toBe(perDayMax);
    const seen = await store.call<ApplicationBody[]>('GET', `/v1/applications?petId=${petId}`, {
      key: (await store.createKey({ scopes: [...defaultScopes, 'store:manage'] })).key,
    });
    expect(seen.json).toEqual([]);
    await store.write('delete from mail');
    await store.write('delete from applications');
  },
  timeoutMs,
);

test(
  'nor does a shelter that enters applications at the desk and declines them send strangers more',
  async () => {
    server.accepted.length = 0;
    await store.write('delete from mail_counts');
    await inTurns(async (i) => {
      const { status, json } = await apply(store, shelter, petId, { adopter: adopterOf(i), confirmed: true });
      if (status === 201) await decide(store, shelter, json.id, 'decline', { body: { message: 'Look at this' } });
    });
    expect(Math.max(...(await mailboxes()))).toBe(perDayMax);
    // Another adopter's application is told of as ever.
    const { id } = await submit(store, partner, petId, { adopter: { name: 'Ada', email: 'ada@example.org' } });
    await mailboxes();
    expect(server.accepted.filter(({ to }) => String(to) === 'ada@example.org')).toHaveLength(1);
    expect(id).toBeGreaterThan(0);
  },
  timeoutMs,
);
