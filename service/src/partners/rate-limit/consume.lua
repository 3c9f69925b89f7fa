-- Decides a batch of requests in one atomic step: both windows, strikes, bans, and whether the process's cache entry of
-- the client is still valid. A request may ask for a lease: the script then grants several requests at once, of which the process
-- decides the others by itself, and returns those that it has not used.
--
-- KEYS  for each request: counts, ban state, epoch, returns, the client's banned keys; then the index of bans, the catalogue's
--       token and that of listings
-- ARGV  1 the time in ms, or '' for the time of this server   2 a new epoch   3 the lengths of bans in ms
--       4 a line for each request, 'limits;epoch;seen;owed;back;asks': its limits 'per-minute per-day cost strikes-until-ban' (per day
--       0: no limit; cost 0: read only; strikes 0: never banned), the epoch of the cache entry ('*': any), what the process has seen
--       of counts and returns 'minute granted returned day granted returned', the counts that it admitted without Redis, the counts
--       that it returns of an earlier lease, and 1 if it asks for a lease
-- Counts are 'minute granted day granted', returns 'minute returned day returned rejected', where rejected is the last minute in
-- which a request was rejected. What is used is what was granted less what was returned; both only grow within a window. They have
-- separate names, so that a process of an earlier release, which doesn't know of returns, is merely strict.
-- A ban state is 'window first-429 strikes since banned-until level level-until'.
-- Returns 'time token token' (the catalogue's and that of listings; '' if there is none), then a line for each request: 'outcome minute granted returned day
-- granted returned strikes banned-until level lease', and after a lease of several requests the client's banned keys; or 'stale
-- epoch'. One string, not nested lists: parsing those is most of what a decision costs the process.

local MINUTE, DAY = 60000, 86400000
local STRIKES_TTL, LEVEL_TTL, GRACE, EPOCH_TTL = 300000, DAY, 1000, DAY

-- A lease is a 64th of what remains, 64 requests at most: as a window runs out, requests are decided one by one.
local LEASE_SHARE, LEASE_MAX = 64, 64

local COUNTS = '^(%d+) (%d+) (%d+) (%d+)$'
local SEEN = '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$'
local RETURNS = '^(%d+) (%d+) (%d+) (%d+) (%d+)$'

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local bans = KEYS[#KEYS - 2]
local replies = { string.format('%.0f ', now) .. (redis.call('GET', KEYS[#KEYS - 1]) or '') .. ' ' .. (redis.call('GET', KEYS[#KEYS]) or '') }
local this_minute, this_day = math.floor(now / MINUTE), math.floor(now / DAY)
-- Numbers are converted to and from text only where necessary: that is half of a decision's time.
local minute_text, day_text = string.format('%.0f', this_minute), string.format('%.0f', this_day)
local parsed_limits = {}

local function parse_counts(text)
  local minute, in_minute, day, in_day = string.match(text, COUNTS)
  return tonumber(minute), tonumber(in_minute), tonumber(day), tonumber(in_day)
end

-- Cached: most requests of a batch have the limits of one of a few plans.
local function parse_limits(text)
  local limits = parsed_limits[text]
  if not limits then
    limits = { parse_counts(text) }
    parsed_limits[text] = limits
  end
  return limits[1], limits[2], limits[3], limits[4]
end

local function ttl(per_day, minute, day)
  local ends = per_day > 0 and (day + 1) * DAY or (minute + 1) * MINUTE
  return string.format('%.0f', math.max(ends - now, 0) + MINUTE)
end

local function read_ban_state(text)
  if not text then return { window = 0, first = 0, strikes = 0, since = 0, ends = 0, level = 0, level_ends = 0 } end
  local w, f, s, since, e, l, le = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  return { window = tonumber(w), first = tonumber(f), strikes = tonumber(s), since = tonumber(since),
    ends = tonumber(e), level = tonumber(l), level_ends = tonumber(le) }
end

local function write_ban_state(key, ban)
  local text = string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f', ban.window, ban.first, ban.strikes, ban.since, ban.ends, ban.level, ban.level_ends)
  local ttl = math.max(ban.level_ends, ban.since + STRIKES_TTL, now + STRIKES_TTL) - now
  redis.call('SET', key, text, 'PX', string.format('%.0f', ttl))
end

local function add_banned_key(banned_key, ban_key, ends)
  local id = string.match(ban_key, '%d+$')
  if redis.call('ZSCORE', banned_key, id) == string.format('%.0f', ends) then return end
  redis.call('ZREMRANGEBYSCORE', banned_key, '-inf', now)
  redis.call('ZADD', banned_key, ends, id)
  -- Never before the end of another key's ban.
  if redis.call('PTTL', banned_key) < ends - now then redis.call('PEXPIRE', banned_key, string.format('%.0f', ends - now + MINUTE)) end
end

-- A 429 by the minute limit. The first of a window opens a grace second, for requests in flight; later ones are strikes.
local function strike(key, banned_key, ban, window, strikes_max)
  if ban.window ~= window or ban.first == 0 then
    ban.window, ban.first = window, now
  elseif now - ban.first > GRACE then
    if now - ban.since > STRIKES_TTL then ban.strikes, ban.since = 0, now end
    ban.strikes = ban.strikes + 1
  end
  if ban.strikes >= strikes_max then
    local lengths = {}
    for length in string.gmatch(ARGV[3], '%d+') do lengths[#lengths + 1] = tonumber(length) end
    if now > ban.level_ends then ban.level = 0 end
    ban.level = math.min(ban.level + 1, #lengths)
    ban.ends = now + lengths[ban.level]
    ban.level_ends = ban.ends + LEVEL_TTL
    ban.strikes, ban.since, ban.first = 0, 0, 0
    redis.call('ZREMRANGEBYSCORE', bans, '-inf', now)
    redis.call('ZADD', bans, ban.ends, key)
    add_banned_key(banned_key, key, ban.ends)
  end
  write_ban_state(key, ban)
end

local i = 0
for limits, epoch, seen, owed, back, asks in string.gmatch(ARGV[4], '([^;]*);([^;]*);([^;]*);([^;]*);([^;]*);([^\n]*)\n') do
  local counts_key, ban_key, epoch_key, returns_key, banned_key = KEYS[5 * i + 1], KEYS[5 * i + 2], KEYS[5 * i + 3], KEYS[5 * i + 4], KEYS[5 * i + 5]
  i = i + 1
  local per_minute, per_day, cost, strikes_max = parse_limits(limits)
  local stored = redis.call('MGET', counts_key, ban_key, epoch_key, returns_key)

  if epoch ~= '*' and epoch ~= stored[3] then
    if not stored[3] then redis.call('SET', epoch_key, ARGV[2], 'PX', EPOCH_TTL) end
    replies[#replies + 1] = 'stale ' .. (stored[3] or ARGV[2])
  else
    local minute, in_minute, day, in_day = this_minute, 0, this_day, 0
    local back_minute, back_day, rejected = 0, 0, 0
    -- What is stored is out of date: both counts and returns are written, or the one would be read without the other.
    local is_restored = false
    local is_new = true
    if stored[1] then
      -- A window never goes back, even if the clock does.
      local m, mc, d, dc = string.match(stored[1], COUNTS)
      if m == minute_text then
        in_minute = tonumber(mc)
      elseif tonumber(m) > minute then
        minute, in_minute = tonumber(m), tonumber(mc)
      end
      if d == day_text then
        in_day = tonumber(dc)
      elseif tonumber(d) > day then
        day, in_day = tonumber(d), tonumber(dc)
      end
      -- The TTL is set once, by the first write in a day, or in a minute if there is no limit per day.
      is_new = per_day > 0 and d ~= day_text or per_day == 0 and m ~= minute_text
    end
    if stored[4] then
      local m, mr, d, dr, r = string.match(stored[4], RETURNS)
      if tonumber(m) == minute then back_minute = tonumber(mr) end
      if tonumber(d) == day then back_day = tonumber(dr) end
      if back_minute > in_minute or back_day > in_day then
        -- What was returned of counts that are gone is gone too.
        back_minute, back_day, is_restored = math.min(back_minute, in_minute), math.min(back_day, in_day), true
      end
      rejected = tonumber(r)
    end
    if seen ~= '' then
      -- Redis may have been emptied or failed over, so take the larger count, with what was returned of it.
      local m, mc, mr, d, dc, dr = string.match(seen, SEEN)
      mc, mr, dc, dr = tonumber(mc), tonumber(mr), tonumber(dc), tonumber(dr)
      if tonumber(m) == minute and (mc > in_minute or mc == in_minute and mr > back_minute) then
        in_minute, back_minute, is_restored = mc, mr, true
      end
      if tonumber(d) == day and (dc > in_day or dc == in_day and dr > back_day) then
        in_day, back_day, is_restored = dc, dr, true
      end
    end
    if owed ~= '' then
      local m, mc, d, dc = parse_counts(owed)
      if m == minute then in_minute = in_minute + mc end
      if d == day then in_day = in_day + dc end
    end
    local writes_returns = is_restored
    if back ~= '' then
      local m, mr, d, dr = parse_counts(back)
      if m == minute then back_minute = math.min(back_minute + mr, in_minute) end
      if d == day then back_day = math.min(back_day + dr, in_day) end
      writes_returns = true
    end
    local left_minute, left_day = per_minute - (in_minute - back_minute), per_day - (in_day - back_day)

    local ban = strikes_max > 0 and stored[2] and read_ban_state(stored[2]) or nil
    local outcome, lease = 'admitted', cost
    if ban and ban.ends > now then
      outcome = 'banned'
      -- It may have been banned by a process of an earlier release, which doesn't know of leases.
      add_banned_key(banned_key, ban_key, ban.ends)
    elseif per_day > 0 and cost > left_day then
      outcome = 'day'
    elseif cost > left_minute then
      outcome = 'minute'
      if strikes_max > 0 then
        ban = ban or read_ban_state(false)
        strike(ban_key, banned_key, ban, minute, strikes_max)
        if ban.ends > now then outcome = 'banned' end
      end
    else
      if asks ~= '' and rejected ~= minute then
        local left = per_day > 0 and math.min(left_minute, left_day) or left_minute
        lease = math.max(math.min(math.floor(left / LEASE_SHARE), LEASE_MAX), 1)
      end
      in_minute, in_day = in_minute + lease, in_day + lease
      if ban and cost > 0 and ban.first > 0 then
        ban.first = 0
        write_ban_state(ban_key, ban)
      end
    end
    local is_admitted = outcome == 'admitted'
    if not is_admitted and outcome ~= 'banned' and strikes_max > 0 and rejected ~= minute then
      rejected, writes_returns = minute, true
    end
    if (is_admitted and cost > 0) or owed ~= '' or is_restored then
      local text
      if minute == this_minute and day == this_day then
        text = minute_text .. ' ' .. in_minute .. ' ' .. day_text .. ' ' .. in_day
      else
        text = string.format('%.0f %.0f %.0f %.0f', minute, in_minute, day, in_day)
      end
      if is_new then
        redis.call('SET', counts_key, text, 'PX', ttl(per_day, minute, day))
      else
        redis.call('SET', counts_key, text, 'KEEPTTL')
      end
    end
    if writes_returns then
      local text = string.format('%.0f %.0f %.0f %.0f %.0f', minute, back_minute, day, back_day, rejected)
      redis.call('SET', returns_key, text, 'PX', ttl(per_day, minute, day))
    end
    local ban_text = ' 0 0 0 '
    if ban then
      local strikes, level = 0, 0
      if now - ban.since <= STRIKES_TTL then strikes = ban.strikes end
      if now <= ban.level_ends then level = ban.level end
      ban_text = string.format(' %.0f %.0f %.0f ', strikes, ban.ends, level)
    end
    local banned = ''
    if lease > 1 then
      for _, key in ipairs(redis.call('ZRANGEBYSCORE', banned_key, now, '+inf')) do banned = banned .. ' ' .. key end
    end
    replies[#replies + 1] = outcome .. string.format(' %.0f ', minute) .. in_minute .. ' ' .. back_minute .. string.format(' %.0f ', day)
      .. in_day .. ' ' .. back_day .. ban_text .. lease .. banned
  end
end
return table.concat(replies, '\n')
