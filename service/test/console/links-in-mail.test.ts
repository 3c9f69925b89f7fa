// Every link that the store mails, opened by whom the message is for: adopters, shelters, and people of the console.
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { startMailServer } from '../../../testkit/mail-server.ts';
import { applicationMailKinds } from '../../src/adoption/applications/application-mail.ts';
import { farewellKind, linkMailKinds } from '../../src/adoption/applications/link-mail.ts';
import { addressMailKinds } from '../../src/adoption/shelters/address-mail.ts';
import { openMailSenders } from '../../src/adoption/shelters/mail-senders.ts';
import { peopleMailKinds } from '../../src/changes/mail/people-mail.ts';
import { disposeAfterAll } from '../dispose-after-all.ts';
import { sendAll } from '../mail-steps.ts';
import { Staff } from './adoption-site.ts';
import { openTestConsole, type TestBrowser } from './test-console.ts';

const publicUrl = 'https://store.example';
const server = disposeAfterAll(await startMailServer());
const site = await openTestConsole({
  env: { HOMEWARD_SMTP_URL: server.url, HOMEWARD_MAIL_FROM: 'no-reply@store.example', HOMEWARD_PUBLIC_URL: publicUrl },
});
const { store } = site;
const { config } = store.dependencies;
if (!config.mail) throw new Error('mail is off');
const senderWith = async (consoleUrl: string) => {
  const dependencies = { ...store.dependencies, config: { ...config, consoleUrl } };
  const [sender] = await openMailSenders(dependencies, config.mail as NonNullable<typeof config.mail>, {
    signal: new AbortController().signal,
    onOutcome: () => {},
  });
  if (!sender) throw new Error('no sender');
  return sender;
};

const shelterId = await addShelter('hello@danube.example');
const staff = await site.arrive({ role: 'admin', shelterId });
const decides = new Staff(site, staff.person);

async function addShelter(email: string): Promise<bigint> {
  const [row] = await store.write<{ id: bigint }>(
    `insert into shelters (name, email, timezone) values ('Danube Shelter', $1, 'Europe/Vienna') returning id`,
    email,
  );
  return row?.id ?? 0n;
}

/** An application for each kind, whose state the kind speaks of. */
const statusOf: Readonly<Record<string, string>> = {
  confirm: 'unconfirmed',
  declined: 'declined',
  closed: 'closed',
  withdrawn: 'withdrawn',
};

async function applied(kind: string): Promise<bigint> {
  const { id } = await decides.apply((await decides.addPet()).id, { isMailed: true });
  if (kind === 'accepted') await decides.decide(id, 'accept');
  const status = statusOf[kind];
  if (status !== undefined)
    await store.write(
      `update applications set status = $2::application_status, closed_reason = $3 where id = $1`,
      id,
      status,
      status === 'closed' ? 'cancelled' : null,
    );
  if (kind !== 'confirm') await store.write('update applications set is_confirmed = true where id = $1', id);
  const act = kind === 'withdraw_link' ? 'withdraw' : kind === 'erase_link' ? 'erase' : undefined;
  if (act) await store.write('insert into adopter_links (application_id, number, act) values ($1, 12345, $2)', id, act);
  return id;
}

async function invited(): Promise<bigint> {
  await site.invite({ email: 'new@example.org', shelterId });
  const [row] = await store.read<{ id: bigint }>(`select id from people where email = 'new@example.org'`);
  return row?.id ?? 0n;
}

async function raised(): Promise<bigint> {
  const { person } = await site.arrive({ role: 'volunteer', shelterId });
  await store.write(
    `update people set raised_role = 'staff', raised_shelter_id = $2, raised_until = now() + interval '1 day' where id = $1`,
    person.id,
    shelterId,
  );
  return person.id;
}

type Open = (path: string) => Promise<{ readonly status: number; readonly type: string; readonly text: string }>;
const inConsole =
  (browser: TestBrowser): Open =>
  async (path) => {
    const { status, headers, text } = await browser.open(path);
    return { status, type: headers.get('content-type') ?? '', text };
  };
const onPages: Open = async (path) => {
  const { status, headers, text } = await store.call('GET', path);
  return { status, type: String(headers['content-type']), text };
};
/** What the message is about; and who follows its link, with which words on the page. */
const readers: Readonly<Record<string, { readonly subject: () => Promise<bigint>; readonly open: Open; readonly words: RegExp }>> = {
  ...Object.fromEntries(
    ['confirm', 'received', 'accepted', 'declined', 'closed', ...Object.keys(linkMailKinds)].map((kind) => [
      kind,
      { subject: () => applied(kind), open: onPages, words: /application|erase/i },
    ]),
  ),
  shelter: {
    subject: async () => {
      await applied('received');
      return shelterId;
    },
    open: inConsole(staff),
    words: /Ada Lovelace/,
  },
  shelter_address: { subject: () => addShelter('new@danube.example'), open: onPages, words: /Is this your e-mail address/ },
  invitation: { subject: invited, open: inConsole(site.browser()), words: /Accept and sign in/ },
  raise: { subject: raised, open: inConsole(site.browser()), words: /Accept and sign in/ },
  sign_in_link: { subject: async () => staff.person.id, open: inConsole(site.browser()), words: /signs you in/ },
};

async function linksIn(kind: string, subjectId: bigint, consoleUrl: string): Promise<string[]> {
  server.accepted.length = 0;
  await store.write('delete from mail');
  if (kind === 'shelter_address') await store.write('update confirmed_shelters set email = null where shelter_id = $1', subjectId);
  await store.write(
    `insert into mail (kind, subject_id, is_single, due_at, waiting_since, recipient) values ($1, $2, false, now(), now(), $3)`,
    kind,
    subjectId,
    kind === farewellKind ? 'ada@example.org' : null,
  );
  expect(await sendAll(await senderWith(consoleUrl))).toEqual([]);
  expect([kind, server.accepted.length]).toEqual([kind, 1]);
  const { text = '' } = await PostalMime.parse(Buffer.from(server.accepted[0]?.raw ?? '', 'latin1'));
  return text.match(/https?:\/\/\S+/g) ?? [];
}

test('each message leads whoever gets it to a page', async () => {
  expect(Object.keys(readers).sort()).toEqual(Object.keys({ ...applicationMailKinds, ...addressMailKinds, ...peopleMailKinds }).sort());
  for (const [kind, { subject, open, words }] of Object.entries(readers)) {
    const links = await linksIn(kind, await subject(), site.url);
    expect([kind, links.length]).toEqual([kind, kind === farewellKind ? 0 : 1]);
    for (const link of links) {
      const { status, type, text } = await open(link.replace(publicUrl, '').replace(site.url, ''));
      expect({ kind, link, status, type }).toEqual({ kind, link, status: 200, type: 'text/html; charset=utf-8' });
      expect([kind, text]).toEqual([kind, expect.stringMatching(words)]);
    }
  }
});

test('a store without a console names the list for programs, and says so', async () => {
  const [link, ...others] = await linksIn('shelter', shelterId, '');
  expect([link, others]).toEqual([`${publicUrl}/v1/applications?shelterId=${shelterId}`, []]);
  expect(server.accepted[0]?.raw.replaceAll('=\r\n', '')).toContain('for programs with a key of your shelter');
});
