// Writes that are within every limit, and meant to harm by what they cost others.
import type { Response } from '../../testkit/http.ts';
import { petOf, type Step, urlOf } from './attack.ts';
import { newWords } from './new-words.ts';

/** As many as fit into a description of 8,000 characters. */
const wordsOfDescription = 1_142;
/** Of a name or a breed: 100 characters at most. */
const wordsOfName = 14;

export function describeInNewWords({ http, target, keys, index }: Step): Promise<Response> {
  const breeds = { primary: newWords(wordsOfName), secondary: newWords(wordsOfName) };
  const body = { description: newWords(wordsOfDescription), breeds };
  return http.send(`${urlOf(target, index)}/pets/${petOf(target, index)}/profile`, { method: 'PUT', key: keys.shelter, body });
}

export function addNewWords({ http, target, keys, index }: Step): Promise<Response> {
  const body = { name: newWords(wordsOfName), categoryId: 1 };
  return http.send(`${urlOf(target, index)}/pets`, { method: 'POST', key: keys.shelter, body });
}

/** Sends what is there already. */
export function writeNothing({ http, target, keys, index }: Step): Promise<Response> {
  const url = `${urlOf(target, index)}/pets/${target.petIds[0]}`;
  if (index % 3 === 0) return http.send(url, { method: 'PATCH', key: keys.shelter, body: { name: hostileName } });
  if (index % 3 === 1) return http.send(`${url}/profile`, { method: 'PATCH', key: keys.shelter, body: { sex: 'unknown' } });
  return http.send(`${url}/shelter`, { method: 'PUT', key: keys.staff, body: { shelterId: target.shelterId } });
}

/** The name of all animals of the hostile shelter. */
export const hostileName = 'Nobody';

let wonOrderId: number | undefined;

/** Orders an animal that others order at the same moment. The one who gets it cancels before the next time. */
export async function orderWanted({ http, target, keys, index }: Step): Promise<Response> {
  const orders = `${urlOf(target, index)}/store/orders`;
  const won = wonOrderId;
  wonOrderId = undefined;
  if (won !== undefined) return http.send(`${orders}/${won}/cancel`, { method: 'POST', key: keys.partner });
  const body = { petId: target.petIds[1], adopter: { name: `Adopter ${index}`, email: `adopter${index}@example.org` } };
  const response = await http.send(orders, { method: 'POST', key: keys.partner, body });
  if (response.status === 201) wonOrderId = (JSON.parse(response.text) as { id: number }).id;
  return response;
}
