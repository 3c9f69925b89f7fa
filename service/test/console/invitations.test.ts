import { afterEach, expect, test } from 'vitest';
import { startMailServer } from '../../../testkit/mail-server.ts';
import { peopleMailKinds, readingPeopleMail } from '../../src/changes/mail/people-mail.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { Letters, makeDue, openMailSender, queue, sendAll } from '../mail-steps.ts';
import { openTestConsole, type TestBrowser, wordsOf } from './test-console.ts';

const server = disposeAfterAll(await startMailServer());
const site = await openTestConsole({
  env: {
    HOMEWARD_SMTP_URL: server.url,
    HOMEWARD_MAIL_FROM: 'no-reply@store.example',
    HOMEWARD_PUBLIC_URL: 'https://store.example',
  },
});
const { store } = site;
const { sender } = openMailSender(store, server, new Letters(), {
  kinds: peopleMailKinds,
  read: readingPeopleMail(store.dependencies.db, { consoleUrl: site.url, language: 'en' }, async () => undefined),
});
const admin = await site.arrive({ role: 'admin' });
afterEach(() => {
  server.behaviour = {};
  server.accepted.length = 0;
});

const linkIn = (text: string) => /\/invitation\/[\w-]{43}/.exec(text)?.[0] ?? '';
/** Its lines are folded. */
const mailedLink = () => linkIn(server.accepted[0]?.raw.replaceAll('=\r\n', '') ?? '');
const isOpen = async (path: string) => wordsOf((await site.browser().open(path)).text).includes('You are invited');

/** The page after it, and its path. */
async function invite(browser: TestBrowser, email: string, role = 'staff'): Promise<{ text: string; path: string }> {
  const sent = await browser.submit('/people/invite', '/people/invite', { email, role, reach: 'store' });
  const path = sent.location ?? '';
  return { path, text: (await browser.open(path)).text };
}

test('with mail on, the link of an invitation goes by mail alone: no page shows it', async () => {
  const { text, path } = await invite(admin, 'grace@example.org');
  expect(text).not.toContain('/invitation/');
  expect(wordsOf(text)).toContain('grace is invited for 72 hours. The link is mailed to grace@example.org.');
  expect(wordsOf(text)).toContain('Mail Waits to be sent');
  expect(await site.store.read('select from person_links where used_at is null')).toEqual([]);
  await sendAll(sender);
  const after = await admin.open(path);
  expect(after.text).not.toContain('/invitation/');
  expect(wordsOf(after.text)).toContain('Mail Sent just now');
  expect(await isOpen(mailedLink())).toBe(true);
});

test('to invite again ends the link from before, and mails one at once', async () => {
  await invite(admin, 'alan@example.org');
  await sendAll(sender);
  const first = mailedLink();
  server.accepted.length = 0;
  await invite(admin, 'alan@example.org', 'admin');
  expect(await isOpen(first)).toBe(false);
  await sendAll(sender);
  expect(await isOpen(mailedLink())).toBe(true);
});

test('an invitation that could not be delivered is shown on the page of the person', async () => {
  server.behaviour = { recipient: () => ({ code: 550, text: '5.1.1 no such user' }) };
  const { path } = await invite(admin, 'wrong@example.org');
  await sendAll(sender);
  expect(wordsOf((await admin.open(path)).text)).toContain('Mail Not delivered (550 5.1.1) Is the address right?');
});

test('an address gets three invitations a day, whatever forms of adopters were filled in with it, and the page says so of the next', async () => {
  const address = 'linus@example.org';
  const letters = new Letters();
  const { sender: toAdopters, outcomes } = openMailSender(store, server, letters);
  for (const subjectId of [1n, 2n, 3n, 4n]) letters.write(subjectId, { to: { address } });
  await queue(store, ...[...letters.keys()].map((subjectId) => ({ kind: 'confirm', subjectId })));
  await sendAll(toAdopters);
  expect(outcomes).toEqual(['sent', 'sent', 'sent', 'limited']);
  let path = '';
  for (let times = 0; times < 4; times += 1) {
    ({ path } = await invite(admin, address));
    await makeDue(store);
    await sendAll(sender);
  }
  expect(server.accepted.filter(({ to }) => to.includes(address))).toHaveLength(6);
  expect(wordsOf((await admin.open(path)).text)).toContain('Mail Not delivered (4.7.1 daily limit) It has had 3 such mails today');
});
