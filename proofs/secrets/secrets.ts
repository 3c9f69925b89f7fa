// Keys are sent in every way, right and wrong, while everything works and during faults; then all storage and logs are searched for them.
import { mintApiKey } from '../../service/src/access/clients/api-key.ts';
import { HttpClient } from '../../testkit/http.ts';
import { searchLines, searchPostgres, searchRedis } from '../../testkit/key-search.ts';
import { connectTo } from '../../testkit/postgres.ts';
import { Staff } from '../../testkit/staff.ts';
import { Store } from '../../testkit/store.ts';
import { untilReadiness } from '../../testkit/store-waits.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { sendEverywhere } from './key-uses.ts';

const processes = 2;

export const secrets: Proof = {
  name: 'secrets',
  promise: 'the text of a key appears in no log, no table, and no key or value in Redis',
  // The mutant logs a request's URL unredacted.
  mutant: [{ file: 'platform/http/finished-requests.ts', from: 'withoutKeys(with', to: 'String(with' }],
  run,
};

async function run({ short, mutant, root, progress }: ProofContext): Promise<Claim[]> {
  const env = { LOG_LEVEL: 'trace', HOMEWARD_TRUSTED_PROXIES: '127.0.0.1' };
  await using store = await Store.open({ processes, env, root });
  await using staff = await Staff.of(store);
  const perKind = short ? 4 : 25;
  const limits = { perMinute: 1_000_000, perDay: 100_000_000 };
  const valid = await staff.createKeys('valid', limits, perKind);
  const limited = await staff.createKeys('limited', { perMinute: 1, perDay: 1_000 }, perKind);
  const revoked = await staff.createKeys('revoked', limits, perKind);
  for (const key of revoked) await staff.revoke(key);
  const stored = [...valid, ...limited, ...revoked].map(({ key }) => key);
  const foreign = Array.from({ length: perKind }, () => mintApiKey('staging'));
  const unknown = Array.from({ length: perKind }, () => mintApiKey('production'));
  const keys = [...stored, ...foreign, ...unknown];
  const sample = [valid, limited, revoked].flatMap(([first]) => first?.key ?? []);

  let requests = 0;
  const send = async (some: readonly string[], what: string) => {
    progress(what);
    for (const key of some) {
      for (const one of store.processes)
        requests += await sendEverywhere(one, key, `10.${requests >> 16}.${(requests >> 8) & 255}.${requests & 255}`);
    }
  };
  await send(keys, 'everything works');
  await withoutPets(store, async () => {
    await send(sample, 'a table is missing');
    // No other request asks for this page, so no process can have it in its cache.
    using http = new HttpClient();
    for (const { url } of store.processes) await http.send(`${url}/pets?limit=7`, { key: valid[0]?.key ?? '' });
  });
  await store.redis.signal('SIGSTOP');
  await send(sample, 'Redis is frozen');
  await store.redis.signal('SIGCONT');
  await store.postgres.signal('SIGKILL');
  await send(sample, 'PostgreSQL is down');
  await store.postgres.start();
  await untilReadiness(store, ({ status }) => status === 'ready');
  await send(sample, 'everything works again');

  progress('searching');
  const log = store.processes.map((one) => one.log()).join('\n');
  const inLog = searchLines(log, keys);
  const inPostgres = await searchPostgres(store.postgres.url, keys);
  const inRedis = await searchRedis(staff.dependencies.redis.client, keys);
  const faults = ['"level":50', '"level":40'].map((level) => log.split(level).length - 1);
  const hidden = log.split('hw_live_…').length - 1;
  const sent = `${keys.length} keys sent in ${requests.toLocaleString('en')} requests`;
  return [
    claimOf(`${sent}: lines that contain one, in the logs of ${processes} processes at level trace`, inLog),
    claimOf('The same in all rows and all files of PostgreSQL', inPostgres),
    claimOf('The same in all keys and values in Redis', inRedis),
    {
      claim: 'Control: the search finds hashes of the keys in PostgreSQL and, in the log, URLs with the key redacted, errors and warnings',
      bar: `${stored.length} of ${stored.length}; at least ${requests >> 4}, 1, 1`,
      figure: `${inPostgres.controls} of ${stored.length}; ${hidden}, ${faults.join(', ')}`,
      // The mutant redacts nothing, which the first claim must notice, not this one.
      holds: inPostgres.controls === stored.length && (mutant || hidden >= requests >> 4) && faults.every((count) => count > 0),
    },
  ];
}

function claimOf(claim: string, { searched, hits }: { searched: string; hits: readonly string[] }): Claim {
  const example = hits[0] ? `, as in ${hits[0].slice(0, 200)}` : '';
  return { claim, bar: '0', figure: `${hits.length} in ${searched}${example}`, holds: hits.length === 0 };
}

/** Renames the table meanwhile, so that every list is an internal error with a stack trace. */
async function withoutPets(store: Store, work: () => Promise<void>): Promise<void> {
  await using client = await connectTo(store.postgres.url);
  await client.query('alter table pets rename to pets_away');
  await work();
  await client.query('alter table pets_away rename to pets');
}
