import type { Redis } from 'ioredis';
import { addressText, type FoundPrimary, isNotPermitted, type SentinelReply, type WatchedServers } from '../../platform/redis/sentinels.ts';
import { counted, type Judgement, note, ok, warning } from './finding.ts';

export const noPrimaryFix =
  'Are the Sentinels running, and is what REDIS_URL and REDIS_SENTINEL_PASSWORD say of them correct? During a failover, wait. Meanwhile each process counts limits by itself.';

/** Which server is used, and who says so. */
export function judgeSentinels({ primary, replies }: FoundPrimary, { name }: Pick<WatchedServers, 'name'>): Judgement {
  const agreeing = replies.filter(({ problem }) => !problem);
  const found = `The primary "${name}" is ${addressText(primary)}, as ${sentinelsText(agreeing)}.`;
  const others = replies.filter(({ problem }) => problem);
  if (others.length === 0) return ok(found);
  const problems = others.map(({ sentinel, problem }) => `The one at ${sentinel} ${problem}.`).join(' ');
  return warning(`${found} ${problems}`, 'Mend it, or remove it from REDIS_URL: a failover needs most of the Sentinels.');
}

function sentinelsText(replies: readonly SentinelReply[]): string {
  const places = new Intl.ListFormat('en-GB').format(replies.map(({ sentinel }) => sentinel));
  return replies.length === 1 ? `the Sentinel at ${places} says` : `the Sentinels at ${places} say`;
}

/** The settings min-replicas-to-write and min-replicas-max-lag. Undefined: this Redis lets nobody read them. */
interface MinReplicas {
  readonly toWrite: number;
  readonly maxLagSeconds: number;
}

const minReplicasFix = 'Set min-replicas-to-write 1 and min-replicas-max-lag 2 on every Redis server.';

export function judgeReplicas(info: ReadonlyMap<string, string>, minReplicas: MinReplicas | undefined): Judgement {
  const replicas = Number(info.get('connected_slaves') ?? 0);
  const follow = replicas === 1 ? '1 replica follows the primary.' : `${counted(replicas, 'replica')} follow the primary.`;
  if (replicas === 0) return warning('No replica follows the primary: nothing can take over.', 'Start two replicas.');
  if (!minReplicas) return note(`${follow} Whether min-replicas-to-write is set can't be read here.`, minReplicasFix);
  const { toWrite, maxLagSeconds } = minReplicas;
  if (toWrite === 0 || maxLagSeconds === 0) {
    const found = `${follow} min-replicas-to-write is not set: a primary that is cut off from the others goes on counting beside the new one, so a client gets its limit from both.`;
    return warning(found, minReplicasFix);
  }
  if (replicas > toWrite) return ok(`${follow} It rejects writes if fewer than ${toWrite} do, for ${maxLagSeconds} s.`);
  const found = `${follow} After a failover one fewer does, and the new primary rejects writes (min-replicas-to-write ${toWrite}) until the old one is back.`;
  return note(found, 'Start another replica.');
}

export async function readMinReplicas(client: Redis): Promise<MinReplicas | undefined> {
  const read = async (name: string) => Number(((await client.config('GET', name)) as string[])[1] ?? 0);
  try {
    return { toWrite: await read('min-replicas-to-write'), maxLagSeconds: await read('min-replicas-max-lag') };
  } catch (error) {
    if (isNotPermitted(error)) return undefined;
    throw error;
  }
}

/** Nothing to say if it is permitted. */
export async function checkRole(client: Redis): Promise<readonly Judgement[]> {
  try {
    await client.role();
    return [];
  } catch (error) {
    if (!isNotPermitted(error)) throw error;
    const found = 'This Redis does not permit ROLE: that it is no longer the primary is noticed when it rejects a write, not before.';
    return [note(found, 'Permit it, in an ACL with +role, if your provider lets you.')];
  }
}
