-- Decides a batch of requests in one atomic step: both windows, strikes, bans, and whether the process's cache entry of
-- the client is still valid.
--
-- KEYS  for each request: counts, ban state, epoch; then the index of bans, the catalogue's token and that of listings
-- ARGV  1 the time in ms, or '' for the time of this server   2 a new epoch   3 the lengths of bans in ms
--       4 a line for each request, 'limits;epoch;seen;owed': its limits 'per-minute per-day cost strikes-until-ban' (per day 0:
--       no limit; cost 0: read only; strikes 0: never banned), the epoch of the cache entry ('*': any), the counts that the
--       process has seen, the counts that it admitted without Redis
-- Counts are 'minute used day used'; a ban state is 'window first-429 strikes since banned-until level level-until'.
-- Returns 'time token token' (the catalogue's and that of listings; '' if there is none), then a line for each request: 'outcome
-- minute used day used strikes banned-until level', or 'stale epoch'. One string, not nested lists: parsing those is most of what
-- a decision costs the process.

local MINUTE, DAY = 60000, 86400000
local STRIKES_TTL, LEVEL_TTL, GRACE, EPOCH_TTL = 300000, DAY, 1000, DAY

local COUNTS = '^(%d+) (%d+) (%d+) (%d+)$'

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

-- A 429 by the minute limit. The first of a window opens a grace second, for requests in flight; later ones are strikes.
local function strike(key, ban, window, strikes_max)
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
  end
  write_ban_state(key, ban)
end

local i = 0
for limits, epoch, seen, owed in string.gmatch(ARGV[4], '([^;]*);([^;]*);([^;]*);([^\n]*)\n') do
  local counts_key, ban_key, epoch_key = KEYS[3 * i + 1], KEYS[3 * i + 2], KEYS[3 * i + 3]
  i = i + 1
  local per_minute, per_day, cost, strikes_max = parse_limits(limits)
  local stored = redis.call('MGET', counts_key, ban_key, epoch_key)

  if epoch ~= '*' and epoch ~= stored[3] then
    if not stored[3] then redis.call('SET', epoch_key, ARGV[2], 'PX', EPOCH_TTL) end
    replies[#replies + 1] = 'stale ' .. (stored[3] or ARGV[2])
  else
    local minute, in_minute, day, in_day = this_minute, 0, this_day, 0
    local is_new, is_restored = true, false
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
    if seen ~= '' and seen ~= stored[1] then
      -- Redis may have been emptied or failed over, so take the larger count. It is stored even if the request is rejected: other
      -- processes may have seen less.
      local m, mc, d, dc = parse_counts(seen)
      if m == minute and mc > in_minute then in_minute, is_restored = mc, true end
      if d == day and dc > in_day then in_day, is_restored = dc, true end
    end
    if owed ~= '' then
      local m, mc, d, dc = parse_counts(owed)
      if m == minute then in_minute = in_minute + mc end
      if d == day then in_day = in_day + dc end
    end

    local ban = strikes_max > 0 and stored[2] and read_ban_state(stored[2]) or nil
    local outcome = 'admitted'
    if ban and ban.ends > now then
      outcome = 'banned'
    elseif per_day > 0 and in_day + cost > per_day then
      outcome = 'day'
    elseif in_minute + cost > per_minute then
      outcome = 'minute'
      if strikes_max > 0 then
        ban = ban or read_ban_state(false)
        strike(ban_key, ban, minute, strikes_max)
        if ban.ends > now then outcome = 'banned' end
      end
    else
      in_minute, in_day = in_minute + cost, in_day + cost
      if ban and cost > 0 and ban.first > 0 then
        ban.first = 0
        write_ban_state(ban_key, ban)
      end
    end
    local text
    if minute == this_minute and day == this_day then
      text = minute_text .. ' ' .. in_minute .. ' ' .. day_text .. ' ' .. in_day
    else
      text = string.format('%.0f %.0f %.0f %.0f', minute, in_minute, day, in_day)
    end
    if (outcome == 'admitted' and cost > 0) or owed ~= '' or is_restored then
      if is_new then
        local ends = per_day > 0 and (day + 1) * DAY or (minute + 1) * MINUTE
        redis.call('SET', counts_key, text, 'PX', string.format('%.0f', math.max(ends - now, 0) + MINUTE))
      else
        redis.call('SET', counts_key, text, 'KEEPTTL')
      end
    end
    local ban_text = ' 0 0 0'
    if ban then
      local strikes, level = 0, 0
      if now - ban.since <= STRIKES_TTL then strikes = ban.strikes end
      if now <= ban.level_ends then level = ban.level end
      ban_text = string.format(' %.0f %.0f %.0f', strikes, ban.ends, level)
    end
    replies[#replies + 1] = outcome .. ' ' .. text .. ban_text
  end
end
return table.concat(replies, '\n')
