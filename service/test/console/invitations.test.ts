import { afterEach, expect, test } from 'vitest';
import { startMailServer } from '../../../testkit/mail-server.ts';
import { peopleMailKinds, readingPeopleMail } from '../../src/changes/mail/people-mail.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { Letters, openMailSender, sendAll } from '../mail-steps.ts';
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

test('with mail on, an invitation shows its link once, and the one that is mailed works too', async () => {
  const { text, path } = await invite(admin, 'grace@example.org');
  expect(wordsOf(text)).toContain('A mail to grace@example.org is queued. Send this link: it is shown once, and works once.');
  expect(wordsOf(text)).toContain('Mail Waits to be sent');
  await sendAll(sender);
  const after = await admin.open(path);
  expect(after.text).not.toContain('/invitation/');
  expect(wordsOf(after.text)).toContain('Mail Sent just now');
  const links = [linkIn(text), mailedLink()];
  expect(new Set(links).size).toBe(2);
  expect(await Promise.all(links.map(isOpen))).toEqual([true, true]);
});

test('to invite again after the mail was sent gives a link that works at once, and says when the next mail goes out', async () => {
  await invite(admin, 'alan@example.org');
  await sendAll(sender);
  expect(await isOpen(mailedLink())).toBe(true);
  const { text } = await invite(admin, 'alan@example.org', 'admin');
  expect(wordsOf(text)).toMatch(
    /One mail an hour goes to alan@example\.org: the next one in (?:59|60) min\. The link of the last one has ended\./,
  );
  expect(wordsOf(text)).toMatch(/Mail Goes out in (?:59 minutes|1 hour)/);
  expect(await isOpen(mailedLink())).toBe(false);
  expect(await isOpen(linkIn(text))).toBe(true);
});

test('an invitation that could not be delivered is shown on the page of the person', async () => {
  server.behaviour = { recipient: () => ({ code: 550, text: '5.1.1 no such user' }) };
  const { path } = await invite(admin, 'wrong@example.org');
  await sendAll(sender);
  expect(wordsOf((await admin.open(path)).text)).toContain('Mail Not delivered (550 5.1.1) Is the address right?');
});
