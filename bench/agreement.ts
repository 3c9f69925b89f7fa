// What is compared must be the same: every contender answers every page with the same bytes.
import { HttpClient } from '../testkit/http.ts';
import { newAnimal, type Page } from './mix.ts';
import type { Load } from './scenarios.ts';

interface Given {
  readonly status: number;
  readonly text: string;
}

/** The answers to all that the load holds: to each page, or to one added animal. */
export async function answersOf(
  origin: string,
  { load, pages, key }: { load: Load; pages: readonly Page[]; key: string },
): Promise<Given[]> {
  using http = new HttpClient();
  if (load === 'create') return [await http.send(`${origin}/v1/pets`, { key, method: 'POST', body: newAnimal })];
  const answers: Given[] = [];
  for (const { path, etag } of pages) {
    const headers = load === 'not-modified' ? { 'if-none-match': etag } : {};
    answers.push(await http.send(origin + path, { key, headers }));
  }
  return answers;
}

export function checkAgreement(name: string, load: Load, pages: readonly Page[], answers: readonly Given[]): void {
  if (load === 'create') {
    const [added] = answers;
    const text = added?.text.replace(/^\{"id":\d+,/, '{"id":0,');
    if (added?.status === 201 && text === JSON.stringify({ id: 0, ...newAnimal })) return;
    throw new Error(`${name} answers a new animal with ${added?.status} ${added?.text}`);
  }
  for (const [i, { path, body }] of pages.entries()) {
    const answer = answers[i];
    // Only what is Homeward's knows its ETags.
    const isUnchanged = load === 'not-modified' && name === 'homeward';
    const expected = isUnchanged ? { status: 304, text: '' } : { status: 200, text: body };
    if (answer?.status === expected.status && answer.text === expected.text) continue;
    throw new Error(
      `${name} answers ${path} with ${answer?.status} ${answer?.text.slice(0, 200)}, not ${expected.status} ${expected.text.slice(0, 200)}`,
    );
  }
}
