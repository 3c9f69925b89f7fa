// Endpoints of keys with different scopes, and what becomes of their permissions while events wait for them.

import { settleClientChange } from '../../service/src/access/clients/client-changes.ts';
import { setSuspended } from '../../service/src/access/clients/clients.ts';
import { revokeKeyAndWebhooks, rotateKeyAndWebhooks } from '../../service/src/changes/webhooks/endpoint-keys.ts';
import { type EventType, eventTable, eventTypes, isPrivateEvent, mayReadPrivateEvents } from '../../service/src/domain/event-types.ts';
import { defaultScopes, scopes as everyScope, type Scope } from '../../service/src/domain/scopes.ts';
import { generous } from '../../testkit/adopters.ts';
import type { HttpClient } from '../../testkit/http.ts';
import type { Staff } from '../../testkit/staff.ts';
import type { Key } from '../../testkit/store.ts';
import { testAuthor } from '../../testkit/test-author.ts';

export interface ToldEvent {
  readonly position: number;
  readonly type: EventType;
  /** Null: about an animal. */
  readonly clientId: number | null;
  /** Of an order's animal. */
  readonly shelterId: number | null;
}

/** The shelter of every key here that has the scope shelter:manage, and one that none of them manages. */
export const managedShelter = 2;
export const otherShelter = 3;

/** Why the events wait. Each endpoint accepts tests, except an unverified one. */
export type Hold = 'the worker is stopped' | 'its deliveries fail' | 'it is unverified';
export const holds: readonly Hold[] = ['the worker is stopped', 'its deliveries fail', 'it is unverified'];

/** What an endpoint gets. Never an event of another client's order, unless its key manages the shelter of the animal. */
interface Permission {
  readonly scopes: readonly Scope[];
  /** Empty: every type. */
  readonly types: readonly EventType[];
}

export const nothing: Permission = { scopes: [], types: [] };

export const isPermitted = ({ scopes, types }: Permission, { clientId, shelterId, type }: ToldEvent, ownClientId: number): boolean => {
  if (types.length > 0 && !types.includes(type)) return false;
  if (!isPrivateEvent(type)) return scopes.includes('pets:read');
  if (scopes.includes('shelter:manage') && shelterId === managedShelter) return true;
  return clientId === ownClientId && mayReadPrivateEvents(scopes);
};

/** An endpoint before the change, at the change, and after it is resumed. */
export interface Subject {
  readonly name: string;
  readonly hold: Hold;
  readonly client: string;
  readonly key: Key;
  /** A key of the same client with the scope webhooks:manage alone. */
  readonly manager: Key;
  readonly id: number;
  readonly before: Permission;
  readonly change: Change;
}

export interface Change {
  readonly name: string;
  /** What it gets from then on. */
  readonly after: Permission;
  /** From then on, nothing is sent to the address before. */
  readonly isRepointed?: boolean;
  apply(subject: Subject, tools: Tools): Promise<void>;
  /** If it gets nothing after the change: serves it again. Returns what it gets then. */
  resume?(subject: Subject, tools: Tools): Promise<Permission>;
}

export interface Tools {
  readonly http: HttpClient;
  readonly url: string;
  readonly staff: Staff;
  /** The address of an endpoint's server; another path than the one that it was added with. */
  otherUrl(subject: Subject): string;
}

const all: Permission = { scopes: everyScope, types: [] };
const manage: Scope = 'webhooks:manage';
const unchanged: Change = { name: '', after: all, apply: async () => {} };

async function keyOf(staff: Staff, client: string, scopes: readonly Scope[]): Promise<Key> {
  const shelterId = scopes.includes('shelter:manage') ? BigInt(managedShelter) : null;
  return staff.createKey(client, generous, scopes, shelterId);
}

/** Requests of a key that may not do this are part of the check, so no status is an error. */
const patch = ({ http, url }: Tools, { id }: Subject, { key }: Key, body: unknown) =>
  http.send(`${url}/webhooks/${id}`, { method: 'PATCH', key, body });

async function expectOk(sending: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await sending;
  if (status >= 300) throw new Error(`a change of an endpoint failed: ${status} ${text}`);
}

const repointed = (more: readonly Scope[]): Change => ({
  name: `then repointed by a key with ${[...more, manage].join(' and ')}`,
  after: { scopes: more, types: [] },
  isRepointed: true,
  async apply(subject, tools) {
    const key = await keyOf(tools.staff, subject.client, [...more, manage]);
    await expectOk(patch(tools, subject, key, { url: tools.otherUrl(subject) }));
  },
});

const narrowed: readonly EventType[] = ['pet.created', 'order.placed'];
const silent = () => true;

/** A key that ended is replaced by one that may read nothing. */
const enabledByManager = async (subject: Subject, tools: Tools): Promise<Permission> => {
  await expectOk(patch(tools, subject, subject.manager, { status: 'enabled' }));
  return nothing;
};

const changes: readonly Change[] = [
  repointed([]),
  repointed(['pets:read']),
  repointed(['orders:read']),
  repointed(['store:manage']),
  repointed(['shelter:manage']),
  {
    name: `whose types were set by a key with ${manage} alone`,
    after: nothing,
    apply: (subject, tools) => expectOk(patch(tools, subject, subject.manager, { types: [] })),
  },
  {
    name: 'whose types were narrowed by its own key',
    after: { ...all, types: narrowed },
    apply: (subject, tools) => expectOk(patch(tools, subject, subject.key, { types: narrowed })),
  },
  {
    name: `whose key was revoked, then enabled by a key with ${manage} alone`,
    after: nothing,
    apply: async ({ key }, { staff }) =>
      void (await revokeKeyAndWebhooks(staff.dependencies.db, silent, testAuthor, BigInt(key.id), 'disable')),
    resume: enabledByManager,
  },
  {
    name: 'whose key was revoked, but not the endpoint',
    after: all,
    apply: async ({ key }, { staff }) =>
      void (await revokeKeyAndWebhooks(staff.dependencies.db, silent, testAuthor, BigInt(key.id), 'keep')),
  },
  {
    name: `whose key expired, then enabled by a key with ${manage} alone`,
    after: nothing,
    async apply({ key }, { staff }) {
      await staff.dependencies.db.write({
        text: `update api_keys set expires_at = now() - interval '1 second' where id = $1`,
        values: [key.id],
      });
    },
    resume: enabledByManager,
  },
  {
    name: 'whose key was rotated, and the successor may read animals only',
    after: { scopes: ['pets:read', manage], types: [] },
    async apply({ key }, { staff }) {
      const { db } = staff.dependencies;
      const { record } = await rotateKeyAndWebhooks(db, silent, testAuthor, BigInt(key.id), {
        overlapSeconds: 0,
        environment: 'production',
      });
      await db.write({ text: `update api_keys set scopes = $2 where id = $1`, values: [record.id, ['pets:read', manage]] });
    },
  },
  {
    name: 'whose client was suspended, then resumed',
    after: nothing,
    apply: ({ client }, { staff }) => suspend(staff, client, true),
    async resume({ client }, { staff }) {
      await suspend(staff, client, false);
      return all;
    },
  },
  {
    name: 'that was disabled, then enabled',
    after: nothing,
    apply: (subject, tools) => expectOk(patch(tools, subject, subject.key, { status: 'disabled' })),
    async resume(subject, tools) {
      await expectOk(patch(tools, subject, subject.key, { status: 'enabled' }));
      return all;
    },
  },
];

async function suspend({ dependencies: { db, redis, redisKeys } }: Staff, client: string, isSuspended: boolean): Promise<void> {
  const { client: changed } = await setSuspended(db, silent, testAuthor, client, isSuspended);
  await settleClientChange(redis, redisKeys, changed.id);
}

/** Every change under every hold, each at its own client; and endpoints without a change: of each kind of key, and of each type. */
export async function addSubjects(tools: Tools, urlOf: (name: string) => string): Promise<Subject[]> {
  const subjects: Subject[] = [];
  const add = async (name: string, hold: Hold, client: string, before: Permission, change: Change) => {
    const key = await keyOf(tools.staff, client, before.scopes);
    const manager = await keyOf(tools.staff, client, [manage]);
    const body = { url: urlOf(name), types: before.types };
    const added = await tools.http.send(`${tools.url}/webhooks`, { method: 'POST', key: key.key, body });
    if (added.status !== 201) throw new Error(`no endpoint was added: ${added.text}`);
    subjects.push({ name, hold, client, key, manager, id: (JSON.parse(added.text) as { id: number }).id, before, change });
  };
  const [whileStopped] = holds as readonly [Hold, ...Hold[]];
  const kinds = [everyScope, defaultScopes, ...everyScope.map((scope) => [scope, manage])];
  for (const [i, scopes] of kinds.entries()) {
    const before = { scopes: [...new Set(scopes)], types: [] };
    await add(`scopes-${i}`, whileStopped, 'endpoints by scope', before, { ...unchanged, after: before });
  }
  for (const type of eventTypes) {
    const before = { scopes: everyScope, types: [type] };
    // Not of one client, which may have 20.
    await add(`type-${type}`, whileStopped, `endpoints by type, about ${eventTable[type].data}`, before, { ...unchanged, after: before });
  }
  for (const [h, hold] of holds.entries())
    for (const [i, change] of changes.entries()) await add(`change-${h}-${i}`, hold, `changed endpoint ${h}-${i}`, all, change);
  return subjects;
}
