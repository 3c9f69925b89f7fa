// Events: every acknowledged change is in the feed once, and everything in the feed arrives in each stream and at each endpoint.
import {
  type Arrival,
  type Channel,
  type CheckOptions,
  digestOfEvent,
  type EventFact,
  type Facts,
  type Finding,
  type History,
  type OrderAction,
  tokenOf,
  type Write,
} from '../history.ts';
import { describeOperation } from './described-operations.ts';

const positionsShownMax = 5;
const orderEvents: Record<OrderAction, string> = {
  approve: 'order.approved',
  complete: 'order.completed',
  cancel: 'order.cancelled',
  return: 'order.returned',
};

export function checkEvents(history: History, facts: Facts, options: CheckOptions, originMs: number): Finding[] {
  return [
    ...checkPublished(facts),
    ...checkRecorded(history, facts, options, originMs),
    ...checkPositions(history, facts, options),
    ...checkChannels(history, facts),
  ];
}

function checkPublished({ unpublished }: Facts): Finding[] {
  return [...Map.groupBy(unpublished, ({ petId }) => petId)].map(([petId, events]): Finding => {
    const types = events.map(({ type }) => type).join(', ');
    const text = `${events.length} of its events were committed and never published: ${types}.`;
    return { rule: 'every event arrives', subject: `animal ${petId}`, text };
  });
}

/** Each acknowledged change has one event in the feed. */
function checkRecorded({ operations }: History, facts: Facts, { lackedByStandby }: CheckOptions, originMs: number): Finding[] {
  const feed = Map.groupBy(facts.events, keyOfEvent);
  const inStandby = new Set([...(lackedByStandby?.standby.events ?? []), ...(lackedByStandby?.standby.unpublished ?? [])].map(keyOfEvent));
  return operations.flatMap((operation): Finding[] => {
    if (operation.outcome !== 'ok' || operation.kind === 'read' || operation.kind === 'list') return [];
    const { key, subject } = eventOfWrite(operation);
    const found = feed.get(key) ?? [];
    const described = describeOperation(operation, originMs);
    const rule = 'acknowledged change has its event';
    if (found.length === 1) return [];
    if (found.length > 1) {
      const positions = found.map(({ position }) => position).join(', ');
      return [{ rule, subject, text: `The feed has it ${found.length} times, at the positions ${positions}. ${described}.` }];
    }
    const isAllowed =
      lackedByStandby !== undefined && !inStandby.has(key) && (operation.attempts.at(-1)?.endMs ?? Infinity) <= lackedByStandby.endMs;
    if (isAllowed)
      return [{ rule, subject, text: `Lost: it was acknowledged, and the standby that took over lacked it. ${described}.`, isAllowed }];
    return [{ rule, subject, text: `It was acknowledged, and the feed has no event of it. ${described}.` }];
  });
}

function eventOfWrite(write: Write): { readonly key: string; readonly subject: string } {
  switch (write.kind) {
    case 'create':
      return { key: `pet.created ${write.petId} ${write.asked.name}`, subject: `animal ${write.petId}` };
    case 'change':
      return { key: `pet.updated ${write.petId} ${write.asked.name}`, subject: `animal ${write.petId}` };
    case 'remove':
      return { key: `pet.removed ${write.petId} ${write.expected.name}`, subject: `animal ${write.petId}` };
    case 'place':
      return { key: `order.placed ${write.petId} ${write.orderId}`, subject: `order ${write.orderId}` };
    case 'act':
      return { key: `${orderEvents[write.action]} ${write.petId} ${write.orderId}`, subject: `order ${write.orderId}` };
  }
}

/** Different changes have different keys, except of a status, which none of the checks looks up. */
function keyOfEvent({ type, petId, data }: Omit<EventFact, 'position'>): string {
  const { pet, order } = JSON.parse(data) as { pet?: { name: string }; order?: { id: number } };
  return `${type} ${petId} ${order?.id ?? pet?.name}`;
}

/** Nowhere was another event seen at a position than the feed has there. */
function checkPositions({ arrivals }: History, { events }: Facts, { lackedByStandby, vanishing }: CheckOptions): Finding[] {
  const rule = 'a position has one event';
  const inFeed = new Map(events.map(({ position, type, data }) => [position, digestOfEvent(type, data)]));
  const seen = new Map<number, Arrival>();
  const findings: Finding[] = [];
  const reported = new Set<number>();
  const report = (position: number, text: string) => {
    if (!reported.has(position)) findings.push({ rule, subject: `position ${position}`, text });
    reported.add(position);
  };
  for (const arrival of arrivals) {
    const { position, digest } = arrival;
    const expected = inFeed.get(position);
    const earlier = seen.get(position);
    if (!earlier) seen.set(position, arrival);
    if (expected !== undefined && expected !== digest)
      report(position, `${nameOf(arrival.channel)} got another event here (${digest}) than the feed has (${expected}).`);
    else if (earlier && earlier.digest !== digest)
      report(position, `${nameOf(earlier.channel)} and ${nameOf(arrival.channel)} got two different events here.`);
    else if (expected === undefined && !lackedByStandby && !vanishing)
      report(position, `${nameOf(arrival.channel)} got an event that the feed does not have.`);
  }
  return findings;
}

function checkChannels({ channels, arrivals, restarts, operations }: History, facts: Facts): Finding[] {
  const tokens = new Set(operations.flatMap((operation) => (operation.kind === 'create' ? operation.token : [])));
  const petIds = new Set(facts.animals.filter(({ name }) => tokens.has(tokenOf(name))).map(({ id }) => id));
  const events = facts.events.filter(({ petId }) => petIds.has(petId));
  const petByPosition = new Map(facts.events.map(({ position, petId }) => [position, petId]));
  const arrivalsOf = Map.groupBy(arrivals, ({ channel }) => nameOf(channel));
  const restartsOf = Map.groupBy(restarts, ({ channel }) => nameOf(channel));
  return channels.flatMap((channel) => {
    const own = arrivalsOf.get(nameOf(channel)) ?? [];
    const expected = events.filter((event) => isFor(channel, event));
    const restartedAtMs = restartsOf.get(nameOf(channel))?.map(({ atMs }) => atMs) ?? [];
    return [
      ...checkMissing(channel, own, expected),
      ...(channel.kind === 'stream' ? checkStreamOrder(channel, own, restartedAtMs) : checkEndpointOrder(channel, own, petByPosition)),
    ];
  });
}

function isFor({ clientId, isStaff, types }: Channel, event: EventFact): boolean {
  if (types.length > 0 && !types.includes(event.type)) return false;
  return isStaff || event.clientId === null || event.clientId === clientId;
}

function checkMissing(channel: Channel, own: readonly Arrival[], expected: readonly EventFact[]): Finding[] {
  const arrived = new Set(own.map(({ position }) => position));
  const missing = expected.filter(({ position }) => !arrived.has(position));
  if (missing.length === 0) return [];
  const shown = missing.slice(0, positionsShownMax).map(({ position, type, petId }) => `${position} (${type} of animal ${petId})`);
  const text = `${missing.length} of ${expected.length} events never arrived: ${shown.join(', ')}${missing.length > shown.length ? ', …' : ''}.`;
  return [{ rule: 'every event arrives', subject: nameOf(channel), text }];
}

/** By position, each once, unless the stream had to start again. */
function checkStreamOrder(channel: Channel, own: readonly Arrival[], restartedAtMs: readonly number[]): Finding[] {
  const findings: Finding[] = [];
  const restarts = restartedAtMs.toSorted((a, b) => a - b);
  let last: Arrival | undefined;
  for (const arrival of own) {
    if (restarts[0] !== undefined && restarts[0] <= arrival.atMs) {
      last = undefined;
      while (restarts[0] !== undefined && restarts[0] <= arrival.atMs) restarts.shift();
    }
    if (last && arrival.position === last.position) findings.push(outOfOrder(channel, `Position ${arrival.position} came twice.`));
    else if (last && arrival.position < last.position)
      findings.push(outOfOrder(channel, `Position ${arrival.position} came after position ${last.position}.`));
    last = arrival;
  }
  return findings.slice(0, positionsShownMax);
}

/** The first arrivals of one animal's events by position. They may come again. */
function checkEndpointOrder(channel: Channel, own: readonly Arrival[], petByPosition: ReadonlyMap<number, number>): Finding[] {
  const seen = new Set<number>();
  const lastOf = new Map<number, number>();
  const findings: Finding[] = [];
  for (const { position } of own) {
    const petId = petByPosition.get(position);
    if (petId === undefined || seen.has(position)) continue;
    seen.add(position);
    const last = lastOf.get(petId) ?? 0;
    if (position < last)
      findings.push(
        outOfOrder(channel, `Position ${position} of animal ${petId} came for the first time after position ${last} of the same animal.`),
      );
    lastOf.set(petId, Math.max(position, last));
  }
  return findings.slice(0, positionsShownMax);
}

const outOfOrder = (channel: Channel, text: string): Finding => ({ rule: 'events arrive in order', subject: nameOf(channel), text });
const nameOf = ({ kind, index }: Pick<Channel, 'kind' | 'index'>) => `${kind} ${index}`;
