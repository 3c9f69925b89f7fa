-- Announces changes in one atomic step. For changes of animals it replaces the catalogue's token, and writes to the log what has
-- changed since the token before. For changes of what only listings show it replaces the token of listings.
--
-- KEYS  1 the token   2 the log   3 the transactions that were announced   4 the token of listings
-- ARGV  1 the new token   2 the changes of animals; empty: none   3 1 if something changed that only listings show
--       4 the length of the log   5 how many transactions are stored   6 for how many ms
--       7… the ids of the transactions that made the changes
-- An entry of the log is 'token token-before changes', newest first. Without a token before, '-' is in its place.

local token, log, announced, listings = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
if ARGV[2] ~= '' then
  local before = redis.call('GET', token) or '-'
  redis.call('SET', token, ARGV[1])
  redis.call('LPUSH', log, ARGV[1] .. ' ' .. before .. ' ' .. ARGV[2])
  redis.call('LTRIM', log, 0, ARGV[4] - 1)
  redis.call('PEXPIRE', log, ARGV[6])
end
if ARGV[3] == '1' then redis.call('SET', listings, ARGV[1]) end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 7, #ARGV do redis.call('ZADD', announced, now, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', announced, '-inf', now - ARGV[6])
redis.call('ZREMRANGEBYRANK', announced, 0, -1 - ARGV[5])
redis.call('PEXPIRE', announced, ARGV[6])
