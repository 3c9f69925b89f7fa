/** The target of a relation in the Link header, not yet resolved. */
export function linkOf(headers: Headers, relation: string): string | undefined {
  for (const [, target, parameters = ''] of (headers.get('link') ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    if (parameters.includes(`rel="${relation}"`)) return target;
  }
  return undefined;
}
