import { expect, test } from 'vitest';
import { queueInvitation, queueSignInLink, readingPeopleMail } from '../../../src/changes/mail/people-mail.ts';
import { askForSignInLink, useInvitation, useSignInLink } from '../../../src/partners/people/links.ts';
import { invitePerson } from '../../../src/partners/people/people.ts';
import { operator, origin } from '../../people-steps.ts';
import { openTestStore } from '../../test-store.ts';

const store = await openTestStore();
const { db } = store.dependencies;
const read = readingPeopleMail(db, { consoleUrl: 'https://console.example.org', language: 'en' }, async () => {
  throw new Error('not about people');
});
const readMail = (kind: string, subjectId: bigint) => read(db, { id: 1n, kind, subjectId, createdAt: new Date() });
const tokenOf = (text: string | undefined) => /\/(?:invitation|link)\/([\w-]{43})$/m.exec(text ?? '')?.[1] ?? '';
const invite = () =>
  db.transaction(async (tx) => {
    const invitation = await invitePerson(tx, operator, { email: 'ada@example.org', role: 'staff', shelterId: null });
    await queueInvitation(tx, invitation.person.id);
    return invitation;
  });

test('an invitation waits once, its row has no token, and the link that is mailed is accepted once', async () => {
  const { person, token } = await invite();
  await invite();
  const rows = await store.read<object>('select kind, subject_id, is_single, mail::text as row from mail');
  expect(rows).toEqual([{ kind: 'invitation', subject_id: person.id, is_single: true, row: expect.not.stringContaining(token) }]);
  const mail = await readMail('invitation', person.id);
  expect(mail).toMatchObject({ to: { address: 'ada@example.org' } });
  expect(mail?.text).toContain('\n\nhttps://console.example.org/invitation/');
  await db.transaction((tx) => useInvitation(tx, tokenOf(mail?.text), origin));
  await expect(db.transaction((tx) => useInvitation(tx, tokenOf(mail?.text), origin))).rejects.toThrow('used before');
  expect(await readMail('invitation', person.id)).toBeUndefined();
});

test('a link to sign in is mailed to the person who asked for it', async () => {
  const personId = await askForSignInLink(db, 'Ada@example.org');
  await db.transaction((tx) => queueSignInLink(tx, personId ?? 0n));
  const mail = await readMail('sign_in_link', personId ?? 0n);
  expect(mail?.text).toContain('\n\nhttps://console.example.org/link/');
  expect(await db.transaction((tx) => useSignInLink(tx, tokenOf(mail?.text)))).toMatchObject({ id: personId });
});

test('what is not about people is read by the others', async () => {
  await expect(readMail('confirm', 1n)).rejects.toThrow('not about people');
});
