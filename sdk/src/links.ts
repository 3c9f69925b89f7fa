/** The target of a Link header's relation, as it stands there. */
export function linkOf(headers: Headers, relation: string): string | undefined {
  for (const [, target, parameters = ''] of (headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    if (parameters.includes(`rel="${relation}"`)) return target;
  }
  return undefined;
}
