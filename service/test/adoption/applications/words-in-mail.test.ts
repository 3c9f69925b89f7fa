// Whatever shelters, partners and adopters write, somebody who has confirmed no address is mailed the words of the operator alone.

import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { faultsOfMail, hostileNames } from '../../../../testkit/hostile-names.ts';
import { type ReceivedMail, startMailServer } from '../../../../testkit/mail-server.ts';
import { invitePerson } from '../../../src/access/people/people.ts';
import { queueAddressMail } from '../../../src/adoption/shelters/address-mail.ts';
import { openMailSenders } from '../../../src/adoption/shelters/mail-senders.ts';
import { queueInvitation } from '../../../src/changes/mail/people-mail.ts';
import { theService } from '../../../src/domain/actor.ts';
import { addPet } from '../../adoption-steps.ts';
import { disposeAfterAll } from '../../dispose-after-all.ts';
import { operator } from '../../people-steps.ts';
import { openTestStore } from '../../test-store.ts';

const server = disposeAfterAll(await startMailServer());
const store = await openTestStore({
  env: {
    HOMEWARD_SMTP_URL: server.url,
    HOMEWARD_MAIL_FROM: 'Riverside Animals <no-reply@store.example>',
    HOMEWARD_MAIL_REPLY_TO: 'help@store.example',
    HOMEWARD_PUBLIC_URL: 'https://store.example',
    HOMEWARD_CONSOLE_URL: 'https://console.store.example',
  },
});
const { config, db } = store.dependencies;
const partner = await store.createKey();
if (!config.mail) throw new Error('mail is off');
const senders = await openMailSenders(store.dependencies, config.mail, { signal: new AbortController().signal, onOutcome: () => {} });

const { id: first } = await addPet(store, partner);

/** In each text, so that no part of it gets through unseen. */
const marker = 'Zzrefundzz';
/** What PostgreSQL stores, with the marker on both sides. */
const texts = hostileNames.map((name, i) => {
  const stored = name.toWellFormed().replaceAll('\0', ' ');
  return `${`${marker}${i} ${stored}`.slice(0, 180)} ${marker}`;
});

const kinds = { confirm: 'unconfirmed', received: 'submitted', accepted: 'accepted', declined: 'declined', closed: 'closed' } as const;
const headers = [
  'auto-submitted',
  'content-language',
  'content-transfer-encoding',
  'content-type',
  'date',
  'from',
  'message-id',
  'mime-version',
  'reply-to',
  'subject',
  'to',
  'x-auto-response-suppress',
];

/** A shelter, its animal, and an application for each kind of mail, all of which say nothing but this text, also where no API would take it. */
async function addWords(text: string, n: number): Promise<void> {
  const line = text.slice(0, 40);
  const [shelter] = await store.write<{ id: bigint }>(
    `insert into shelters (name, description, email, phone, website, address, town, postcode, application_note, mail_received, mail_accepted)
      values ($1, $1, $2, $3, $1, $1, $4, $5, $1, $1, $1) returning id`,
    text,
    `shelter${n}@rival.example`,
    line,
    text.slice(0, 100),
    text.slice(0, 20),
  );
  const [pet] = await store.write<{ id: bigint }>(
    `insert into pets (name, category_id, status, shelter_id) select $1, category_id, status, $3 from pets where id = $2 returning id`,
    text,
    first,
    shelter?.id,
  );
  const id = pet?.id ?? 0n;
  await store.write('update confirmed_shelters set email = null where shelter_id = $1', shelter?.id);
  await db.transaction((tx) => queueAddressMail(tx, shelter?.id ?? 0n), theService);
  for (const [kind, status] of Object.entries(kinds)) {
    const email = `${kind}${n}@example.org`;
    const [order] =
      status === 'accepted'
        ? await store.write<{ id: bigint }>(
            `insert into orders (client_id, pet_id, status, adopter_name, adopter_email, expires_at) values ($1, $2, 'approved', $3, $4, now()) returning id`,
            partner.clientId,
            id,
            text,
            email,
          )
        : [];
    await store.write(
      `with applied as (
        insert into applications (client_id, pet_id, shelter_id, status, is_mailed, closed_reason, message, note, adopter_name, adopter_email,
            adopter_address, adopter_phone, answers, order_id)
          values ($1, $2, $3, $4, true, $5, $6, $7, $8, $9, $9, $10, $11, $12) returning id)
      insert into mail (kind, subject_id, is_single, due_at, waiting_since) select $13, id, false, now(), now() from applied`,
      partner.clientId,
      id,
      shelter?.id,
      status,
      status === 'closed' ? 'cancelled' : null,
      status === 'declined' ? text : null,
      status === 'unconfirmed' ? null : text,
      text,
      email,
      line,
      JSON.stringify([{ question: 'home', text, answer: text }]),
      order?.id ?? null,
      kind,
    );
  }
  const { person } = await db.transaction(
    (tx) => invitePerson(tx, operator, { email: `invited${n}@example.org`, role: 'staff', shelterId: shelter?.id ?? null }),
    theService,
  );
  await store.write('update people set name = $1 where id = $2', text, person.id);
  await db.transaction((tx) => queueInvitation(tx, person.id), theService);
}

/** All of it but for whom it is and where it leads. */
async function readWords({ to: [to = ''], raw }: ReceivedMail): Promise<{ kind: string; said: string; links: string[] }> {
  const { subject, text = '', from } = await PostalMime.parse(Buffer.from(raw, 'latin1'));
  return {
    kind: to.replace(/\d+@.*/, ''),
    said: JSON.stringify({ from, subject, text: text.replace(/https:\S+/, '{url}') }),
    links: text.match(/\S+:\/\/\S+/g) ?? [],
  };
}

test('500 hostile texts in every field of shelters, partners and adopters: none is in a message to an unconfirmed address', async () => {
  expect(texts).toHaveLength(500);
  for (const [n, text] of texts.entries()) await addWords(text, n);
  await Promise.all(
    senders.map(async (sender) => {
      while ((await sender.sendNext()) > 0);
    }),
  );
  expect(server.accepted).toHaveLength(texts.length * (Object.keys(kinds).length + 2));
  const found: Array<[string, string[]]> = [];
  const saidOf = new Map<string, Set<string>>();
  for (const mail of server.accepted) {
    const { kind, said, links } = await readWords(mail);
    saidOf.set(kind, (saidOf.get(kind) ?? new Set()).add(said));
    const faults = await faultsOfMail(mail, { to: mail.to[0] ?? '', replyTo: 'help@store.example', keys: headers });
    if (mail.from !== 'no-reply@store.example') faults.push('envelope');
    const isForeign = kind !== 'shelter' && `${mail.raw} ${said}`.includes('rival.example');
    if (isForeign || mail.raw.includes(marker) || said.includes(marker)) faults.push('words');
    if (links.length !== 1 || !/^https:\/\/(console\.)?store\.example\//.test(links[0] ?? '')) faults.push('links');
    if (faults.length > 0) found.push([mail.to.join(), faults]);
  }
  expect(found).toEqual([]);
  // Of each kind they are all the same.
  expect(Object.fromEntries([...saidOf].map(([kind, said]) => [kind, said.size]))).toEqual(
    Object.fromEntries([...Object.keys(kinds), 'invited', 'shelter'].map((kind) => [kind, 1])),
  );
}, 300_000);
