// Runs a black-box check of the API against a new store: node tools/contract.ts CHECK
// The check gets BASE_URL, API_KEY (enterprise, with limits that it won't reach) and FREE_KEY (plan Free, unused).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Store } from '../testkit/store.ts';

const [script] = process.argv.slice(2);
if (!script || !existsSync(script)) {
  console.error('Usage: node tools/contract.ts CHECK, where CHECK is the path of the script to run');
  process.exit(2);
}

await using store = await Store.open({ processes: 1 });
const [server] = store.processes;
const { key } = await store.createKey('contract', { perMinute: 1_000_000, perDay: 100_000_000 });
const { key: freeKey } = await store.createKey('contract, free', 'free');
const env = { ...process.env, BASE_URL: server?.url, API_KEY: key, FREE_KEY: freeKey };
const check = spawn(process.execPath, [script], { env, stdio: ['ignore', 'inherit', 'inherit'], timeout: 5 * 60_000 });
const [status] = await once(check, 'exit');
process.exitCode = status ?? 1;
