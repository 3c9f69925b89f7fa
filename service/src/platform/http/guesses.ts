import { usualFields, usualValues } from '../../domain/usual-names.ts';
import { indexUsual, isUsual, nearestName } from './nearest-name.ts';

const usualFieldIndex = indexUsual(usualFields);
const usualValueIndex = indexUsual(usualValues);

/** A sentence that names the field or parameter that was probably meant. Undefined: none of the known ones is similar. */
export function guessField(name: string, known: readonly string[]): string | undefined {
  const nearest = nearestField(name, known);
  return nearest === undefined ? undefined : `Did you mean ${nearest}?${noteOn(name, nearest)}`;
}

export const nearestField = (name: string, known: readonly string[]): string | undefined => nearestName(name, known, usualFieldIndex);

/** The same for one of the values that a field may have. */
export function guessValue(value: unknown, known: readonly unknown[]): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'boolean') return undefined;
  const names = known.filter((one): one is string => typeof one === 'string');
  const nearest = nearestName(String(value), names, usualValueIndex);
  return nearest === undefined ? undefined : `Did you mean ${nearest}?`;
}

/** What other APIs call it is not always the same thing. */
function noteOn(name: string, nearest: string): string {
  const note = isUsual(name, nearest, usualFieldIndex) ? usualFields[nearest]?.note : undefined;
  return note === undefined ? '' : ` ${note}`;
}
