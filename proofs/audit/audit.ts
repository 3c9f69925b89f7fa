// What people do in the console is what their role permits, and is in the audit once, whichever process is killed.
import { consoleScreens, type ScreenParts } from '../../service/src/console/console-screens.ts';
import { notAllowed } from '../../service/src/console/screens/page-error.ts';
import { mayUse, type Needs } from '../../service/src/console/screens/screens.ts';
import { rightsOf, roles } from '../../service/src/domain/roles.ts';
import { Store } from '../../testkit/store.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';
import { ConsolePeople, newFormId } from './console-people.ts';
import { killedActClaims } from './killed-acts.ts';

const defaultSeed = 1_000;
const shownMax = 3;

export const audit: Proof = {
  name: 'audit',
  promise: 'what people do in the console is what their role permits, and is in the audit exactly once, whichever process is killed',
  /** The mutant: the role is not looked at, and rows of the audit are written by a connection of their own. */
  mutant: [
    {
      file: 'console/screens/entrance.ts',
      from: 'if (!mayUse(visitor.caller, needs)) throw notAllowed();',
      to: 'if (!mayUse(visitor.caller, needs) && consoleUrl === "") throw notAllowed();',
    },
    {
      file: 'access/audit/audit.ts',
      from: '  await insertAudit(tx, { act,',
      to: `  const { default: pg } = await import('pg');
  const state = globalThis as { elsewhere?: Promise<Transaction> };
  const connect = async () => {
    const client = new pg.Client(process.env['DATABASE_URL']);
    await client.connect();
    client.unref();
    return client as unknown as Transaction;
  };
  state.elsewhere ??= connect();
  await insertAudit(await state.elsewhere, { act,`,
    },
  ],
  isNightly: true,
  about: ['service/src/console', 'service/src/access/audit', 'service/src/access/people', 'proofs/audit'],
  run,
};

async function run({ short, root, seed = defaultSeed, progress }: ProofContext): Promise<Claim[]> {
  await using store = await Store.open({ processes: 0, root, env: { LOG_LEVEL: 'warn' } });
  await using people = await ConsolePeople.open(store);
  progress('every role at every route');
  const claims = [await roleClaim(store, people)];
  progress('acts, while processes are killed');
  const size = short ? { acts: 200, kills: 2 } : { acts: 1_000, kills: 10 };
  return [...claims, ...(await killedActClaims(store, people, { ...size, seed }))];
}

/** Every page, form and other route, by somebody who is signed in, with the token of the session: nothing else keeps them out. */
async function roleClaim(store: Store, people: ConsolePeople): Promise<Claim> {
  const created = JSON.parse(await store.homeward('shelters', 'create', '--name', 'Danube', '--json')) as { id: number };
  const { url } = await store.openConsole();
  const screens = consoleScreens({} as ScreenParts);
  const routes: ReadonlyArray<{ readonly method: 'GET' | 'POST'; readonly path: string; readonly needs: Needs }> = [
    ...screens.pages.map(({ path, needs }) => ({ method: 'GET' as const, path, needs })),
    ...screens.forms.map(({ path, needs }) => ({ method: 'POST' as const, path, needs })),
    ...screens.others.map(({ method, path, needs }) => ({ method, path, needs })),
  ];
  const rejection = notAllowed().message;
  const wrong: string[] = [];
  let requests = 0;
  for (const place of [null, BigInt(created.id)]) {
    for (const role of roles) {
      const rights = rightsOf(role, place);
      if (!rights) continue;
      for (const { method, path, needs } of routes) {
        // Somebody else each time: some forms end the session.
        const visitor = await people.signIn(role, place);
        const at = `${url}${path.replaceAll(/:\w+/g, '4711')}`;
        const sent = method === 'GET' ? visitor.get(at) : visitor.post(at, { _token: visitor.token, _form: newFormId() });
        const { status, text } = await sent;
        requests += 1;
        const isKeptOut = status === 403 && text.includes(rejection);
        if (isKeptOut === mayUse(rights, needs))
          wrong.push(`${role} of ${place === null ? 'the store' : 'a shelter'}: ${method} ${path} is ${status}`);
      }
    }
  }
  return {
    claim: `Every role at every page, form and other route of the console, with a session and its token: requests that are let through and must not be, or are kept out and must not be`,
    bar: '0',
    figure: `${wrong.length} of ${requests}${wrong.length > 0 ? `: ${wrong.slice(0, shownMax).join('; ')}` : ''}`,
    holds: wrong.length === 0 && requests > 0,
  };
}
