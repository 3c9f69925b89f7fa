import { errorCodes } from '../../service/src/platform/errors.ts';
import { guideGroups } from './guides.ts';

/** An index for language models (llmstxt.org): links to plain text, each with a sentence. */
export function llmsText(): string {
  const groups = guideGroups.map(({ title: group, guides }) => {
    const lines = guides.map(({ slug, title, summary }) => `- [${title}](/docs/${slug}.md): ${summary}`);
    return `## ${group}\n\n${lines.join('\n')}`;
  });
  return `# Homeward

> An animal adoption store as a service: list animals, place orders for adopters, and follow every change, over HTTP and JSON with an API key.

Every path of the API starts with /v1. Send the key as 'Authorization: Bearer <API_KEY>'. After a 429, wait for Retry-After.

${groups.join('\n\n')}

## Reference

- [OpenAPI document](/openapi.json): every operation with its parameters, bodies and responses, and the events sent as webhooks.
- [Error codes](/docs/errors): ${Object.keys(errorCodes).length} codes, each with a page at /docs/errors/<code> that has its cause, its fix and an example.

## Optional

- [Changelog](/docs/changelog.md): what has changed, and when.
`;
}
