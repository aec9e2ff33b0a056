/**
 * Tells notices, and keeps those that are to be kept. KEYS: a sorted set of their keys by the moment they end (the
 * server's clock, in milliseconds), a hash of what they say. ARGV: channel, how many are kept, the longest time, who
 * tells, and of each notice: what it says, its key, its time (-1: not to be kept, 0: no longer), and how long ago it
 * was to be told: what is late takes the place of nothing that another told after that.
 */
export const tellScript = `
local ends, texts, channel, most, longest, teller = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function written(number) return string.format('%.0f', number) end

local function forget(keys)
  for _, key in ipairs(keys) do
    redis.call('ZREM', ends, key)
    redis.call('HDEL', texts, key)
  end
end

local function holds(key, wanted)
  local found = redis.call('TYPE', key).ok
  return found == wanted or found == 'none'
end
if not (holds(ends, 'zset') and holds(texts, 'hash')) then redis.call('DEL', ends, texts) end

-- Whether another told what is kept after this moment. One's own notices come in order.
local function isOutdated(key, since)
  local ending, text = redis.call('ZSCORE', ends, key), redis.call('HGET', texts, key)
  local isRead, notice = pcall(cjson.decode, text or '')
  if not (ending and isRead and type(notice) == 'table') or notice.from == teller then return false end
  return ending - (tonumber(notice.keptMs) or 0) - (tonumber(notice.agoMs) or 0) > since
end

for index = 5, #ARGV, 4 do
  local text, key, ms, ago = ARGV[index], ARGV[index + 1], tonumber(ARGV[index + 2]), tonumber(ARGV[index + 3])
  if ms > 0 and not (ago > 0 and isOutdated(key, now - ago)) then
    redis.call('HSET', texts, key, text)
    redis.call('ZADD', ends, written(now + ms), key)
  elseif ms == 0 then
    forget({key})
  end
  redis.call('PUBLISH', channel, text)
end

-- What has ended, what is left from before the clock was set back, what is too much; and anew, when a part is lost.
forget(redis.call('ZRANGEBYSCORE', ends, '-inf', written(now)))
forget(redis.call('ZRANGEBYSCORE', ends, '(' .. written(now + longest), '+inf'))
forget(redis.call('ZRANGE', ends, 0, -1 - most))
if redis.call('HLEN', texts) ~= redis.call('ZCARD', ends) then redis.call('DEL', ends, texts) end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, longest) end
`

/**
 * What is kept: what each says, and the milliseconds it has left. KEYS: as of {@link tellScript}. ARGV: how many, the
 * longest time.
 */
export const keptScript = `
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' or redis.call('TYPE', KEYS[2]).ok ~= 'hash' then return {} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found, kept = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now), string.format('%.0f', now + ARGV[2]), 'WITHSCORES', 'LIMIT', 0, ARGV[1]), {}
for index = 1, #found, 2 do
  local text = redis.call('HGET', KEYS[2], found[index])
  if text and #text <= 65536 then
    kept[#kept + 1] = text
    kept[#kept + 1] = tonumber(found[index + 1]) - now
  end
end
return kept
`
