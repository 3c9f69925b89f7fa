import { type Companion, companions } from '../../domain/profile-fields.ts';
import type { Part } from './phrase-filters.ts';
import {
  childrenLead,
  companionAdjectives,
  companionEnds,
  companionFaults,
  companionLeads,
  companionNouns,
  joints,
  positiveLeads,
} from './phrase-table.ts';
import { singulars, type Token, textOf } from './tokens.ts';

const listWordsMax = 12;
const leads: ReadonlySet<string> = new Set(companionLeads);
const adjectives: ReadonlySet<string> = new Set(companionAdjectives);
const ends: ReadonlySet<string> = new Set(companionEnds);
const faults: ReadonlySet<string> = new Set(companionFaults);
const jointWords: ReadonlySet<string> = new Set(joints);
const companionByNoun = new Map(companions.flatMap((companion) => companionNouns[companion].map((noun) => [noun, companion] as const)));

/** "good with cats and small kids", "dog friendly". */
export function companionsAt(tokens: readonly Token[], i: number): Part | undefined {
  for (let lead = 4; lead > 0; lead -= 1) {
    const text = textOf(tokens, i, lead);
    if (text === undefined || !(leads.has(text) || text === childrenLead)) continue;
    const found = companionList(tokens, i + lead);
    if (!found || (text === childrenLead && found.companions.some((one) => one !== 'children'))) continue;
    return { from: i, length: lead + found.length, filters: { goodWith: found.companions } };
  }
  const list = companionList(tokens, i);
  const end = list && tokens[i + list.length];
  return list && end && !end.isAfterBreak && ends.has(end.folded)
    ? { from: i, length: list.length + 1, filters: { goodWith: list.companions } }
    : undefined;
}

/** "cat free", "dog reactive". */
export function faultsAt(tokens: readonly Token[], i: number): Part | undefined {
  const list = companionList(tokens, i);
  const end = list && tokens[i + list.length];
  return list && end && !end.isAfterBreak && faults.has(end.folded)
    ? { from: i, length: list.length + 1, filters: { not: list.companions.map((one) => `goodWith:${one}`) } }
    : undefined;
}

export interface CompanionList {
  readonly companions: readonly Companion[];
  readonly length: number;
}

export function companionList(tokens: readonly Token[], from: number): CompanionList | undefined {
  const found: Companion[] = [];
  let end = from;
  for (let i = from; i < tokens.length && end - from < listWordsMax; ) {
    let at = i;
    const isJoined = found.length > 0 && tokens[at] !== undefined && (jointWords.has(tokens[at]?.folded ?? '') || tokens[at]?.isAfterBreak);
    if (found.length > 0 && !isJoined) break;
    if (found.length > 0 && jointWords.has(tokens[at]?.folded ?? '')) at += 1;
    while (adjectives.has(tokens[at]?.folded ?? '') && !tokens[at]?.isQuoted) at += 1;
    const token = tokens[at];
    const companion = token && !token.isQuoted ? companionOf(token.folded) : undefined;
    if (!companion) break;
    found.push(companion);
    end = at + 1;
    i = end;
  }
  return found.length === 0 ? undefined : { companions: [...new Set(found)], length: end - from };
}

const companionOf = (word: string) =>
  singulars(word)
    .map((form) => companionByNoun.get(form))
    .find((one) => one !== undefined);

/** "good with", also without what it is good with. */
export const isPositiveLead = (tokens: readonly Token[], i: number): boolean => positiveLeads.includes(tokens[i]?.folded ?? '');
