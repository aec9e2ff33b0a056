import { keyPrefix, peerScript } from './peer.ts'

/**
 * Scripts of budgets that several machines share: the rules of `budgets/budget-account.ts`. Amounts are whole nano-USD,
 * at most 2⁵³ − 1, which numbers of Lua hold exactly. A larger sum stays at that: above every limit.
 *
 * | Key             | Holds                                                                                          |
 * | --------------- | ---------------------------------------------------------------------------------------------- |
 * | `budget:HASH`   | a hash: `spent`, `held`, `dearest` cost, `short`: process and number of the short hold         |
 * | `holds:PROCESS` | a hash: number of a hold → its likely cost, and of each budget key, amount, and `short` or `-` |
 * | `holders`       | a set: processes with holds                                                                    |
 */
const budgetsScript = `${peerScript}
local most, kept_ms = 9007199254740991, '604800000'
local holders, prefix = '${keyPrefix}holders', '${keyPrefix}holds:'
local function amount(text)
  local number = tonumber(text or 0) or 0
  -- Not a number is not equal to itself.
  if number ~= number or number < 0 then return 0 end
  return math.min(most, math.floor(number))
end
local accounts = {}
local function account(key)
  if not accounts[key] then
    local state = redis.call('HMGET', key, 'spent', 'held', 'short', 'dearest')
    accounts[key] = {
      spent = amount(state[1]), held = amount(state[2]), short = state[3], dearest = amount(state[4]),
    }
  end
  return accounts[key]
end
local function spend(one, cost) one.spent = math.min(most, one.spent + cost) end
local function hold_more(one, more) one.held = math.max(0, math.min(most, one.held + more)) end
local lives = {}
-- A budget without a life, which was found in a hold only, keeps its own, or gets that of holds.
local function save()
  for key, one in pairs(accounts) do
    redis.call('HSET', key, 'spent', whole(one.spent), 'held', whole(one.held), 'dearest', whole(one.dearest))
    if one.short then redis.call('HSET', key, 'short', one.short) else redis.call('HDEL', key, 'short') end
    if lives[key] then redis.call('PEXPIRE', key, lives[key])
    elseif redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, kept_ms) end
  end
end
local function shares(text)
  local all = {}
  for key, held, mark in text:gmatch(' (%S+) (%d+) ([%w-]+)') do
    all[#all + 1] = {key = key, amount = amount(held), short = mark == 'short'}
  end
  return all
end
local function estimate_of(text) return amount(text:match('^%d+')) end
local function text_of(estimate, all)
  local text = whole(estimate)
  for _, share in ipairs(all) do
    text = text .. ' ' .. share.key .. ' ' .. whole(share.amount) .. (share.short and ' short' or ' -')
  end
  return text
end
local function settle(owner, number, text, cost)
  redis.call('HDEL', prefix .. owner, number)
  for _, share in ipairs(shares(text)) do
    local one = account(share.key)
    hold_more(one, -share.amount)
    spend(one, cost)
    one.dearest = math.max(one.dearest, cost)
    if share.short and one.short == owner .. '/' .. number then one.short = false end
  end
end
`

/**
 * Holds an amount in all budgets, or in none. KEYS behind the first: budgets. ARGV from the third: number of the hold,
 * the most that it may cost, and what it holds alone where that does not fit; of each budget its limit, what is known
 * to be spent, and milliseconds to keep it.
 *
 * Returns the position of the budget that refuses, or 0; the smallest amount that was held, of a refusal 1 if the
 * budget has a short hold; the highest cost in these budgets. Then of each budget what was spent.
 */
export const admitScript = `${budgetsScript}
local number, estimate, alone, all, fits = ARGV[3], amount(ARGV[4]), amount(ARGV[5]), {}, true
for i = 1, #KEYS - 1 do
  local key, one = KEYS[i + 1], account(KEYS[i + 1])
  one.spent = math.max(one.spent, amount(ARGV[3 * i + 4]))
  lives[key] = ARGV[3 * i + 5]
  all[i] = {key = key, amount = estimate, short = false, room = amount(ARGV[3 * i + 3]) - one.spent - one.held}
  if estimate > all[i].room then fits = false end
end
local refusing, least = 0, estimate
if estimate > 0 and not fits then
  for i, share in ipairs(all) do
    local isShort = estimate > share.room
    if refusing == 0 and (share.room <= 0 or (isShort and account(share.key).short)) then refusing = i end
    if isShort then share.amount, share.short = math.min(share.room, alone), true end
    least = math.min(least, share.amount)
  end
end
if refusing == 0 then
  for _, share in ipairs(all) do
    hold_more(account(share.key), share.amount)
    if share.short then account(share.key).short = process .. '/' .. number end
  end
  redis.call('HSET', prefix .. process, number, text_of(alone, all))
  redis.call('PEXPIRE', prefix .. process, kept_ms)
  redis.call('SADD', holders, process)
  redis.call('PEXPIRE', holders, kept_ms)
end
save()
if refusing > 0 then least = account(all[refusing].key).short and 1 or 0 end
local answer = {processes, refusing, least, 0}
for i = 1, #KEYS - 1 do
  answer[4] = math.max(answer[4], account(KEYS[i + 1]).dearest)
  answer[i + 4] = account(KEYS[i + 1]).spent
end
return answer
`

/**
 * Raises and ends holds of the process. KEYS behind the first: budgets. ARGV from the third: of each budget what is
 * known to be spent, and milliseconds to keep it. Then of each hold its number, `raise`, `settle` or `book`, the
 * amount, and positions of its budgets.
 *
 * The cost of a hold that is not there counts on top of what is known to be spent: the server has lost the hold, or has
 * booked it before. So it is never lost, nor counted twice. `book` is for costs without a hold.
 *
 * Returns of each budget what was spent.
 */
export const updateScript = `${budgetsScript}
local known = {}
for i = 1, #KEYS - 1 do
  known[i] = amount(ARGV[2 * i + 1])
  lives[KEYS[i + 1]] = ARGV[2 * i + 2]
end
for from = 2 * #KEYS + 1, #ARGV, 4 do
  local number, kind, cost, places = ARGV[from], ARGV[from + 1], amount(ARGV[from + 2]), ARGV[from + 3]
  local text = kind ~= 'book' and redis.call('HGET', prefix .. process, number)
  if kind == 'raise' then
    if text then
      local all = shares(text)
      for _, share in ipairs(all) do
        local more = math.max(0, cost - share.amount)
        share.amount = share.amount + more
        hold_more(account(share.key), more)
      end
      redis.call('HSET', prefix .. process, number, text_of(math.max(cost, estimate_of(text)), all))
    end
  else
    if text then settle(process, number, text, cost) end
    for place in places:gmatch('%d+') do
      place = tonumber(place)
      known[place] = math.min(most, known[place] + cost)
      if kind == 'book' then spend(account(KEYS[place + 1]), cost) end
    end
  end
end
for i = 1, #KEYS - 1 do
  local one = account(KEYS[i + 1])
  one.spent = math.max(one.spent, known[i])
end
save()
if redis.call('HLEN', prefix .. process) == 0 then redis.call('SREM', holders, process) end
local answer = {processes}
for i = 1, #KEYS - 1 do answer[i + 1] = account(KEYS[i + 1]).spent end
return answer
`

/** Ends all holds of the process at no cost, but those whose numbers are given: ARGV from the third. */
export const releaseScript = `${budgetsScript}
local kept = {}
for i = 3, #ARGV do kept[ARGV[i]] = true end
local held = redis.call('HGETALL', prefix .. process)
for i = 1, #held, 2 do
  if not kept[held[i]] then settle(process, held[i], held[i + 1], 0) end
end
save()
return {processes}
`

/** Books the holds of dead processes at their estimates, at most some hundred a call. Returns their number. */
export const buryScript = `${budgetsScript}
local booked = 0
for _, owner in ipairs(redis.call('SMEMBERS', holders)) do
  if not alive[owner] and booked < 100 then
    local left = redis.call('HGETALL', prefix .. owner)
    for i = 1, #left, 2 do
      settle(owner, left[i], left[i + 1], estimate_of(left[i + 1]))
      booked = booked + 1
    end
    redis.call('SREM', holders, owner)
  end
end
save()
return {processes, booked}
`

/** KEYS behind the first: budgets. Returns of each what was spent, and what is held. */
export const budgetStateScript = `${budgetsScript}
local answer = {processes}
for i = 1, #KEYS - 1 do
  answer[2 * i] = account(KEYS[i + 1]).spent
  answer[2 * i + 1] = account(KEYS[i + 1]).held
end
return answer
`
