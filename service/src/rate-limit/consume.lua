-- Decides a batch of requests in one atomic step: both windows, strikes, bans, and whether what the process
-- remembers of the client is still true.
--
-- KEYS  for each request: counts, guard, epoch; then the index of bans. All lie in one slot.
-- ARGV  1 the time in ms, or '' for the time of this server   2 a fresh epoch   3 the lengths of bans in ms
--       4 a line for each request, 'terms;epoch;seen;owed': its terms 'per-minute per-day cost strikes-that-ban' (per day 0:
--       none; cost 0: only look; strikes 0: no guard), the epoch the process knows ('*': any), the counts it has seen,
--       the counts it admitted on its own
-- Counts are 'minute used day used'; a guard is 'window first-429 strikes since banned-until level level-until'.
-- Returns the time, then a line for each request: 'outcome minute used day used strikes banned-until level', or
-- 'stale epoch'. One text and not nested lists: reading those is most of what a decision costs the process.

local MINUTE, DAY = 60000, 86400000
local STRIKES_KEPT, LEVEL_KEPT, FREE, EPOCH_KEPT = 300000, DAY, 1000, DAY

local COUNTS = '^(%d+) (%d+) (%d+) (%d+)$'

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local bans = KEYS[#KEYS]
local answers = { string.format('%.0f', now) }
local this_minute, this_day = math.floor(now / MINUTE), math.floor(now / DAY)
-- Numbers become text and text numbers only where they must: that is half of what a decision takes.
local minute_text, day_text = string.format('%.0f', this_minute), string.format('%.0f', this_day)
local parsed_terms = {}

local function parse_counts(text)
  local minute, in_minute, day, in_day = string.match(text, COUNTS)
  return tonumber(minute), tonumber(in_minute), tonumber(day), tonumber(in_day)
end

-- Most requests of a batch have the terms of one of a few plans.
local function parse_terms(text)
  local terms = parsed_terms[text]
  if not terms then
    terms = { parse_counts(text) }
    parsed_terms[text] = terms
  end
  return terms[1], terms[2], terms[3], terms[4]
end

local function read_guard(text)
  if not text then return { window = 0, first = 0, strikes = 0, since = 0, ends = 0, level = 0, level_ends = 0 } end
  local w, f, s, since, e, l, le = string.match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$')
  return { window = tonumber(w), first = tonumber(f), strikes = tonumber(s), since = tonumber(since),
    ends = tonumber(e), level = tonumber(l), level_ends = tonumber(le) }
end

local function write_guard(key, g)
  local text = string.format('%.0f %.0f %.0f %.0f %.0f %.0f %.0f', g.window, g.first, g.strikes, g.since, g.ends, g.level, g.level_ends)
  local kept = math.max(g.level_ends, g.since + STRIKES_KEPT, now + STRIKES_KEPT) - now
  redis.call('SET', key, text, 'PX', string.format('%.0f', kept))
end

-- A refusal by the minute: the first of a window opens a free second (what was in flight), later ones are strikes.
local function strike(key, g, window, strikes_max)
  if g.window ~= window or g.first == 0 then
    g.window, g.first = window, now
  elseif now - g.first > FREE then
    if now - g.since > STRIKES_KEPT then g.strikes, g.since = 0, now end
    g.strikes = g.strikes + 1
  end
  if g.strikes >= strikes_max then
    local lengths = {}
    for length in string.gmatch(ARGV[3], '%d+') do lengths[#lengths + 1] = tonumber(length) end
    if now > g.level_ends then g.level = 0 end
    g.level = math.min(g.level + 1, #lengths)
    g.ends = now + lengths[g.level]
    g.level_ends = g.ends + LEVEL_KEPT
    g.strikes, g.since, g.first = 0, 0, 0
    redis.call('ZREMRANGEBYSCORE', bans, '-inf', now)
    redis.call('ZADD', bans, g.ends, key)
  end
  write_guard(key, g)
end

local i = 0
for terms, epoch, seen, owed in string.gmatch(ARGV[4], '([^;]*);([^;]*);([^;]*);([^\n]*)\n') do
  local counts_key, guard_key, epoch_key = KEYS[3 * i + 1], KEYS[3 * i + 2], KEYS[3 * i + 3]
  i = i + 1
  local per_minute, per_day, cost, strikes_max = parse_terms(terms)
  local stored = redis.call('MGET', counts_key, guard_key, epoch_key)

  if epoch ~= '*' and epoch ~= stored[3] then
    if not stored[3] then redis.call('SET', epoch_key, ARGV[2], 'PX', EPOCH_KEPT) end
    answers[#answers + 1] = 'stale ' .. (stored[3] or ARGV[2])
  else
    local minute, in_minute, day, in_day = this_minute, 0, this_day, 0
    local is_new = true
    if stored[1] then
      -- A window never goes back, even where the caller's clock does.
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
      -- Of a day that has begun, or without one of a minute, the time at which it is forgotten is set already.
      is_new = per_day > 0 and d ~= day_text or per_day == 0 and m ~= minute_text
    end
    if seen ~= '' and seen ~= stored[1] then
      -- Redis may have been emptied or failed over: the larger count is the truer one.
      local m, mc, d, dc = parse_counts(seen)
      if m == minute and mc > in_minute then in_minute = mc end
      if d == day and dc > in_day then in_day = dc end
    end
    if owed ~= '' then
      local m, mc, d, dc = parse_counts(owed)
      if m == minute then in_minute = in_minute + mc end
      if d == day then in_day = in_day + dc end
    end

    local guard = strikes_max > 0 and stored[2] and read_guard(stored[2]) or nil
    local outcome = 'admitted'
    if guard and guard.ends > now then
      outcome = 'banned'
    elseif per_day > 0 and in_day + cost > per_day then
      outcome = 'day'
    elseif in_minute + cost > per_minute then
      outcome = 'minute'
      if strikes_max > 0 then
        guard = guard or read_guard(false)
        strike(guard_key, guard, minute, strikes_max)
        if guard.ends > now then outcome = 'banned' end
      end
    else
      in_minute, in_day = in_minute + cost, in_day + cost
      if guard and cost > 0 and guard.first > 0 then
        guard.first = 0
        write_guard(guard_key, guard)
      end
    end
    local text
    if minute == this_minute and day == this_day then
      text = minute_text .. ' ' .. in_minute .. ' ' .. day_text .. ' ' .. in_day
    else
      text = string.format('%.0f %.0f %.0f %.0f', minute, in_minute, day, in_day)
    end
    if (outcome == 'admitted' and cost > 0) or owed ~= '' then
      if is_new then
        local ends = per_day > 0 and (day + 1) * DAY or (minute + 1) * MINUTE
        redis.call('SET', counts_key, text, 'PX', string.format('%.0f', math.max(ends - now, 0) + MINUTE))
      else
        redis.call('SET', counts_key, text, 'KEEPTTL')
      end
    end
    local standing = ' 0 0 0'
    if guard then
      local strikes, level = 0, 0
      if now - guard.since <= STRIKES_KEPT then strikes = guard.strikes end
      if now <= guard.level_ends then level = guard.level end
      standing = string.format(' %.0f %.0f %.0f', strikes, guard.ends, level)
    end
    answers[#answers + 1] = outcome .. ' ' .. text .. standing
  end
end
return table.concat(answers, '\n')
