import { keyPrefix, peerScript } from './peer.ts'

/**
 * The script of all accounts that several machines share: rates, slots and money. KEYS behind the first: their hashes.
 *
 * | Kind    | Fields                                                                                            |
 * | ------- | ------------------------------------------------------------------------------------------------- |
 * | a rate  | `used`: the amount that has not come back; `at`: when that was, in microseconds of the server     |
 * | at_once | a field a process: the slots that it holds. Those of dead processes do not count                  |
 * | usd     | `spent`, `held`, `dearest` cost, `short`: the process with the short hold. A field a process:     |
 * |         | all that it has spent, what it holds, and what its short hold is likely to cost beyond its amount |
 *
 * ARGV[3]: the accounts, each with what this process states of it. A message that may have run is stated again, and
 * counts once; only what a rate gets back is an increment. ARGV[4]: questions, lists of claims: position of the
 * account, amount, and the lease that is wanted, or of money its likely cost. A question takes all of its claims, or
 * none.
 *
 * Money is in whole nano-USD, at most 2⁵³ − 1, which numbers of Lua hold exactly. A larger sum stays at that: above
 * every limit. The holds of a dead process are booked. If the process returns within an hour, its next costs count
 * against the booking. Processes before version 2 of these scripts keep their holds in other keys and count them in
 * `held`; what is left of them when none of these processes lives is booked.
 *
 * Returns for each question the position of the claim that refuses for the longest time, or 0, and the microseconds
 * until it may not. Then of each claim the lease, the amount that is left, and the microseconds until all of it is; of
 * money what is held, 1 for a short hold (of a refusal: the budget has one), and the dearest cost. Last, of each
 * account what is spent and held.
 */
export const accountScript = `${peerScript}
local most, slots_ms, never = 9007199254740991, 30000, 9007199254740991
-- Differences below it are errors of floating point.
local rounding = 1e-6
local function capped(number) return math.max(0, math.min(most, number)) end
local function amount_of(text)
  local number = tonumber(text or 0) or 0
  -- Not a number is not equal to itself.
  if number ~= number then return 0 end
  return capped(math.floor(number))
end
local function read(key)
  local fields, list = {}, redis.pcall('HGETALL', key)
  if list.err then
    redis.call('DEL', key)
    list = {}
  end
  for i = 1, #list, 2 do fields[list[i]] = list[i + 1] end
  return fields
end
-- Writes a field that has changed. A field that is absent counts as its empty value.
local function put(one, name, text, empty)
  if (one.fields[name] or empty) == text then return end
  if text == '' then redis.call('HDEL', one.key, name) else redis.call('HSET', one.key, name, text) end
  one.changed = true
end
local function spend(one, cost) one.spent = capped(one.spent + cost) end

local rate, slots, money = {}, {}, {}

function rate.open(one)
  local used, at = tonumber(one.fields.used or 0) or 0, tonumber(one.fields.at or now) or now
  one.used = math.max(0, used - math.max(0, now - at) * one.most / one.period - one.returned)
  one.changed = one.returned ~= 0
end
function rate.wait(one, amount)
  if one.most == 0 then return never end
  -- An amount above the limit fits when the counter is full, which then owes the rest.
  local over = one.used + math.min(amount, one.most) - one.most
  return over > rounding and math.ceil(over * one.period / one.most) or 0
end
function rate.reset(one) return one.most > 0 and math.ceil(one.used * one.period / one.most) or 0 end
function rate.save(one)
  if not one.changed or one.most == 0 then return end
  redis.call('HSET', one.key, 'used', string.format('%.17g', one.used), 'at', whole(now))
  redis.call('PEXPIRE', one.key, whole(math.ceil(one.used * one.period / one.most / 1000) + 1))
end

function slots.open(one)
  one.used = one.held
  for name, text in pairs(one.fields) do
    if name ~= process and alive[name] then one.used = one.used + (tonumber(text) or 0)
    elseif name ~= process then redis.call('HDEL', one.key, name) end
  end
end
function slots.wait(one, amount)
  if one.most == 0 then return never end
  return one.used + amount > one.most and 1000000 or 0
end
function slots.reset(one) return one.used > 0 and 1000000 or 0 end
function slots.save(one)
  put(one, process, one.held > 0 and whole(one.held) or '', '')
  if one.held > 0 then redis.call('PEXPIRE', one.key, slots_ms) end
end

local function take_counted(one, amount, wanted)
  local lease = 0
  if amount > 0 then
    lease = math.max(0, math.min(wanted, math.floor((one.most - one.used - amount) / (4 * processes))))
    one.used, one.held, one.changed = one.used + amount + lease, one.held + amount + lease, true
  end
  return lease
end
local function state_counted(one, lease)
  return lease or 0, math.max(0, math.floor(one.most - one.used + rounding)), one:reset()
end
rate.take, rate.state, slots.take, slots.state = take_counted, state_counted, take_counted, state_counted

function money.open(one)
  local fields, held_by_others, counted = one.fields, 0, math.max(0, one.acked)
  local unstated = amount_of(fields.held)
  one.spent, one.short = amount_of(fields.spent), fields.short or ''
  one.highest = math.max(amount_of(fields.dearest), one.dearest)
  for name, text in pairs(fields) do
    local total, held, beyond = text:match('^(%d+) (%d+) (%d+)$')
    if total then
      total, held, beyond = amount_of(total), amount_of(held), amount_of(beyond)
      unstated = unstated - held
      if name == process then
        -- Of a message whose answer was lost, too.
        counted = total
      elseif alive[name] then
        held_by_others = held_by_others + held
      else
        spend(one, held + beyond)
        put(one, name, silent[name] and whole(capped(total + held + beyond)) .. ' 0 0' or '')
      end
    end
  end
  unstated = math.max(0, unstated)
  if not has_earlier then
    local owner, number = one.short:match('^([%w-]+)/(%d+)$')
    local text = owner and redis.call('HGET', '${keyPrefix}holds:' .. owner, number)
    spend(one, unstated + amount_of(text and text:match('^%d+')))
    unstated = 0
  end
  -- A server that has lost its data goes on with what this process knows.
  local least = capped(one.known + math.max(0, one.total - math.max(0, one.acked)))
  one.counted = math.max(one.total, counted)
  one.spent = math.max(capped(one.spent + one.counted - counted), least)
  one.all_held = capped(unstated + held_by_others + one.held)
  if not alive[one.short:match('^[^/]*')] or (one.short == process and one.beyond < 0) then one.short = '' end
  if one.beyond >= 0 and one.short == '' then one.short = process end
end
local function room_of(one) return one.most - one.spent - one.all_held end
function money.wait(one, amount, alone)
  local room = room_of(one)
  if amount == 0 or amount <= room or (one.short == '' and math.min(room, alone) > 0) then return 0 end
  return never
end
function money.take(one, amount, alone)
  local is_short = amount > 0 and amount > room_of(one)
  if is_short then
    amount = math.min(room_of(one), alone)
    one.short, one.beyond = process, alone - amount
  end
  one.held, one.all_held = one.held + amount, capped(one.all_held + amount)
  return {amount, is_short and 1 or 0}
end
function money.state(one, taken)
  if taken then return taken[1], taken[2], one.highest end
  return 0, one.short == '' and 0 or 1, one.highest
end
function money.save(one)
  put(one, 'spent', whole(one.spent), '0')
  put(one, 'held', whole(one.all_held), '0')
  put(one, 'dearest', whole(one.highest), '0')
  put(one, 'short', one.short, '')
  put(one, process, whole(one.counted) .. ' ' .. whole(one.held) .. ' ' .. whole(math.max(0, one.beyond)), '0 0 0')
  if one.changed then redis.call('PEXPIRE', one.key, whole(one.life)) end
end

local accounts = cjson.decode(ARGV[3])
for i, one in ipairs(accounts) do
  local kind = one.kind == 'usd' and money or one.kind == 'at_once' and slots or rate
  setmetatable(one, {__index = kind})
  one.key = KEYS[i + 1]
  one.fields = read(one.key)
  one:open()
end
local answer = {processes}
local function say(...) for _, number in ipairs({...}) do answer[#answer + 1] = number end end
for _, claims in ipairs(cjson.decode(ARGV[4])) do
  local refusing, longest = 0, 0
  for i, claim in ipairs(claims) do
    local wait = accounts[claim[1]]:wait(claim[2], claim[3])
    if wait > longest then refusing, longest = i, wait end
  end
  say(refusing, longest)
  for _, claim in ipairs(claims) do
    local one = accounts[claim[1]]
    say(one:state(refusing == 0 and one:take(claim[2], claim[3]) or nil))
  end
end
for _, one in ipairs(accounts) do
  one:save()
  say(one.spent or 0, one.all_held or 0, one.counted or 0)
end
return answer
`
