// What a hostile partner does. Each attack has a client with the Business plan, and uses its 1,000 requests a minute: 16 a second.
// Beyond them it would be banned, and harmless. A client with the Free plan has 60 a minute.
import { addEndpoint, addToNewCategory, inventKey, orderListed, readDocument, sendBigBody, stream, useRevokedKey } from './api-attacks.ts';
import type { Attack } from './attack.ts';
import { sendSwellingPhoto } from './photo-attack.ts';
import { searchMisspelt, searchSlowly, searchSlowlyForFree } from './search-attacks.ts';
import { readNothing, readSlowly, sendHalfToMetrics } from './socket-attacks.ts';
import { addNewWords, describeInNewWords, orderWanted, writeNothing } from './write-attacks.ts';

export const attacks = {
  'slow searches': {
    'slow searches': { perSecond: 16, atOnce: 16, step: searchSlowly },
    'slow searches of a Free client': { perSecond: 1, atOnce: 6, step: searchSlowlyForFree },
  },
  'new words': {
    'profiles of a thousand new words': { perSecond: 3, step: describeInNewWords },
    'names of new words': { perSecond: 10, step: addNewWords },
    'misspelt words': { perSecond: 3, atOnce: 3, step: searchMisspelt },
  },
  'slow readers': {
    'sockets that read nothing': { perSecond: 1.5, atOnce: 3, step: readNothing },
    'sockets that read slowly': { perSecond: 0.5, atOnce: 1, step: readSlowly },
  },
  'swelling photos': { 'swelling photos': { perSecond: 0.2, atOnce: 2, step: sendSwellingPhoto } },
  'writes that change nothing': { 'writes that change nothing': { perSecond: 16, step: writeNothing } },
  'half requests to the metrics': { 'half requests to the metrics': { perSecond: 30, isFree: true, step: sendHalfToMetrics } },
  'a wanted animal': { 'orders for one animal': { perSecond: 16, atOnce: 16, step: orderWanted } },
  'orders of every animal': { 'orders of every animal': { perSecond: 16, atOnce: 4, step: orderListed } },
  streams: {
    'streams from the start': { perSecond: 4, step: (step) => stream(step, '') },
    'streams of a rare type': { perSecond: 4, step: (step) => stream(step, '?type=pet.removed') },
  },
  'junk writes': {
    'new categories': { perSecond: 8, step: addToNewCategory },
    'endpoints with control characters': { perSecond: 6, step: addEndpoint },
    'big bodies': { perSecond: 2, step: sendBigBody },
  },
  strangers: {
    'invented keys': { perSecond: 60, isFree: true, step: inventKey },
    'a revoked key': { perSecond: 20, isFree: true, step: useRevokedKey },
    '/openapi.json': { perSecond: 10, isFree: true, step: readDocument },
  },
} as const satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof attacks;
export const attackNames = Object.keys(attacks) as AttackName[];

/** The attacks at once, by one partner: its requests are divided among them. */
export const allTogether = 'all together';
