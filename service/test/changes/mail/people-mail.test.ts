import { expect, test } from 'vitest';
import { findLinkOwner, useInvitation, useSignInLink } from '../../../src/access/people/links.ts';
import { invitePerson } from '../../../src/access/people/people.ts';
import { queueInvitation, queueSignInLink, readingPeopleMail } from '../../../src/changes/mail/people-mail.ts';
import { theService } from '../../../src/domain/actor.ts';
import { operator, origin } from '../../people-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const read = readingPeopleMail(db, { consoleUrl: 'https://console.example.org', language: 'en' }, async () => {
  throw new Error('not about people');
});
const readMail = (kind: string, subjectId: bigint) => read(db, { id: 1n, kind, subjectId, createdAt: new Date(), recipient: null });
const tokenOf = (text: string | undefined) => /\/(?:invitation|link)\/([\w-]{43})$/m.exec(text ?? '')?.[1] ?? '';
const invite = () =>
  db.transaction(async (tx) => {
    const invitation = await invitePerson(tx, operator, { email: 'ada@example.org', role: 'staff', shelterId: null });
    await queueInvitation(tx, invitation.person.id);
    return invitation;
  }, theService);

test('a mail with an invitation has no token in its row, and the link that is mailed is accepted once', async () => {
  const { person, token } = await invite();
  await invite();
  const rows = await store.read<object>('select kind, subject_id, is_single, mail::text as row from mail');
  const row = { kind: 'invitation', subject_id: person.id, is_single: false, row: expect.not.stringContaining(token) };
  expect(rows).toEqual([row, row]);
  const mail = await readMail('invitation', person.id);
  expect(mail).toMatchObject({ to: { address: 'ada@example.org' } });
  expect(mail?.text).toContain('\n\nhttps://console.example.org/invitation/');
  await db.transaction((tx) => useInvitation(tx, tokenOf(mail?.text), origin), theService);
  await expect(db.transaction((tx) => useInvitation(tx, tokenOf(mail?.text), origin), theService)).rejects.toThrow('used before');
  expect(await readMail('invitation', person.id)).toBeUndefined();
});

test('a link to sign in is mailed to the person who asked for it', async () => {
  const personId = await findLinkOwner(db, 'Ada@example.org');
  await db.transaction((tx) => queueSignInLink(tx, personId ?? 0n), theService);
  const mail = await readMail('sign_in_link', personId ?? 0n);
  expect(mail?.text).toContain('\n\nhttps://console.example.org/link/');
  expect(await db.transaction((tx) => useSignInLink(tx, tokenOf(mail?.text)), theService)).toMatchObject({ id: personId });
});

test('what is not about people is read by the others', async () => {
  await expect(readMail('confirm', 1n)).rejects.toThrow('not about people');
});
