// What a shelter writes of itself is on its pages as text, whatever it is.
import { beforeAll, expect, test } from 'vitest';
import { hostileMarkup } from '../../../testkit/hostile-markup.ts';
import { addShelter } from './console-steps.ts';
import { openTestConsole } from './test-console.ts';

const site = await openTestConsole();
const { store } = site;
const shelterId = await addShelter(site, 'Danube Shelter', 'Europe/Vienna');
const path = `/shelters/${shelterId}`;
const lengthMax = 900;

/** Several texts at once, as long as a field may be. */
function chunksOf(texts: readonly string[]): string[] {
  const chunks: string[] = [];
  for (const text of texts) {
    const last = chunks.at(-1);
    if (last !== undefined && [...last].length + [...text].length < lengthMax) chunks[chunks.length - 1] = `${last}\n${text}`;
    else chunks.push(text);
  }
  return chunks;
}

async function write(text: string): Promise<void> {
  const short = (length: number) => [...text].slice(0, length).join('');
  await store.write(
    `update shelters set name = $2, description = $3, phone = $4, address = $5, town = $6, postcode = $7, application_note = $3, mail_received = $3,
      mail_accepted = $3, website = $3, email = $2 where id = $1`,
    shelterId,
    ...[short(150), text, short(40), short(450), short(100), short(20)],
  );
  const question = { id: 'a', text: short(450), type: 'choice', options: [short(150), `${short(140)}!`], required: true };
  const next = { id: 'b', text: short(450), type: 'line', required: false, onlyIf: { question: 'a', is: question.options[0] } };
  await store.write(
    `insert into shelter_questions (shelter_id, questions) values ($1, $2) on conflict (shelter_id) do update set questions = excluded.questions`,
    shelterId,
    JSON.stringify([question, next]),
  );
}

const pages = ['', '/contact', '/adoption', '/mail', '/hours', '/questions', '/questions/edit?question=b'];
/** The elements of a page with the names of their attributes. */
const structureOf = (text: string) => [...text.matchAll(/<[^>]*>/g)].map(([element]) => element.replaceAll(/="[^"]*"/g, ''));

/** Each person may open some pages a minute. */
async function look(): Promise<string[][]> {
  const admin = await site.arrive({ role: 'admin', shelterId });
  const found: string[][] = [];
  for (const page of pages) {
    const { status, text } = await admin.get(`${path}${page}`);
    expect([page, status]).toEqual([page, 200]);
    found.push(structureOf(text));
    for (const [, target = ''] of text.matchAll(/(?:href|src|action|formaction)="([^"]*)"/g)) expect(target).toMatch(/^(\/|#)/);
  }
  return found;
}

let plain: string[][] = [];
beforeAll(async () => {
  await write('Biscuit');
  plain = await look();
});

test('2,000 hostile texts in every field of a shelter and of its questions add no element and no attribute to its pages', {
  timeout: 120_000,
}, async () => {
  expect(hostileMarkup).toHaveLength(2_000);
  for (const chunk of chunksOf(hostileMarkup)) {
    await write(chunk);
    expect({ chunk, structure: await look() }).toEqual({ chunk, structure: plain });
  }
});
