// The first minute of a new developer: clone, run two commands, paste one line.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { CleanCheckout } from '../testkit/clean-checkout.ts';
import { accepts, freePort } from '../testkit/servers.ts';
import { temporaryFolder } from '../testkit/temporary-folder.ts';
import { databaseExists, dropDatabase, findAdministrator } from '../tools/dev-database-queries.ts';
import { developmentDatabase, usualPorts } from '../tools/dev-servers.ts';
import type { Claim, Proof, ProofContext } from './proof.ts';

const secondsMax = 60;

export const firstCall: Proof = {
  name: 'first-call',
  promise: 'from a clean checkout, two commands and a pasted line list animals within a minute',
  hasMutant: true,
  runsAlone: true,
  isNightly: true,
  about: ['package.json', 'package-lock.json', 'tools', 'examples/adoption-site', 'proofs/first-call.ts'],
  run,
};

async function run({ mutant, progress }: ProofContext): Promise<Claim[]> {
  using checkout = new CleanCheckout();
  // The mutant's store starts without animals.
  if (mutant) checkout.edit('tools/dev-animals.ts', /const animals = .*;/, 'const animals: typeof others = [];');
  progress('npm ci');
  const installSeconds = await install(checkout);
  progress('npm run dev, with private servers');
  const claims = await tryOut(checkout, {
    command: 'npm run dev -- --private',
    servers: 'private PostgreSQL and Redis servers',
    installSeconds,
  });
  if (mutant || !(await accepts(usualPorts.postgres)) || !(await accepts(usualPorts.redis))) return claims;
  progress('npm run dev, with the running servers');
  await using _ = await leaveAsFound(checkout);
  rmSync(path.join(checkout.folder, '.homeward'), { recursive: true });
  return [...claims, ...(await tryOut(checkout, { command: 'npm run dev', servers: 'the servers on the default ports', installSeconds }))];
}

async function install(checkout: CleanCheckout): Promise<number> {
  const startedAtMs = performance.now();
  const { status, output } = await checkout.shell('npm ci');
  if (status !== 0) throw new Error(`npm ci ended with status ${status}:\n${output}`);
  return (performance.now() - startedAtMs) / 1_000;
}

async function tryOut(checkout: CleanCheckout, trial: { command: string; servers: string; installSeconds: number }): Promise<Claim[]> {
  const startedAtMs = performance.now();
  const curlLine = /^ {2}(curl .*)$/m;
  const dev = await checkout.dev(trial.command, curlLine, { PORT: String(await freePort()) });
  const { status, animals } = await paste(checkout, curlLine.exec(dev.screen)?.[1] ?? '').catch(async (error) => {
    await dev.end();
    throw error;
  });
  const seconds = trial.installSeconds + (performance.now() - startedAtMs) / 1_000;
  const site = await visitSite(dev.screen);
  const { started, left } = await dev.end();
  return [
    {
      claim: `npm ci, npm run dev and the command that it prints, with ${trial.servers}`,
      bar: `200 with animals within ${secondsMax} s`,
      figure: `${status} with ${animals} after ${seconds.toFixed(1)} s, of which npm ci ${trial.installSeconds.toFixed(1)} s`,
      holds: status === 200 && animals > 0 && seconds <= secondsMax,
      isTimed: status === 200 && animals > 0,
    },
    {
      claim: `The example site at the address that it prints, with ${trial.servers}`,
      bar: '200 with animals',
      figure: `${site.status} with ${site.animals}`,
      holds: site.status === 200 && site.animals > 0,
    },
    {
      claim: `Ctrl-C ends every process that it started, with ${trial.servers}`,
      bar: '0 processes left',
      figure: `${left.length} of ${started} left`,
      holds: left.length === 0 && started > 3,
    },
  ];
}

/** Runs the printed line unchanged. A configuration file makes curl print the status too. */
async function paste(checkout: CleanCheckout, line: string): Promise<{ status: number; animals: number }> {
  using temporary = temporaryFolder('curl');
  const home = temporary.path;
  writeFileSync(path.join(home, '.curlrc'), 'silent\nwrite-out = "\\n%{http_code}"\n');
  const { output } = await checkout.shell(line, { CURL_HOME: home });
  const end = output.lastIndexOf('\n');
  const status = Number(output.slice(end));
  return { status, animals: status === 200 ? (JSON.parse(output.slice(0, end)) as unknown[]).length : 0 };
}

async function visitSite(screen: string): Promise<{ status: number | string; animals: number }> {
  const [, url] = /^ {2}Site +(http:\S+)/m.exec(screen) ?? [];
  const response = url ? await fetch(url).catch(() => undefined) : undefined;
  const page = (await response?.text()) ?? '';
  return { status: response?.status ?? 'no response', animals: page.match(/<li class="card"/g)?.length ?? 0 };
}

/**
 * Cleans up the PostgreSQL server that was already running: drops the development database if it is new, otherwise revokes
 * the key that was added.
 */
async function leaveAsFound(checkout: CleanCheckout): Promise<AsyncDisposable> {
  const administrator = await findAdministrator(usualPorts.postgres, [userInfo().username, 'postgres']);
  const wasThere = administrator !== undefined && (await databaseExists(administrator, developmentDatabase));
  return {
    async [Symbol.asyncDispose]() {
      if (!administrator) return;
      if (wasThere) await revokeKey(checkout, new URL(`/${developmentDatabase}`, administrator).href);
      else await dropDatabase(administrator, developmentDatabase);
    },
  };
}

async function revokeKey(checkout: CleanCheckout, databaseUrl: string): Promise<void> {
  const key = readFileSync(path.join(checkout.folder, '.homeward/dev-key'), 'utf8').trim();
  const env = { DATABASE_URL: databaseUrl };
  const { output } = await checkout.shell('npx homeward keys list --client dev --json', env);
  const rows = JSON.parse(output) as Array<{ id: number; hint: string }>;
  const made = rows.find(({ hint }) => key.startsWith(hint.slice(0, 11)) && key.endsWith(hint.slice(-4)));
  if (made) await checkout.shell(`npx homeward keys revoke ${made.id}`, env);
}
