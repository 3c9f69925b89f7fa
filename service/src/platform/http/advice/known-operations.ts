import type { FastifyInstance } from 'fastify';
import { usualPathParts } from '../../../domain/usual-names.ts';
import { indexUsual, nameDistance } from './nearest-name.ts';

/** Longer paths, and those of more segments, are not compared: what a guess costs must not grow with what is sent. */
const pathLengthMax = 200;
const segmentsMax = 8;
const distanceMax = 2;
const usualParts = indexUsual(usualPathParts);
/** Our parts that are several segments. */
const longParts = Object.keys(usualPathParts).filter((part) => part.includes('/'));

interface Operation {
  readonly method: string;
  /** As documented, such as /v1/pets/{petId}. */
  readonly path: string;
  readonly segments: readonly string[];
}

/** The documented operations, to name one in place of another. What it knows is public: the same is in the OpenAPI document. */
export interface KnownOperations {
  /** The path that was probably meant, with the ids of the given one, or the one above it. Undefined: none is similar. */
  nearestPath(path: string): string | undefined;
  /** What to use in place of a method that the path does not have. Undefined: nothing is obvious. */
  insteadOf(method: string, path: string): string | undefined;
}

/** Call it before the routes are added. */
export function knowOperations(app: FastifyInstance): KnownOperations {
  const operations: Operation[] = [];
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (!schema?.operationId) return;
    const path = url.replaceAll(/:(\w+)/g, '{$1}');
    for (const one of [method].flat()) operations.push({ method: one, path, segments: path.split('/').slice(1) });
  });
  return {
    nearestPath: (path) => nearestPath(path, operations),
    insteadOf: (method, path) => operationInstead(method, path.replaceAll(/:(\w+)/g, '{$1}'), operations),
  };
}

function nearestPath(path: string, operations: readonly Operation[]): string | undefined {
  if (path.length > pathLengthMax) return undefined;
  const given = segmentsOf(path);
  if (given.length === 0 || given.length > segmentsMax) return undefined;
  return nearestTo(given, operations) ?? (given.length > 2 ? nearestTo(given.slice(0, -1), operations) : undefined);
}

function nearestTo(given: readonly string[], operations: readonly Operation[]): string | undefined {
  let nearest: { path: string; distance: number } | undefined;
  for (const segments of [given, ...expanded(given)]) {
    for (const operation of operations) {
      const distance = distanceOf(segments, operation.segments);
      if (distance <= distanceMax && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY)) {
        nearest = { path: filled(operation.segments, segments), distance };
      }
    }
  }
  return nearest?.path;
}

/** Without the version and what stands before it, a slash at the end and the ending of a file. */
function segmentsOf(path: string): string[] {
  const segments = path
    .replace(/\.(json|xml|php|html)$/i, '')
    .split('/')
    .filter((segment) => segment !== '');
  while (/^(api|rest|v\d{1,2}(\.\d{1,2})?)$/i.test(segments[0] ?? '')) segments.shift();
  return segments.length > 0 ? ['v1', ...segments] : [];
}

/** Readings in which one segment takes the place of several of ours: `orders` is `store/orders`. */
const expanded = (given: readonly string[]): string[][] =>
  longParts.flatMap((part) => {
    const index = given.findIndex((segment) => nameDistance(segment, part, usualParts) < 1);
    return index < 0 || given.length >= segmentsMax ? [] : [given.toSpliced(index, 1, ...part.split('/'))];
  });

/** Infinite if they are not similar. */
function distanceOf(given: readonly string[], known: readonly string[]): number {
  if (given.length !== known.length) return Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let i = 0; i < given.length && sum <= distanceMax; i += 1) sum += segmentDistance(given[i] ?? '', known[i] ?? '');
  return sum;
}

const segmentDistance = (given: string, known: string): number => {
  if (known.startsWith('{')) return isId(given) ? 0 : Number.POSITIVE_INFINITY;
  return given === known ? 0 : nameDistance(given, known, usualParts);
};

/** An id, or what a document shows in its place. */
const isId = (segment: string) => /^-?\d{1,19}$|^(\{|%7b)\w{1,20}(\}|%7d)$|^:\w{1,20}$/i.test(segment);

const filled = (known: readonly string[], given: readonly string[]): string =>
  `/${known.map((segment, i) => (segment.startsWith('{') && /^-?\d/.test(given[i] ?? '') ? given[i] : segment)).join('/')}`;

/** What other APIs change a thing with, the likeliest first. */
const changes: Readonly<Record<string, readonly string[]>> = { PUT: ['PATCH'], PATCH: ['PUT'], POST: ['PUT', 'PATCH'] };

/** The same at this path, with the id of one thing, or what is done to it by a path of its own. */
function operationInstead(method: string, path: string, operations: readonly Operation[]): string | undefined {
  const takes = (one: string, at: string) => operations.some((operation) => operation.method === one && operation.path === at);
  const mean = (one: string | undefined, at: string) => (one === undefined ? undefined : `Did you mean ${one} ${at}?`);
  if (method === 'GET' || method === 'HEAD') {
    const above = pathsAbove(path).find((one) => takes('GET', one));
    return above && mean('GET', above);
  }
  if (method === 'DELETE') return insteadBelow(method, path, operations);
  if (!changes[method]) return undefined;
  if (method === 'POST' && path.endsWith('}')) return insteadOfAdding(path, takes);
  const same = changes[method].find((one) => takes(one, path));
  const sent = ['POST', 'GET'].find((one) => takes(one, path));
  return mean(same, path) ?? insteadBelow(method, path, operations) ?? mean(sent, path);
}

/** The nearest first. */
const pathsAbove = (path: string): string[] => {
  const parts = path.split('/');
  return parts.map((_, i) => parts.slice(0, -1 - i).join('/'));
};

function insteadBelow(method: string, path: string, operations: readonly Operation[]): string | undefined {
  const depth = path.split('/').length;
  const below = operations.filter((one) => one.path.startsWith(`${path}/`) && one.segments.length === depth);
  const ofOne = below.filter((one) => one.path.endsWith('}'));
  const likely = [method, ...(changes[method] ?? [])];
  const same = likely.flatMap((one) => ofOne.find((operation) => operation.method === one) ?? [])[0];
  if (same) return `Did you mean ${same.method} ${same.path}?`;
  const acts = below.filter((one) => one.method === 'POST' && !one.path.endsWith('}')).map((one) => one.segments.at(-1) ?? '');
  const removing = acts.find((act) => nameDistance('delete', act, usualParts) < 1);
  if (method === 'DELETE' && removing) return `Did you mean POST ${path}/${removing}?`;
  return acts.length > 0
    ? `To change it, send POST ${path}/${acts[0]}${acts
        .slice(1)
        .map((act) => `, …/${act}`)
        .join('')}.`
    : undefined;
}

/** To the path of one thing, as other APIs change it, or as one would be added. */
function insteadOfAdding(path: string, takes: (method: string, path: string) => boolean): string | undefined {
  const above = path.slice(0, path.lastIndexOf('/'));
  const change = ['PATCH', 'PUT'].find((method) => takes(method, path));
  const advice = [...(change ? [`to change it, send ${change}`] : []), ...(takes('POST', above) ? [`to add one, send POST ${above}`] : [])];
  const text = advice.join('; ');
  return text === '' ? undefined : `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}
