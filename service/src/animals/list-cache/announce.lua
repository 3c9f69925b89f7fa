-- Announces changes in one atomic step: those of animals, and those of what only listings show. For each of the two it replaces a token,
-- and writes to a log what has changed since the token before.
--
-- KEYS  1 the token of animals   2 their log   3 the transactions that were announced   4 the token of listings   5 their log
-- ARGV  1 the new token   2 the changes of animals; empty: none   3 those of what only listings show; empty: none
--       4 the length of a log   5 how many transactions are stored   6 for how many ms
--       7… the ids of the transactions that made the changes
-- An entry of a log is 'token token-before changes', newest first. Without a token before, '-' is in its place.

local announced = KEYS[3]

local function announce(token, log, changes)
  if changes == '' then return end
  local before = redis.call('GET', token) or '-'
  redis.call('SET', token, ARGV[1])
  redis.call('LPUSH', log, ARGV[1] .. ' ' .. before .. ' ' .. changes)
  redis.call('LTRIM', log, 0, ARGV[4] - 1)
  redis.call('PEXPIRE', log, ARGV[6])
end

announce(KEYS[1], KEYS[2], ARGV[2])
announce(KEYS[4], KEYS[5], ARGV[3])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 7, #ARGV do redis.call('ZADD', announced, now, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', announced, '-inf', now - ARGV[6])
redis.call('ZREMRANGEBYRANK', announced, 0, -1 - ARGV[5])
redis.call('PEXPIRE', announced, ARGV[6])
