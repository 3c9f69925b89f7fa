// One category of animals, changed by one writer, so that every version that a list of it may show is known.
import { randomInt } from 'node:crypto';
import { act, adopterOf } from '../../testkit/adopters.ts';
import type { HttpClient, Response } from '../../testkit/http.ts';
import type { Key } from '../../testkit/store.ts';
import type { TrackedList } from './followed-lists.ts';

interface Animal {
  readonly id: number;
  readonly name: string;
  readonly status: string;
}

const animalsMax = 12;
/** So that most lists are long enough to be compressed. */
const surname = 'of the House of Many Words'.repeat(5);

export class TrackedCategory implements TrackedList {
  readonly categoryId: number;
  readonly path: string;
  /** The list as JSON after each change, starting with the empty list. */
  readonly #versions = ['[]'];
  #animals: Animal[] = [];
  readonly #orders = new Map<number, number>();

  constructor(categoryId: number) {
    this.categoryId = categoryId;
    this.path = `/pets?limit=100&categoryId=${categoryId}`;
  }

  get acknowledged(): number {
    return this.#versions.length - 1;
  }

  versionOf(list: string, from: number): number | undefined {
    const version = this.#versions.indexOf(list, from);
    return version === -1 ? undefined : version;
  }

  wasEver(list: string): boolean {
    return this.#versions.includes(list);
  }

  async change(http: HttpClient, url: string, manager: Key): Promise<void> {
    this.#animals = await this.#changed(http, url, manager);
    const list = this.#animals.map(({ id, name, status }) => ({ id, name, categoryId: this.categoryId, status }));
    this.#versions.push(JSON.stringify(list));
  }

  async #changed(http: HttpClient, url: string, manager: Key): Promise<Animal[]> {
    const { key } = manager;
    const animal = this.#animals[randomInt(Math.max(this.#animals.length, 1))];
    if (!animal || (this.#animals.length < animalsMax && randomInt(3) === 0)) {
      const name = `Animal ${this.#versions.length} ${surname}`;
      const added = await http.send(`${url}/pets`, { method: 'POST', key, body: { name, categoryId: this.categoryId } });
      return [...this.#animals, { id: idOf(added, 201), name, status: 'available' }];
    }
    const replaced = (changes: Partial<Animal>) => this.#animals.map((one) => (one === animal ? { ...animal, ...changes } : one));
    const order = this.#orders.get(animal.id);
    if (order !== undefined) {
      expect(await act(http, url, manager, order, 'cancel'), 200);
      this.#orders.delete(animal.id);
      return replaced({ status: 'available' });
    }
    switch (randomInt(3)) {
      case 0: {
        const placed = await http.send(`${url}/store/orders`, {
          method: 'POST',
          key,
          body: { petId: animal.id, adopter: adopterOf(animal.id) },
        });
        this.#orders.set(animal.id, idOf(placed, 201));
        return replaced({ status: 'pending' });
      }
      case 1: {
        const name = `Renamed ${this.#versions.length} ${surname}`;
        expect(await http.send(`${url}/pets/${animal.id}`, { method: 'PATCH', key, body: { name } }), 200);
        return replaced({ name });
      }
      default:
        expect(await http.send(`${url}/pets/${animal.id}`, { method: 'DELETE', key }), 204);
        return this.#animals.filter((one) => one !== animal);
    }
  }
}

const idOf = (response: Response, status: number): number => Number(JSON.parse(expect(response, status).text).id);

function expect(response: Response, status: number): Response {
  if (response.status !== status) throw new Error(`a change got ${response.status}, not ${status}: ${response.text}`);
  return response;
}
