-- Announces changes of animals in one atomic step: replaces the catalogue's token, and writes to the log what has changed since the
-- token before.
--
-- KEYS  1 the token   2 the log   3 the transactions that were announced
-- ARGV  1 the new token   2 the changes   3 the length of the log   4 how many transactions are stored   5 for how many ms
--       6… the ids of the transactions that made the changes
-- An entry of the log is 'token token-before changes', newest first. Without a token before, '-' is in its place.

local token, log, announced = KEYS[1], KEYS[2], KEYS[3]
local before = redis.call('GET', token) or '-'
redis.call('SET', token, ARGV[1])
redis.call('LPUSH', log, ARGV[1] .. ' ' .. before .. ' ' .. ARGV[2])
redis.call('LTRIM', log, 0, ARGV[3] - 1)
redis.call('PEXPIRE', log, ARGV[5])

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 6, #ARGV do redis.call('ZADD', announced, now, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', announced, '-inf', now - ARGV[5])
redis.call('ZREMRANGEBYRANK', announced, 0, -1 - ARGV[4])
redis.call('PEXPIRE', announced, ARGV[5])
