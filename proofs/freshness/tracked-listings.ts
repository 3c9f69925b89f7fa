// The animals of one category, changed by one writer in every way that a listing shows or a search asks for, so that every version that a
// search among them may find is known.
import { randomInt } from 'node:crypto';
import { queryStore } from '../../testkit/adopters.ts';
import type { HttpClient, Response } from '../../testkit/http.ts';
import type { Key, Store } from '../../testkit/store.ts';
import type { TrackedList } from './followed-lists.ts';

interface Shelter {
  readonly id: number;
  name: string;
  isNear: boolean;
}

/** What a listing shows, as far as the writer changes it. */
interface Shown {
  readonly id: number;
  status: string;
  description: string;
  sex: string;
  shelter: Shelter;
  photos: Array<{ readonly id: number; alt: string }>;
}

const animalCount = 5;
const photosPerAnimal = 3;
/** So that most lists are long enough to be compressed. */
const story = 'Once upon a time. '.repeat(20);
const statuses = ['available', 'pending', 'sold'];
const sexes = ['male', 'female'];
/** A word that some descriptions have. */
const word = 'fearless';
const latitudes = { near: 48, far: 10 };

/** What a search asks for, beside the category. */
export const searches = {
  none: { query: '', finds: () => true },
  words: { query: `&sort=newest&q=${word}`, finds: ({ description }) => description.includes(word) },
  filter: { query: '&sex=female', finds: ({ sex }) => sex === 'female' },
  place: { query: `&sort=newest&near=${latitudes.near},16&withinKm=50`, finds: ({ shelter }) => shelter.isNear },
  all: {
    query: `&sort=newest&q=${word}&sex=female&near=${latitudes.near},16&withinKm=50&status=available`,
    finds: ({ description, sex, shelter, status }) =>
      description.includes(word) && sex === 'female' && shelter.isNear && status === 'available',
  },
} as const satisfies Readonly<Record<string, Search>>;

interface Search {
  readonly query: string;
  finds(animal: Shown): boolean;
}

export class TrackedListings implements TrackedList {
  readonly path: string;
  readonly #search: Search;
  readonly #shelters: readonly Shelter[];
  /** The newest first, as the list has them. */
  readonly #animals: readonly Shown[];
  readonly #versions: string[] = [];

  private constructor(categoryId: number, search: Search, shelters: readonly Shelter[], animals: readonly Shown[]) {
    this.path = `/listings?limit=100&categoryId=${categoryId}${search.query}`;
    this.#search = search;
    this.#shelters = shelters;
    this.#animals = animals;
    this.#addVersion();
  }

  static async create(store: Store, http: HttpClient, { key }: Key, categoryId: number, search: Search): Promise<TrackedListings> {
    const url = store.processes[0]?.url ?? '';
    const post = async (path: string, body: object) => Number(read(await http.send(url + path, { method: 'POST', key, body }), 201).id);
    const shelters: Shelter[] = [];
    for (const name of ['One', 'Another']) {
      const id = await post('/shelters', { name, latitude: latitudes.near, longitude: 16 });
      shelters.push({ id, name, isNear: true });
    }
    const animals: Shown[] = [];
    for (let i = 0; i < animalCount; i += 1) {
      const id = await post('/pets', { name: `Animal ${i}`, categoryId });
      const photos = await insertPhotos(store, id);
      const shelter = shelters[0] as Shelter;
      read(await http.send(`${url}/pets/${id}/shelter`, { method: 'PUT', key, body: { shelterId: shelter.id } }), 200);
      read(await http.send(`${url}/pets/${id}/profile`, { method: 'PUT', key, body: { description: story, sex: 'male' } }), 200);
      animals.unshift({ id, status: 'available', description: story, sex: 'male', shelter, photos });
    }
    return new TrackedListings(categoryId, search, shelters, animals);
  }

  get acknowledged(): number {
    return this.#versions.length - 1;
  }

  versionOf(list: string, from: number): number | undefined {
    const version = this.#versions.indexOf(shownBy(list), from);
    return version === -1 ? undefined : version;
  }

  wasEver(list: string): boolean {
    return this.#versions.includes(shownBy(list));
  }

  async change(http: HttpClient, url: string, { key }: Key): Promise<void> {
    const animal = anyOf(this.#animals);
    const text = `Changed ${this.#versions.length}`;
    const send = async (method: string, path: string, body: object) => void read(await http.send(url + path, { method, key, body }), 200);
    switch (randomInt(8)) {
      case 0: {
        const description = `${text} ${randomInt(2) === 0 ? word : 'shy'} ${story}`;
        await send('PATCH', `/pets/${animal.id}/profile`, { description });
        animal.description = description;
        break;
      }
      case 1: {
        const photo = anyOf(animal.photos);
        await send('PATCH', `/pets/${animal.id}/photos/${photo.id}`, { alt: text });
        photo.alt = text;
        break;
      }
      case 2: {
        const last = animal.photos.at(-1) as Shown['photos'][number];
        await send('PATCH', `/pets/${animal.id}/photos/${last.id}`, { position: 0 });
        animal.photos = [last, ...animal.photos.slice(0, -1)];
        break;
      }
      case 3: {
        const shelter = anyOf(this.#shelters.filter((one) => one !== animal.shelter));
        await send('PUT', `/pets/${animal.id}/shelter`, { shelterId: shelter.id });
        animal.shelter = shelter;
        break;
      }
      case 4:
        await send('PATCH', `/shelters/${animal.shelter.id}`, { name: text });
        animal.shelter.name = text;
        break;
      case 5: {
        const sex = anyOf(sexes.filter((one) => one !== animal.sex));
        await send('PATCH', `/pets/${animal.id}/profile`, { sex });
        animal.sex = sex;
        break;
      }
      case 6: {
        const isNear = !animal.shelter.isNear;
        await send('PATCH', `/shelters/${animal.shelter.id}`, { latitude: isNear ? latitudes.near : latitudes.far });
        animal.shelter.isNear = isNear;
        break;
      }
      default: {
        const status = anyOf(statuses.filter((one) => one !== animal.status));
        await send('PATCH', `/pets/${animal.id}`, { status });
        animal.status = status;
      }
    }
    this.#addVersion();
  }

  #addVersion(): void {
    this.#versions.push(
      JSON.stringify(
        this.#animals
          .filter(this.#search.finds)
          .map(({ id, status, description, sex, shelter, photos }) => [
            id,
            status,
            description,
            sex,
            shelter.id,
            shelter.name,
            photos.map((photo) => [photo.id, photo.alt]),
          ]),
      ),
    );
  }
}

interface ListingBody {
  readonly pet: { readonly id: number; readonly status: string };
  readonly profile: { readonly description: string; readonly sex: string };
  readonly shelter: Pick<Shelter, 'id' | 'name'>;
  readonly photos: ReadonlyArray<{ readonly id: number; readonly alt: string }>;
}

const shownBy = (list: string) =>
  JSON.stringify(
    (JSON.parse(list) as ListingBody[]).map(({ pet, profile, shelter, photos }) => [
      pet.id,
      pet.status,
      profile.description,
      profile.sex,
      shelter.id,
      shelter.name,
      photos.map((photo) => [photo.id, photo.alt]),
    ]),
  );

/** As a worker has left them. To make pictures is not what is proved. */
async function insertPhotos(store: Store, petId: number): Promise<Shown['photos']> {
  const rows = await queryStore<{ id: string }>(
    store,
    `insert into photos (pet_id, client_id, position, alt, original_hash, original_name, status, width, height, placeholder, files)
      select $1::bigint, (select min(id) from clients), n, 'A photo', lpad(n::text, 64, '0'), 'originals/1', 'ready', 320, 240, 'x', '[]' from generate_series(0, $2::int - 1) n
      returning id::text`,
    [petId, photosPerAnimal],
  );
  return rows.map(({ id }) => ({ id: Number(id), alt: 'A photo' }));
}

function anyOf<T>(values: readonly T[]): T {
  return values[randomInt(values.length)] as T;
}

function read(response: Response, status: number): { readonly id: number } {
  if (response.status !== status) throw new Error(`a change got ${response.status}, not ${status}: ${response.text}`);
  return JSON.parse(response.text);
}
