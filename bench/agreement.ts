// The comparison is fair only if every contender responds to every page with the same bytes.
import { HttpClient } from '../testkit/http.ts';
import { newAnimal, type Page } from './mix.ts';
import type { Load } from './scenarios.ts';

interface Received {
  readonly status: number;
  readonly text: string;
}

/** The responses to all requests of the load: to each page, or to one added animal. */
export async function responsesOf(
  origin: string,
  { load, pages, key }: { load: Load; pages: readonly Page[]; key: string },
): Promise<Received[]> {
  using http = new HttpClient();
  if (load === 'create') return [await http.send(`${origin}/v1/pets`, { key, method: 'POST', body: newAnimal })];
  const responses: Received[] = [];
  for (const { path, etag } of pages) {
    const headers = load === 'not-modified' ? { 'if-none-match': etag } : {};
    responses.push(await http.send(origin + path, { key, headers }));
  }
  return responses;
}

export function checkAgreement(name: string, load: Load, pages: readonly Page[], responses: readonly Received[]): void {
  if (load === 'create') {
    const [added] = responses;
    const text = added?.text.replace(/^\{"id":\d+,/, '{"id":0,');
    if (added?.status === 201 && text === JSON.stringify({ id: 0, ...newAnimal })) return;
    throw new Error(`${name} responds to a new animal with ${added?.status} ${added?.text}`);
  }
  for (const [i, { path, body }] of pages.entries()) {
    const response = responses[i];
    // Only Homeward knows its ETags.
    const isUnchanged = load === 'not-modified' && name === 'homeward';
    const expected = isUnchanged ? { status: 304, text: '' } : { status: 200, text: body };
    if (response?.status === expected.status && response.text === expected.text) continue;
    throw new Error(
      `${name} responds to ${path} with ${response?.status} ${response?.text.slice(0, 200)}, not ${expected.status} ${expected.text.slice(0, 200)}`,
    );
  }
}
