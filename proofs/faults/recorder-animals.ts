// The animals that clients use, as far as these know them. A few are used all the time, so that operations meet.
import type { AnimalValue } from './history.ts';

export interface KnownAnimal {
  readonly petId: number;
  readonly token: string;
  /** Undefined: it must be read before the next change. */
  seen: { readonly value: AnimalValue; readonly etag: string } | undefined;
  order: KnownOrder | undefined;
  changes: number;
  writesInFlight: number;
}

export interface KnownOrder {
  readonly token: string;
  readonly orderId: number;
  readonly partner: number;
  status: 'placed' | 'approved' | 'completed';
}

const recentMax = 100;
const listedTogether = 6;
/** The share of writes that may take an animal to which another write is under way. */
const collisionShare = 0.1;

export class Animals {
  readonly #used: KnownAnimal[] = [];
  readonly #recent: number[] = [];
  readonly #usedMax: number;

  constructor(usedMax: number) {
    this.#usedMax = usedMax;
  }

  /** A new animal is used if there is room, or sometimes in place of one without an order. */
  add(animal: KnownAnimal): void {
    this.#recent.push(animal.petId);
    if (this.#recent.length > recentMax) this.#recent.shift();
    if (this.#used.length < this.#usedMax) this.#used.push(animal);
    else if (Math.random() < 0.05) {
      const index = Math.floor(Math.random() * this.#used.length);
      if (!this.#used[index]?.order) this.#used[index] = animal;
    }
  }

  /** It is gone, or what became of it is not known. */
  drop(animal: KnownAnimal): void {
    const index = this.#used.indexOf(animal);
    if (index >= 0) this.#used.splice(index, 1);
  }

  /** For a write. */
  find(isSuitable: (animal: KnownAnimal) => boolean): KnownAnimal | undefined {
    const mayCollide = Math.random() < collisionShare;
    return this.#one(this.#used.filter((animal) => isSuitable(animal) && (mayCollide || animal.writesInFlight === 0)));
  }

  /** For a read by id. */
  anyId(): number | undefined {
    return Math.random() < 0.7 ? this.#one(this.#used)?.petId : this.#one(this.#recent);
  }

  /** Some that are always listed together, so that their page is in the caches of processes. */
  someIds(): readonly number[] {
    const from = listedTogether * Math.floor(Math.random() * Math.ceil(this.#used.length / listedTogether));
    return this.#used
      .slice(from, from + listedTogether)
      .map(({ petId }) => petId)
      .sort((a, b) => a - b);
  }

  #one<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(Math.random() * list.length)];
  }
}
