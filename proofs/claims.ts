// Claims of the kinds that most proofs make.
import type { Verified } from '../testkit/adopters.ts';
import type { Claim } from './proof.ts';

export const grouped = (count: number) => count.toLocaleString('en');

/**
 * Nothing may be wrong; where it is counted among others, there must be some. Of a list, the first are shown. `control`: what must hold for
 * the count to mean something.
 */
export function none(
  claim: string,
  wrong: number | readonly string[],
  { of, more = '', control = true }: { of?: number | undefined; more?: string; control?: boolean } = {},
): Claim {
  const count = typeof wrong === 'number' ? wrong : wrong.length;
  const shown = typeof wrong === 'number' || count === 0 ? '' : ` (${wrong.slice(0, 3).join('; ')})`;
  const among = of === undefined ? '' : ` of ${grouped(of)}`;
  return { claim, bar: '0', figure: `${grouped(count)}${among}${more}${shown}`, holds: count === 0 && of !== 0 && control };
}

/** All must be right, and there must be some. */
export function every(claim: string, right: number, of: number): Claim {
  return { claim, bar: 'every one', figure: `${grouped(right)} of ${grouped(of)}`, holds: of > 0 && right === of };
}

export function noIllegalTransition({ violation, rows, holds }: Verified): Claim {
  const claim = '`homeward verify` finds no illegal transition';
  return { claim, bar: 'none', figure: violation ?? `none in ${grouped(rows)} rows`, holds };
}
