// Searches that are chosen to be slow. Each has another limit or place, so that hardly any is in the cache.
import { randomInt } from 'node:crypto';
import type { Response } from '../../testkit/http.ts';
import { worst } from '../../testkit/listing-searches.ts';
import { type Step, urlOf } from './attack.ts';
import { newWord } from './new-words.ts';

const wordsOfSearch = 8;
const searches = [
  worst['a word of most'],
  worst['two words of many'],
  worst['a word, near, newest'],
  worst['a word, near, relevant'],
  worst['facets of a word of most'],
  worst['facets of all'],
  worst['no match'],
];

export const searchSlowly = (step: Step): Promise<Response> => search(step, step.keys.partner, anySlow(step));
export const searchSlowlyForFree = (step: Step): Promise<Response> => search(step, step.target.freeKey, anySlow(step));

/** Half of the words are similar to words of the store. */
export function searchMisspelt(step: Step): Promise<Response> {
  const { animals } = step.target.samples;
  const similar = () => {
    const { name = '', breed = '' } = animals[randomInt(animals.length)] ?? {};
    return `${(name + breed).slice(0, 3 + randomInt(4))}x`;
  };
  const words = Array.from({ length: wordsOfSearch }, (_, i) => (i % 2 === 0 ? similar() : newWord()));
  return search(step, step.keys.partner, `q=${words.join('+')}`);
}

function anySlow({ target: { samples }, index }: Step): string {
  return searches[index % searches.length]?.(samples) ?? '';
}

function search({ http, target, index }: Step, key: string, query: string): Promise<Response> {
  const anywhere = target.samples.animals[randomInt(target.samples.animals.length)]?.near;
  const path = query.startsWith('/') ? `${query}&near=${anywhere}&withinKm=500` : `?${query}&limit=${1 + randomInt(100)}`;
  return http.send(`${urlOf(target, index)}/listings${path}`, { key });
}
