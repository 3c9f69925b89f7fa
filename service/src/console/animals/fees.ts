import type { StoredProfile } from '../../domain/profile-fields.ts';

type Fee = NonNullable<StoredProfile['adoptionFee']>;

/** How many digits a currency has after the point: 2 for cents, none for yen. */
function digitsOf(currency: string): number {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  } catch {
    // Three letters that are no currency.
    return 2;
  }
}

/** 120.00, as it is typed. */
export const amountText = ({ amount, currency }: Fee): string => (amount / 10 ** digitsOf(currency)).toFixed(digitsOf(currency));

/** EUR 120.00 */
export const feeText = (fee: Fee): string => `${fee.currency} ${amountText(fee)}`;

/** The amount in the smallest units of the currency; undefined: it is no amount. */
export function amountOf(text: string, currency: string): number | undefined {
  const [, whole, decimals = ''] = /^(\d{1,12})(?:[.,](\d*))?$/.exec(text.trim()) ?? [];
  const digits = digitsOf(currency);
  if (whole === undefined || decimals.length > digits) return undefined;
  return Number(`${whole}${decimals.padEnd(digits, '0')}`);
}
