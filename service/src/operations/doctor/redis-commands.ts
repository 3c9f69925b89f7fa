import { randomUUID } from 'node:crypto';
import { type Redis, ReplyError } from 'ioredis';
import { broken, type Judgement, ok, within } from './finding.ts';

const timeoutMs = 3_000;
/** Long enough for one script. What it has written is gone after that, also if this process ends before. */
const keptMs = 1_000;

/** Each command that the scripts of the store use, on keys that begin as the store's do. Says which of them fail, and how. */
export const script = `
local text, list, set = KEYS[1], KEYS[2], KEYS[3]
local failed = {}
local function try(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then failed[#failed + 1] = ({...})[1] .. ': ' .. reply.err end
end
try('TIME')
try('SET', text, '1', 'PX', ARGV[1])
try('GET', text)
try('MGET', text, list)
try('PTTL', text)
try('LPUSH', list, '1')
try('LTRIM', list, 0, 0)
try('PEXPIRE', list, ARGV[1])
try('ZADD', set, 1, '1')
try('ZSCORE', set, '1')
try('ZRANGEBYSCORE', set, 0, 1)
try('ZREMRANGEBYSCORE', set, 2, 3)
try('ZREMRANGEBYRANK', set, 1, 2)
try('PEXPIRE', set, ARGV[1])
try('DEL', text)
return failed`;

/** Runs every kind of command that the store uses, as its processes do, so that a right that is missing is found whatever its reason. */
export async function checkCommands(client: Redis): Promise<Judgement> {
  const name = `hw:doctor:{0}:${randomUUID()}`;
  const commands: Record<string, () => Promise<unknown>> = {
    SET: () => client.set(name, '', 'PX', keptMs, 'NX'),
    EVAL: () => client.eval(script, 3, `${name}:text`, `${name}:list`, `${name}:set`, keptMs),
  };
  for (const [command, run] of Object.entries(commands)) {
    try {
      const failed = await within(timeoutMs, command, run());
      if (Array.isArray(failed) && failed.length > 0) return judgeFailure(String(failed[0]));
    } catch (error) {
      if (error instanceof ReplyError) return judgeFailure(`${command}: ${(error as Error).message}`);
      const found = `Redis replies to PING, and to no write (${command}) within ${timeoutMs / 1_000} s.`;
      const fix = 'If a script has left it paused: redis-cli client unpause. Otherwise look for what keeps it busy: redis-cli slowlog get.';
      return broken(found, fix);
    }
  }
  return ok('Redis runs every command that the store uses.');
}

export function judgeFailure(failure: string): Judgement {
  const found = `Redis rejects a command that every request needs, so that each process counts limits by itself: ${failure.replace(/\.?$/, '.')}`;
  if (/NOPERM|permission/i.test(failure)) {
    return broken(found, 'Permit it in the ACL of the user in REDIS_URL: docs/operations.md, Redis, says what the store uses.');
  }
  return broken(found, 'Remove what the message names, or look at the log of Redis.');
}
