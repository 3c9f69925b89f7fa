import { type Charge, msUntilAdmitted, type Verdict } from './decide.ts';
import type { Limiter } from './limiter.ts';
import { addressQuotas, personQuotas, type Quota } from './plans.ts';

/** Who pays for a request. Addresses and people have a count for each purpose. */
export type Payer =
  | { readonly clientId: bigint; readonly quota: Quota }
  /** As `requestSubject` writes it. */
  | { readonly address: string; readonly purpose: keyof typeof addressQuotas }
  | { readonly personId: bigint; readonly purpose: keyof typeof personQuotas };

type Consume = Pick<Limiter, 'consume'>;

/**
 * Charges a payer for a request; cost 0 only reads the counts. The charge has no key, so a rejection is neither a strike nor a ban: those
 * are for programs with a key, and no person or address is banned.
 */
export async function charge(limiter: Consume, payer: Payer, cost: 0 | 1 = 1): Promise<Verdict> {
  const decision = await limiter.consume({ ...accountOf(payer), cost });
  if ('stale' in decision) throw new Error('a charge without a key has no epoch');
  return decision.verdict;
}

/** Charges a payer. Returns the ms to wait before the next attempt, which cost nothing; 0: admitted. */
export const chargeOrWait = async (limiter: Consume, payer: Payer): Promise<number> => msUntilAdmitted(await charge(limiter, payer));

/** The name of a client in Redis keys: of its counts and its epoch. */
export const clientSubject = (clientId: bigint) => `c${clientId}`;

/** The names of the counts are keys in Redis: processes of the release before count wrong keys under the bare address. */
function accountOf(payer: Payer): Pick<Charge, 'subject' | 'quota'> {
  if ('clientId' in payer) return { subject: clientSubject(payer.clientId), quota: payer.quota };
  if ('personId' in payer) return { subject: `p${payer.personId}:${payer.purpose}`, quota: personQuotas[payer.purpose] };
  const { address, purpose } = payer;
  return { subject: purpose === 'api' ? address : `${purpose}:${address}`, quota: addressQuotas[purpose] };
}
