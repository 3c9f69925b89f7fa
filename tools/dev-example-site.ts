import { styleText } from 'node:util';

/** The example site of `npm run dev`, or why it isn't running: the store is useful without it. */
export type ExampleSite = { readonly url: string } | { readonly problem: string };

const usualPorts = { first: 3_000, last: 3_099 };

/** Uses the first free port. Only this machine can open the site, because its visitors need no key. */
export async function openExampleSite(
  store: { url: string; key: string },
  resources: AsyncDisposableStack,
  ports = usualPorts,
): Promise<ExampleSite> {
  try {
    // Imported only here, because it needs the built SDK.
    const { startSite } = await import('../examples/adoption-site/start-site.ts');
    for (let port = ports.first; port <= ports.last; port += 1) {
      const site = await startSite({ ...store, port }).catch(unlessPortIsTaken);
      if (!site) continue;
      resources.defer(() => site.close());
      return { url: site.url };
    }
    return { problem: `the ports ${ports.first} to ${ports.last} are all taken` };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** The address, or the reason in place of it. */
export const describeExampleSite = (site: ExampleSite): string =>
  'url' in site ? site.url : styleText('yellow', `not running: ${site.problem}`);

function unlessPortIsTaken(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EADDRINUSE') throw error;
}
