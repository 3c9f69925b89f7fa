// The programs of docs/guides/sdk.md for Cloudflare's runtime and for Deno, run in both against a store.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { freePort } from '../../testkit/servers.ts';
import { temporaryFolder } from '../../testkit/temporary-folder.ts';
import { installOnDemand } from '../../tools/install-on-demand.ts';
import type { Claim } from '../proof.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = path.join(root, 'proofs/frameworks/runtimes');
const timeoutMs = 60_000;
/** The rules of the Workers platform that apply; the pinned workerd knows them. */
const compatibilityDate = '2026-10-01';

interface Target {
  readonly url: string;
  readonly key: string;
}

/** Deno and workerd are 234 MB, so `npm ci` does not install them. */
export async function proveRuntimes({ url, key }: Target, availableNames: readonly string[]): Promise<Claim[]> {
  await installOnDemand(folder, 'Deno and workerd (proofs/frameworks/runtimes)');
  using temporary = temporaryFolder('runtimes');
  const work = temporary.path;
  const worker = await inWorkerd(work, { url, key });
  const deno = await inDeno(work, { url, key });
  const expected = JSON.stringify(availableNames);
  return [
    {
      claim: "Cloudflare's runtime: the Worker of the guide lists the first page of available animals",
      bar: `${availableNames.length} names`,
      figure: worker === expected ? `${availableNames.length} names` : worker.slice(0, 500),
      holds: worker === expected && availableNames.length > 0,
    },
    {
      claim: 'Deno: the program of the guide, with the module from the store, prints an animal',
      bar: `${availableNames[0]}`,
      figure: deno.includes(`name: "${availableNames[0]}"`) ? `${availableNames[0]}` : deno.slice(0, 500),
      holds: deno.includes(`name: "${availableNames[0]}"`),
    },
  ];
}

/** The response of the guide's Worker, bundled with the built SDK as a partner's tools do it. */
async function inWorkerd(work: string, { url, key }: Target): Promise<string> {
  writeFileSync(path.join(work, 'worker.ts'), programWith('async fetch('));
  const alias = { '@homeward/sdk': path.join(root, 'sdk/dist/index.js') };
  await using bundle = await rolldown({ input: path.join(work, 'worker.ts'), platform: 'neutral', resolve: { alias } });
  await bundle.write({ file: path.join(work, 'worker.js'), format: 'esm' });
  const port = await freePort();
  writeFileSync(
    path.join(work, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${compatibilityDate}",
  bindings = [(name = "HOMEWARD_URL", text = "${url}"), (name = "HOMEWARD_KEY", text = "${key}")],
);
`,
  );
  const { child, output } = start('workerd', ['serve', 'config.capnp'], work);
  const closed = once(child, 'close');
  try {
    const deadlineMs = Date.now() + timeoutMs;
    while (child.exitCode === null && Date.now() < deadlineMs) {
      const response = await fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
      if (response) return await response.text();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return `workerd did not respond: ${output()}`;
  } finally {
    end(child);
    await closed;
  }
}

/** What the guide's program prints. */
async function inDeno(work: string, { url, key }: Target): Promise<string> {
  const program = programWith('/sdk/index.js').replaceAll('https://homeward.example', url).replaceAll('hw_live_…', key);
  writeFileSync(path.join(work, 'list.js'), program);
  const { child, output } = start('deno', ['run', '--no-prompt', '--no-lock', '--allow-net', '--allow-import', 'list.js'], work);
  const late = setTimeout(() => end(child), timeoutMs);
  await once(child, 'close');
  clearTimeout(late);
  return output().replaceAll(key, '(the key)');
}

/** The only program of the guide with this text. */
function programWith(text: string): string {
  const guide = readFileSync(path.join(root, 'docs/guides/sdk.md'), 'utf8');
  const programs = [...guide.matchAll(/^```[jt]s\n(.*?)^```$/gms)].map(([, program = '']) => program).filter((one) => one.includes(text));
  if (programs.length !== 1) throw new Error(`sdk.md must have one program with "${text}", but has ${programs.length}`);
  return programs[0] ?? '';
}

function start(name: string, args: readonly string[], cwd: string): { child: ChildProcess; output: () => string } {
  const env = { ...process.env, NO_COLOR: '1', DENO_DIR: path.join(cwd, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
  // A separate process group: both commands are scripts that start the program itself.
  const child = spawn(path.join(folder, 'node_modules/.bin', name), args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { child, output: () => output };
}

function end({ pid, exitCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
}
