/**
 * Lua scripts, each atomic (EVAL). Owners, keys and values come as arguments only.
 *
 * Beside the values, which expire by themselves, four keys index them for the limits. When one is lost, counting starts
 * anew; values are not affected. A value's number is the server's time in microseconds, raised where needed to be
 * ascending.
 *
 * | Key     | Holds                                                                 |
 * | ------- | --------------------------------------------------------------------- |
 * | order   | sorted set: key by number                                             |
 * | places  | hash: key → owner's SHA-1 (40 digits), number (16)                    |
 * | owned   | sorted set of texts: owner's SHA-1, number, key                       |
 * | ranking | sorted set: oldest number and SHA-1 of each owner, by minus its count |
 */
const bookkeeping = `
local order, places, owned, ranking, value_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

local function oldest(owner)
  return redis.call('ZRANGEBYLEX', owned, '[' .. owner, '(' .. owner .. ':', 'LIMIT', 0, 1)[1]
end

local function count(owner)
  return redis.call('ZLEXCOUNT', owned, '[' .. owner, '(' .. owner .. ':')
end

-- Called around every change of an owner's values.
local function unrank(owner)
  local first = oldest(owner)
  if first then redis.call('ZREM', ranking, first:sub(41, 56) .. owner) end
end

local function rank(owner)
  local first = oldest(owner)
  if first then redis.call('ZADD', ranking, -count(owner), first:sub(41, 56) .. owner) end
end

local function forget(key)
  local place = redis.call('HGET', places, key)
  if place then
    local owner = place:sub(1, 40)
    unrank(owner)
    redis.call('ZREM', owned, place .. key)
    rank(owner)
  end
  redis.call('HDEL', places, key)
  redis.call('ZREM', order, key)
end
`

const taking = `
-- Returns the value, false for none, or the server's error. A key of another type is deleted.
local function take(value_key, key)
  local value = redis.pcall('GETDEL', value_key)
  if type(value) == 'table' then
    if not value.err:find('WRONGTYPE', 1, true) then return value end
    redis.call('DEL', value_key)
    value = false
  end
  forget(key)
  return value
end
`

/** KEYS: the index keys, the value's. ARGV: key. Returns the value, or nothing. */
export const takeScript = `${bookkeeping}${taking}
return take(value_key, ARGV[1])
`

/** KEYS: the index keys. ARGV: owner, prefix of value keys. Returns the owner's values, oldest first. */
export const takeAllScript = `${bookkeeping}${taking}
local owner, prefix, values = redis.sha1hex(ARGV[1]), ARGV[2], {}
for _, entry in ipairs(redis.call('ZRANGEBYLEX', owned, '[' .. owner, '(' .. owner .. ':')) do
  local key = entry:sub(57)
  local value = take(prefix .. key, key)
  if type(value) == 'table' then return value end
  if value then values[#values + 1] = value end
end
return values
`

/** KEYS: the index keys, the value's. ARGV: key. */
export const deleteScript = `${bookkeeping}
redis.call('DEL', value_key)
forget(ARGV[1])
`

/** KEYS: the index keys. ARGV: prefix of value keys, most. Returns the newest keys, each before its value, if any. */
export const listScript = `
local found = {}
for _, key in ipairs(redis.call('ZREVRANGE', KEYS[1], 0, tonumber(ARGV[2]) - 1)) do
  local value = redis.pcall('GET', ARGV[1] .. key)
  found[#found + 1] = key
  found[#found + 1] = type(value) == 'string' and value or false
end
return found
`

/** KEYS: the value's. A key of another type holds no value. */
export const getScript = `
local value = redis.pcall('GET', KEYS[1])
if type(value) == 'table' and value.err:find('WRONGTYPE', 1, true) then return false end
return value
`

/**
 * KEYS: the index keys, the value's. ARGV: key, value, owner, milliseconds until it expires, limit of values, limit of
 * values per owner, prefix of value keys. Clears at most 100 expired entries per call, to bound the time that others
 * wait for the server.
 */
export const setScript = `${bookkeeping}
local key, value, owner, ttl = ARGV[1], ARGV[2], redis.sha1hex(ARGV[3]), tonumber(ARGV[4])
local values_max, values_per_owner_max, prefix = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function drop(other)
  redis.call('DEL', prefix .. other)
  forget(other)
end

local function drop_oldest(of)
  local first = of and oldest(of)
  if first then drop(first:sub(57)) else drop(redis.call('ZRANGE', order, 0, 0)[1]) end
end

-- The first write: a server whose memory is full refuses it, and nothing has changed.
redis.call('SET', value_key, value, 'PX', ttl)

local expiry = string.format('%.0f', now - ttl * 1000)
for _, expired in ipairs(redis.call('ZRANGEBYSCORE', order, '-inf', expiry, 'LIMIT', 0, 100)) do forget(expired) end
forget(key)

-- Count anew when an index is incomplete, or the server's clock was set back: the entries would not be cleared in time.
local newest = tonumber(redis.call('ZRANGE', order, -1, -1, 'WITHSCORES')[2] or 0)
local size = redis.call('ZCARD', order)
if newest > now + 300000000 or size ~= redis.call('HLEN', places) or size ~= redis.call('ZCARD', owned) then
  redis.call('DEL', order, places, owned, ranking)
  newest = 0
end
local number = string.format('%016.0f', math.max(now, newest + 1))

unrank(owner)
redis.call('ZADD', order, number, key)
redis.call('HSET', places, key, owner .. number)
redis.call('ZADD', owned, 0, owner .. number .. key)
rank(owner)

if count(owner) > values_per_owner_max then drop_oldest(owner) end
if redis.call('ZCARD', order) > values_max then
  drop_oldest((redis.call('ZRANGE', ranking, 0, 0)[1] or ''):sub(17))
end
for index = 1, 4 do redis.call('PEXPIRE', KEYS[index], ttl) end
`
