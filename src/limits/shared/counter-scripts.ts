import { peerScript } from './peer.ts'

/**
 * Scripts of counters that several machines share. KEYS behind the first: hashes of counters.
 *
 * | Kind    | Fields                                                                                        |
 * | ------- | --------------------------------------------------------------------------------------------- |
 * | a rate  | `used`: the amount that has not come back; `at`: when that was, in microseconds of the server |
 * | at_once | a field a process: the slots that it holds. Those of dead processes do not count              |
 *
 * ARGV from the third: five words a counter: kind, amount a period, microseconds of the period (0 for `at_once`), and
 * two of the script. A hash expires when the counter is full again, that of slots 30 s after its last message:
 * heartbeats state the slots again before.
 */
const countersScript = `${peerScript}
local counters = {}
local slots_ms = 30000
for i = 1, #KEYS - 1 do
  local from = i * 5 - 2
  counters[i] = {
    key = KEYS[i + 1], slots = ARGV[from] == 'at_once', most = tonumber(ARGV[from + 1]),
    period = tonumber(ARGV[from + 2]), amount = tonumber(ARGV[from + 3]), more = tonumber(ARGV[from + 4]),
  }
end
local function used_of(counter)
  if not counter.slots then
    local state = redis.call('HMGET', counter.key, 'used', 'at')
    local used, at = tonumber(state[1] or 0) or 0, tonumber(state[2] or now) or now
    return math.max(0, used - math.max(0, now - at) * counter.most / counter.period)
  end
  local used, fields = 0, redis.call('HGETALL', counter.key)
  for i = 1, #fields, 2 do
    if alive[fields[i]] then used = used + (tonumber(fields[i + 1]) or 0)
    else redis.call('HDEL', counter.key, fields[i]) end
  end
  return used
end
local function set_used(counter, used)
  if counter.most == 0 then return end
  redis.call('HSET', counter.key, 'used', string.format('%.17g', used), 'at', whole(now))
  redis.call('PEXPIRE', counter.key, whole(math.ceil(used * counter.period / counter.most / 1000) + 1))
end
local function set_slots(counter, held)
  if held > 0 then
    redis.call('HSET', counter.key, process, whole(held))
    redis.call('PEXPIRE', counter.key, slots_ms)
  else
    redis.call('HDEL', counter.key, process)
  end
end
local function held_of(counter) return tonumber(redis.call('HGET', counter.key, process) or 0) or 0 end
`

/**
 * Takes amounts of all counters, or of none. The fifth word is the lease that the process wants beside the amount.
 *
 * Returns the position of the counter that refuses for the longest time, or 0, and the microseconds until it may not.
 * Then of each counter the lease that was given, the amount that is left, and the microseconds until all of it is.
 */
export const claimScript = `${countersScript}
-- Differences below it are errors of floating point.
local rounding = 1e-6
local refusing, longest = 0, 0
for i, counter in ipairs(counters) do
  local used, most, period = used_of(counter), counter.most, counter.period
  local wait = 0
  if most == 0 then
    wait = 9007199254740991
  elseif counter.slots then
    if used + counter.amount > most then wait = 1000000 end
  else
    -- An amount above the limit fits when the counter is full, which then owes the rest.
    local over = used + math.min(counter.amount, most) - most
    if over > rounding then wait = math.ceil(over * period / most) end
  end
  counter.used = used
  if wait > longest then refusing, longest = i, wait end
end
local answer = {processes, refusing, longest}
for _, counter in ipairs(counters) do
  local used, most, lease = counter.used, counter.most, 0
  if refusing == 0 and counter.amount > 0 then
    lease = math.max(0, math.min(counter.more, math.floor((most - used - counter.amount) / (4 * processes))))
    used = used + counter.amount + lease
    if counter.slots then set_slots(counter, held_of(counter) + counter.amount + lease)
    else set_used(counter, used) end
  end
  local reset = 0
  if counter.slots then
    if used > 0 then reset = 1000000 end
  elseif most > 0 then
    reset = math.ceil(used * counter.period / most)
  end
  answer[#answer + 1] = lease
  answer[#answer + 1] = math.max(0, math.floor(most - used + rounding))
  answer[#answer + 1] = reset
end
return answer
`

/** Returns amounts. Below 0: more was taken than granted. The fifth word has no meaning. */
export const returnScript = `${countersScript}
for _, counter in ipairs(counters) do
  if counter.slots then set_slots(counter, held_of(counter) - counter.amount)
  else set_used(counter, math.max(0, used_of(counter) - counter.amount)) end
end
return {processes}
`

/** States the slots that the process holds: the amounts. The fifth word has no meaning. */
export const stateScript = `${countersScript}
for _, counter in ipairs(counters) do set_slots(counter, counter.amount) end
return {processes}
`
