// What clients did and saw while faults were injected, and what the database contains afterwards. The recorder writes a history, the
// checker judges it together with the facts.
//
// Times are milliseconds of CLOCK_MONOTONIC, which all processes of a machine share: a scenario can compare the instants of its faults
// with those of operations.

import { hash } from 'node:crypto';

export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** The part of a name or an address that says which operation has made the animal or the order: "k3-17" of "k3-17.2" and "k3-17@…". */
export const tokenOf = (text: string): string => /^[^.@]*/.exec(text)?.[0] ?? '';

/** By which the content of an event is compared. `data` is JSON text as it was sent. */
export const digestOfEvent = (type: string, data: string): string => hash('sha256', `${type} ${data}`, 'base64url').slice(0, 12);

/** failed: certainly not applied. unknown: it may be applied, now or later. A read that gets no 200 is failed. */
export type Outcome = 'ok' | 'failed' | 'unknown';

export interface AnimalValue {
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

/** One request. An operation with an Idempotency-Key is sent again with the same key until its outcome is known. */
export interface Attempt {
  /** The index of the `serve` process. */
  readonly process: number;
  readonly beginMs: number;
  readonly endMs: number;
  /** 0: no response. */
  readonly status: number;
  /** The code of an error of the API, or of a connection that failed. */
  readonly code?: string;
  readonly outcome: Outcome;
  readonly isReplayed?: boolean;
}

interface Sent {
  /** The number of the operation in its history, by which findings name it. */
  readonly id: number;
  /** At least one. */
  readonly attempts: readonly Attempt[];
  readonly outcome: Outcome;
}

export interface Create extends Sent {
  readonly kind: 'create';
  /** In every name of the animal: see tokenOf. */
  readonly token: string;
  readonly asked: AnimalValue;
  /** Known once a response was 201. */
  readonly petId?: number;
}

/** A PATCH with If-Match. The name is always a new one. */
export interface Change extends Sent {
  readonly kind: 'change';
  readonly petId: number;
  /** The animal that the ETag is of. */
  readonly expected: AnimalValue;
  readonly asked: AnimalValue;
}

/** A DELETE with If-Match. */
export interface Remove extends Sent {
  readonly kind: 'remove';
  readonly petId: number;
  readonly expected: AnimalValue;
}

export interface Place extends Sent {
  readonly kind: 'place';
  readonly petId: number;
  /** In the adopter's address: see tokenOf. */
  readonly orderToken: string;
  readonly clientId: number;
  readonly orderId?: number;
}

export type OrderAction = 'approve' | 'complete' | 'cancel' | 'return';

export interface Act extends Sent {
  readonly kind: 'act';
  readonly action: OrderAction;
  readonly petId: number;
  readonly orderToken: string;
  readonly orderId: number;
}

/** GET /v1/pets/{petId}. */
export interface Read extends Sent {
  readonly kind: 'read';
  readonly petId: number;
  /** null: 404. Missing if the read failed. */
  readonly value?: AnimalValue | null;
}

/** GET /v1/pets?id=…, perhaps with a status. */
export interface List extends Sent {
  readonly kind: 'list';
  readonly petIds: readonly number[];
  readonly status?: string;
  /** Missing if the read failed. */
  readonly values?: readonly (AnimalValue & { readonly id: number })[];
}

export type Write = Create | Change | Remove | Place | Act;
export type Operation = Write | Read | List;

/** A stream of events or an endpoint of webhooks, open from before the first operation. */
export interface Channel {
  readonly kind: 'stream' | 'endpoint';
  readonly index: number;
  readonly clientId: number;
  /** It gets the events of all orders, not only of its own client's. */
  readonly isStaff: boolean;
  /** Empty: every type. */
  readonly types: readonly string[];
}

export interface Arrival {
  readonly kind: 'arrival';
  readonly channel: Pick<Channel, 'kind' | 'index'>;
  readonly atMs: number;
  readonly position: number;
  /** Of the type and the data, see digestOfEvent. */
  readonly digest: string;
}

/** The cursor of a stream was 410, and it has started again with the oldest event: it sees some events again. */
export interface Restart {
  readonly kind: 'restart';
  readonly channel: Pick<Channel, 'kind' | 'index'>;
  readonly atMs: number;
}

export interface Revocation {
  readonly kind: 'revocation';
  readonly keyId: number;
  readonly beginMs: number;
  readonly endMs: number;
  readonly outcome: Outcome;
}

/** A request with a key that is revoked in the course of the history. */
export interface KeyUse {
  readonly kind: 'key-use';
  readonly keyId: number;
  readonly attempt: Attempt;
}

/** A request of the client that sends more than its limit. */
export interface LimitedUse {
  readonly kind: 'limited-use';
  readonly attempt: Attempt;
  /** The end of its minute, in seconds since 1970, as the response says. Missing if there was no response. */
  readonly resetSeconds?: number;
  /** How much of the day's limit is left. */
  readonly dayRemaining?: number;
}

/** From the first operation of the load to the last one that was begun. Before it, animals are added; after it, retries go on. */
export interface LoadInterval {
  readonly beginMs: number;
  readonly endMs: number;
}

export interface History {
  /** Undefined if the recorder was killed. */
  readonly load: LoadInterval | undefined;
  readonly operations: readonly Operation[];
  readonly channels: readonly Channel[];
  readonly arrivals: readonly Arrival[];
  readonly restarts: readonly Restart[];
  readonly revocations: readonly Revocation[];
  readonly keyUses: readonly KeyUse[];
  readonly limitedUses: readonly LimitedUse[];
  /** Undefined without a limited client. */
  readonly limits: { readonly perMinute: number; readonly perDay: number } | undefined;
}

/** What the database contains: see readFacts. */
export interface Facts {
  readonly readAtMs: number;
  readonly animals: readonly AnimalFact[];
  readonly orders: readonly OrderFact[];
  /** The feed, in the order of positions. */
  readonly events: readonly EventFact[];
  /** Events that were committed and are not in the feed. */
  readonly unpublished: readonly Omit<EventFact, 'position'>[];
}

export interface AnimalFact extends AnimalValue {
  readonly id: number;
  readonly isRemoved: boolean;
}

export interface OrderFact {
  readonly id: number;
  readonly petId: number;
  readonly clientId: number;
  readonly status: string;
  readonly adopterEmail: string;
}

export interface EventFact {
  readonly position: number;
  readonly type: string;
  readonly petId: number;
  /** null: the event is for everyone. */
  readonly clientId: number | null;
  /** JSON text. */
  readonly data: string;
}

export interface ConnectionSample {
  readonly atMs: number;
  /** At the server that has most. */
  readonly count: number;
  /** Of these, the connections of probes. */
  readonly probes: number;
}

export interface CheckOptions {
  /**
   * Redis is away from a process for some time, so a list may show what an animal was up to this long before the request. Reads by id
   * may not.
   */
  readonly listsStaleMsMax?: number;
  /** Until then a change whose outcome is unknown may be done: its commit waits at a server. Lists learn of it when its event is published. */
  readonly commitsWaitUntilMs?: number;
  /** What was not acknowledged may be read and then vanish in these failovers: the scenario of the cancelled wait. */
  readonly vanishing?: readonly { readonly beginMs: number; readonly endMs: number }[];
  /**
   * The standby that takes over lacks the last changes. `standby` are its facts once it has received the last change that it gets, and the
   * interval is from the last instant at which the old primary may have served to the first of the new one. What was acknowledged
   * before and is not in the facts is lost: each such change is a finding with `isAllowed`.
   */
  readonly lackedByStandby?: { readonly standby: Facts; readonly beginMs: number; readonly endMs: number };
  /** From this instant a revoked key must not be 200; without it, from the acknowledgement. For `lossy-failover`: once the journal is applied. */
  readonly revocationsCountFromMs?: number;
  /** Until this instant Redis was away at times, and each process counted by itself: so many times the limit may be admitted in a minute. */
  readonly withoutRedis?: { readonly processes: number; readonly untilMs: number };
  /** From this instant the day's count has to contain everything that was admitted, except `uncountedMax`. */
  readonly dayCounts?: { readonly fromMs: number; readonly uncountedMax: number };
  readonly connections?: { readonly samples: readonly ConnectionSample[]; readonly countMax: number; readonly probesMax: number };
}

export type Rule =
  | 'acknowledged animal is there once'
  | 'unknown animal is there at most once'
  | 'failed change is not applied'
  | 'animal is linearizable'
  | 'one open order an animal'
  | 'acknowledged change has its event'
  | 'every event arrives'
  | 'events arrive in order'
  | 'a position has one event'
  | 'revoked key is rejected'
  | 'limit is kept'
  | 'connections are bounded'
  | 'history can be judged';

export interface Finding {
  readonly rule: Rule;
  /** The animal, key, position or channel, such as "animal 17". */
  readonly subject: string;
  /** What happened and why it must not, in sentences. */
  readonly text: string;
  /** Only a change that the standby lacked: named, but not an error. */
  readonly isAllowed?: boolean;
}
