// Clients that want all places of an animal for themselves, with applications that nobody has made.
import { setTimeout as sleep } from 'node:timers/promises';
import { addAnimals, apply, castOf, decide, queryStore, verify } from '../../testkit/adopters.ts';
import { HttpClient, type Response } from '../../testkit/http.ts';
import { type Key, Store } from '../../testkit/store.ts';
import { every, grouped, noIllegalTransition } from '../claims.ts';
import type { Claim, Proof, ProofContext } from '../proof.ts';

const processCount = 4;
/** Of every shelter by default, and of those for one client. */
const applicationsMax = 100;
const share = 80;
const inFlightOfClient = 2;
const declinesPerSecond = 10;
const entriesPerSecond = 4;
/** Staff decline their own before they have as many as they may. */
const entriesOpenMax = 50;
const triesMax = 20;

export const keptPlaces: Proof = {
  name: 'kept-places',
  promise: 'no client takes the places of an animal that are kept for others, and staff always enter an application',
  // The mutant gives a client every place.
  mutant: [
    {
      file: 'adoption/applications/submissions.ts',
      from: 'return own >= share ? shareTaken(pet, { own, share, max }) : undefined;',
      to: 'return undefined;',
    },
  ],
  timeoutMs: 3_600_000,
  isNightly: true,
  about: ['service/src/adoption/applications', 'proofs/wanted-animal'],
  run,
};

async function run({ short, root, progress }: ProofContext): Promise<Claim[]> {
  const [clients, applications] = short ? [5, 110] : [200, 1_000];
  await using store = await Store.open({ processes: processCount, root, env: { LOG_LEVEL: 'warn' } });
  const { manager, partners } = await castOf(store, clients);
  const urls = store.processes.map(({ url }) => url);
  const [petId = 0] = await addAnimals(store, manager, 1);
  using http = new HttpClient(clients * inFlightOfClient + 16);
  const applyAs = (client: number, n: number) =>
    apply(http, urls[n % urls.length] ?? '', partners[client] as Key, petId, `adopter.${client}.${n}@example.org`);

  progress('one client alone');
  const alone = await sendAll(applications, (n) => applyAs(0, n));
  const desk = new Desk(http, urls[0] ?? '', manager, petId);
  const entering = desk.work();
  const kept: Response[] = [];
  for (let n = 0; n < applicationsMax - share; n += 1) kept.push(await untilTaken(() => applyAs(1 + (n % 2), applications + n)));

  let done = 0;
  const ticker = setInterval(() => progress(`${grouped(done)} of ${grouped((clients - 1) * applications)} applications`), 1_000);
  const rush = async (client: number) => {
    await sendAll(applications, async (n) => {
      const response = await applyAs(client, n);
      done += 1;
      return response;
    });
  };
  await Promise.all(Array.from({ length: clients - 1 }, (_, i) => rush(1 + i)));
  clearInterval(ticker);
  desk.close();
  await entering;

  const accepted = (responses: readonly Response[]) => responses.filter(({ status }) => status === 201).length;
  return [
    {
      claim: `Of ${grouped(applications)} applications of one client for an animal, alone, those that are 201`,
      bar: `${share} of the ${applicationsMax} that its shelter takes`,
      figure: String(accepted(alone)),
      holds: accepted(alone) === share,
    },
    every('Afterwards, applications of others for the places that are kept from it that are 201', accepted(kept), kept.length),
    await mostClaim(store, `${clients} clients, ${grouped(applications)} applications each, staff decline ${declinesPerSecond} a second`),
    every('Applications that staff enter meanwhile that are 201', desk.entered, desk.tried),
    noIllegalTransition(await verify(store)),
  ];
}

/** Sends `count` applications of a client, some side by side. */
async function sendAll(count: number, send: (n: number) => Promise<Response>): Promise<Response[]> {
  const responses: Response[] = [];
  let next = 0;
  const sendSome = async () => {
    while (next < count) responses.push(await send(next++));
  };
  await Promise.all(Array.from({ length: inFlightOfClient }, sendSome));
  return responses;
}

/** A store that is busy says so, and when to try again. */
async function untilTaken(send: () => Promise<Response>): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await send();
    if (response.status !== 503 || tries === triesMax) return response;
    await sleep(1_000);
  }
}

/** Staff, who enter applications as at the desk, and decline: theirs, before they are too many, and others. */
class Desk {
  tried = 0;
  entered = 0;
  readonly #http: HttpClient;
  readonly #url: string;
  readonly #key: Key;
  readonly #petId: number;
  readonly #own: number[] = [];
  #isClosed = false;

  constructor(http: HttpClient, url: string, key: Key, petId: number) {
    this.#http = http;
    this.#url = url;
    this.#key = key;
    this.#petId = petId;
  }

  close(): void {
    this.#isClosed = true;
  }

  async work(): Promise<void> {
    await Promise.all([this.#enter(), this.#decline()]);
  }

  async #enter(): Promise<void> {
    for (; !this.#isClosed; await sleep(1_000 / entriesPerSecond)) {
      this.tried += 1;
      const adopter = { name: 'Grace', email: `desk.${this.tried}@example.org` };
      const body = { petId: this.#petId, adopter, confirmed: true };
      const send = () => this.#http.send(`${this.#url}/applications`, { method: 'POST', key: this.#key.key, body });
      const response = await untilTaken(send);
      if (response.status !== 201) continue;
      this.entered += 1;
      this.#own.push(Number(JSON.parse(response.text).id));
      const oldest = this.#own.length > entriesOpenMax ? this.#own.shift() : undefined;
      if (oldest !== undefined) await decide(this.#http, this.#url, this.#key, oldest, 'decline');
    }
  }

  async #decline(): Promise<void> {
    for (; !this.#isClosed; await sleep(1_000 / declinesPerSecond)) {
      const list = `${this.#url}/applications?petId=${this.#petId}&status=submitted&limit=${entriesOpenMax + 2}`;
      const { text } = await this.#http.send(list, { key: this.#key.key });
      const oldest = (JSON.parse(text) as Array<{ id: number }>).find(({ id }) => !this.#own.includes(id));
      if (oldest) await decide(this.#http, this.#url, this.#key, oldest.id, 'decline');
    }
  }
}

/** Ids of the history are given under the animal's lock, so they are in the order of the acts. */
async function mostClaim(store: Store, how: string): Promise<Claim> {
  const [most] = await queryStore<{ all: number; one: number }>(
    store,
    `select max(of_all)::int as all, max(of_one)::int as one from (
      select sum(step) over (order by id) as of_all, sum(step) over (partition by client_id order by id) as of_one from (
        select application_history.id, applications.client_id,
            case when from_status is null then 1 when to_status = 'declined' then -1 else 0 end as step
          from application_history join applications on applications.id = application_id where not is_entered) as steps) as counts`,
  );
  return {
    claim: `Open at once for the animal (${how}): of all clients, and of one, at most`,
    bar: `${applicationsMax}; ${share}`,
    figure: `${most?.all}; ${most?.one}`,
    holds: most?.all === applicationsMax && most.one === share,
  };
}
