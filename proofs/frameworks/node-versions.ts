// The examples on the versions of Node.js that partners have.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installOnDemand } from '../../tools/install-on-demand.ts';
import type { Claim } from '../proof.ts';
import type { ExampleSite } from './example-site.ts';

const folder = fileURLToPath(new URL('./runtimes', import.meta.url));
/** The packages in `runtimes`, which are for Linux on x64. Elsewhere nothing is claimed. */
const versions = ['20', '22', '24'];
const isClaimed = process.platform === 'linux' && process.arch === 'x64';

/** On each version the site starts and lists animals, or ends and says which version it needs. */
export async function nodesClaim(framework: string, site: ExampleSite, env: Readonly<Record<string, string>>): Promise<Claim[]> {
  if (!isClaimed) return [];
  await installOnDemand(folder, 'three versions of Node.js (proofs/frameworks/runtimes)');
  const { engines } = JSON.parse(readFileSync(path.join(site.folder, 'package.json'), 'utf8')) as { engines: { node: string } };
  const [needed = ''] = /[\d.]+/.exec(engines.node) ?? [];
  const found: string[] = [];
  for (const version of versions) found.push(await tryOn(site, env, { version, needed }));
  return [
    {
      claim: `${framework}: npm run dev on Node.js ${versions.join(', ')}`,
      bar: 'lists animals, or says which version it needs',
      figure: found.map((figure, i) => `${versions[i]}: ${figure}`).join('; '),
      holds: found.every((figure) => figure === 'lists animals' || figure === `needs ${needed}`),
    },
  ];
}

async function tryOn(
  site: ExampleSite,
  env: Readonly<Record<string, string>>,
  { version, needed }: { version: string; needed: string },
): Promise<string> {
  try {
    const running = await site.startDevelopment(env, path.join(folder, `node_modules/node-${version}/bin`));
    try {
      const response = await fetch(running.url);
      return /class="card"/.test(await response.text())
        ? 'lists animals'
        : `${response.status} without animals: ${running.output().slice(-500)}`;
    } finally {
      await running.close();
    }
  } catch (error) {
    const { message } = error as Error;
    return message.includes('Node.js') && message.includes(needed) ? `needs ${needed}` : message.slice(-500);
  }
}
