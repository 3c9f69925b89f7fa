// A model of the store: its animals and orders, the pages that must list them, and the links to further pages.
export type ModelStatus = 'available' | 'pending' | 'sold';

export interface ModelAnimal {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: ModelStatus;
}

/** A query as it was sent, in order; a name may occur several times. */
export type Query = ReadonlyArray<readonly [name: string, value: string]>;

export interface ModelPage {
  readonly animals: readonly ModelAnimal[];
  readonly more: boolean;
  readonly limit: number;
  readonly filters: Filters;
}

interface Filters {
  readonly status: string | undefined;
  readonly categoryId: string | undefined;
  readonly ids: readonly string[];
}

export interface ModelOrder {
  readonly id: bigint;
  readonly petId: bigint;
  readonly client: string;
  status: 'placed' | 'cancelled';
}

/** A link to the next page from an earlier response. */
export interface ModelLink {
  readonly path: string;
  readonly cursor: string;
  readonly filters: Filters;
  readonly afterId: bigint;
}

const parameters = ['limit', 'status', 'categoryId', 'id', 'cursor'];
const orderParameters = ['limit', 'status', 'petId', 'cursor'];
const orderStatuses = ['placed', 'approved', 'completed', 'cancelled', 'expired', 'returned'];
const statuses = ['available', 'pending', 'sold'];
const idsMax = 100;

export class ModelStore {
  readonly animals: ModelAnimal[] = [];
  readonly orders: ModelOrder[] = [];
  readonly links: ModelLink[] = [];

  setStatus(id: bigint, status: ModelStatus): void {
    const index = this.animals.findIndex((animal) => animal.id === id);
    const animal = this.animals[index];
    if (animal) this.animals[index] = { ...animal, status };
  }

  find(id: bigint): ModelAnimal | undefined {
    return this.animals.find((animal) => animal.id === id);
  }

  /** The page, or an error code. */
  list(query: Query): ModelPage | 'invalid_query' | 'invalid_cursor' {
    const given = readQuery(query, parameters, ['id']);
    if (!given) return 'invalid_query';
    const { limit, one, all } = given;
    const [status, categoryId, ids] = [one('status'), one('categoryId'), all('id')];
    const areIds = [...ids, ...all('categoryId')].every((id) => readId(id) !== undefined);
    if (ids.length > idsMax || !areIds || (status !== undefined && !statuses.includes(status))) return 'invalid_query';
    const filters = { status, categoryId, ids };
    const cursor = one('cursor');
    const afterId = cursor === undefined ? 0n : this.#readCursor(cursor, filters);
    if (afterId === undefined) return 'invalid_cursor';
    const [wanted, category] = [ids.map(readId), categoryId === undefined ? undefined : readId(categoryId)];
    const matching = this.animals.filter(
      (animal) =>
        animal.id > afterId &&
        (status === undefined || animal.status === status) &&
        (category === undefined || animal.categoryId === category) &&
        (ids.length === 0 || wanted.includes(animal.id)),
    );
    return { animals: matching.slice(0, limit), more: matching.length > limit, limit, filters };
  }

  /** The first page of a client's orders, or an error code. The steps never send a valid cursor for orders. */
  listOrders(client: string, query: Query): { orders: ModelOrder[]; more: boolean } | 'invalid_query' | 'invalid_cursor' {
    const given = readQuery(query, orderParameters, []);
    if (!given) return 'invalid_query';
    const [status, petId] = [given.one('status'), given.one('petId')];
    const isValid = (status === undefined || orderStatuses.includes(status)) && (petId === undefined || readId(petId) !== undefined);
    if (!isValid) return 'invalid_query';
    if (given.one('cursor') !== undefined) return 'invalid_cursor';
    const matching = this.orders.filter(
      (order) =>
        order.client === client &&
        (status === undefined || order.status === status) &&
        (petId === undefined || order.petId === readId(petId)),
    );
    return { orders: matching.slice(0, given.limit), more: matching.length > given.limit };
  }

  /** Cursors are opaque: the model only knows those from earlier responses, each valid for the filters of its response. */
  #readCursor(cursor: string, filters: Filters): bigint | undefined {
    return this.links.find((link) => link.cursor === cursor && isSame(link.filters, filters))?.afterId;
  }
}

/** Undefined if a parameter is unknown or occurs twice, or if the limit is invalid. */
function readQuery(query: Query, known: readonly string[], repeatable: readonly string[]) {
  const all = (name: string) => query.filter(([given]) => given === name).map(([, value]) => value);
  if (query.some(([name]) => !known.includes(name))) return undefined;
  if (known.some((name) => !repeatable.includes(name) && all(name).length > 1)) return undefined;
  const [text = '20'] = all('limit');
  if (!/^([1-9]\d?|100)$/.test(text)) return undefined;
  return { limit: Number(text), one: (name: string) => all(name)[0], all };
}

const isSame = (a: Filters, b: Filters) => a.status === b.status && a.categoryId === b.categoryId && a.ids.join() === b.ids.join();

/** Reads an int64 from a path or a query; undefined if it is not one. */
export function readId(text: string): bigint | undefined {
  if (!/^(0|-?[1-9]\d*|-0)$/.test(text)) return undefined;
  const id = BigInt(text);
  return id === BigInt.asIntN(64, id) ? id : undefined;
}

/** Parses JSON with exact integers. */
export function readExactly(text: string): unknown {
  const exact = (_: string, value: unknown, { source = '' }: { source?: string } = {}) =>
    typeof value === 'number' ? BigInt(source) : value;
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

/** The fields of animals as text, for comparison. */
export const comparable = (animals: readonly ModelAnimal[]) =>
  JSON.stringify(animals.map(({ id, name, categoryId, status }) => [String(id), name, String(categoryId), status]));

export const comparableOrders = (orders: readonly ModelOrder[]) =>
  JSON.stringify(orders.map(({ id, petId, status }) => [String(id), String(petId), status]));
