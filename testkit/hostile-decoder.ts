// A service in which an image has taken over the process that decodes it: it makes attempts in place of pictures.
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { StoredFile } from '../service/src/images/photo-store.ts';
import type { Targets } from './image-attempts.ts';
import { type Mutant, plantMutant } from './mutant.ts';

/** In the order of image-attempts.ts. */
export const attemptNames = [
  'a secret in its own environment',
  "a secret in its parent's environment",
  "a secret in any process's environment",
  'the photos',
  'the journal',
  'a file with a secret',
  'a file with settings',
  'PostgreSQL by TCP',
  'Redis by TCP',
  'another machine by TCP',
  'the resolution of a name',
  'a server by its Unix socket',
] as const;

const file = 'images/image-process.ts';
const attempts = readFileSync(new URL('./image-attempts.ts', import.meta.url), 'utf8').replaceAll(/^export /gm, '');

/** A smaller image is decoded: `homeward images` tries one before it listens. */
const hostileBytesMin = 1_000;

/** An image for the hostile process. */
export const hostileImage = (): StoredFile => ({ bytes: hostileBytesMin, stream: Readable.from([Buffer.alloc(hostileBytesMin)]) });

/** Without `confines`, the process does not confine itself before it reads an image: what then fails is what the deployment takes away. */
export function plantHostileDecoder(targets: Targets, { confines }: { readonly confines: boolean }): Mutant {
  const attempt = `async function attemptOrMake(image: Buffer) {
  if (image.length < ${hostileBytesMin}) return makePictures(image);
  return { result: { crashed: 'succeeded: ' + attemptAll(${JSON.stringify(targets)}) }, pictures: [] };
}`;
  const main = 'if (import.meta.main) {';
  const edits = [
    { file, from: main, to: `${attempts}\n${attempt}\n${main}` },
    { file, from: 'await makePictures(await readInput', to: 'await attemptOrMake(await readInput' },
  ];
  const free = { file, from: 'const sandbox = enterSandbox();', to: 'const sandbox = undefined;' };
  return plantMutant(confines ? edits : [...edits, free]);
}

/** What succeeded, by the outcome of an image that the hostile process was given. */
export function succeededAttempts(outcome: object): string[] {
  const [, list] = /^succeeded: ([\d,]*)$/.exec(String('crashed' in outcome ? outcome.crashed : '')) ?? [];
  if (list === undefined) throw new Error(`the attempts were not made: ${JSON.stringify(outcome)}`);
  return list
    .split(',')
    .filter(Boolean)
    .map((number) => attemptNames[Number(number) - 1] ?? number);
}
