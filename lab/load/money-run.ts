import { parseJson, pick, rawRequest } from '../../test/client.ts'
import { startMoneyMachines, type LedgerSum, type MoneyKey, type MoneyMachines } from './money-machines.ts'
import { maxOutput, moneyProvider, prices, type Bill } from './money-provider.ts'

/** Parameters of a money run. */
export interface MoneyAsked {
  readonly machines: number
  readonly workers: number
  readonly callers: number
  readonly withPostgres: boolean
  readonly minutes: number
  /** Kills of each kind. */
  readonly kills: number
  readonly revocations: number
}

/** What is killed within a round. */
export type Kill = 'worker' | 'primary' | 'Redis' | 'PostgreSQL'

/** One budget, and what it bought. Amounts are in nano-USD. */
export interface MoneyRound {
  readonly model: string
  readonly limit: number
  readonly kill: Kill | undefined
  /** Whole answers of callers that stay. */
  readonly billed: number
  /** The same in the ledger. */
  readonly booked: number
  /** Everything in the ledger, with callers that leave and estimates. */
  readonly spent: number
  readonly estimated: number
  readonly dearest: number
  /** Callers that leave: answers that they read to the end, the ledger's exact costs, whole answers at the provider. */
  readonly leaving: { readonly read: number; readonly booked: number; readonly billed: number }
  /** Whole answers under way at the kill, or ended in the 0.25 s before it. */
  readonly atKill: number
  /** Of them, those at the machine whose process was killed. */
  readonly lossMax: number
  /** All callers were refused. */
  readonly isUsedUp: boolean
}

/** Result of a money run. */
export interface MoneyFound {
  readonly rounds: readonly MoneyRound[]
  readonly requests: number
  readonly answered: number
  /** Milliseconds from the end of a key to the last request that it passed on the other machine. */
  readonly revokedMs: readonly number[]
  readonly complaints: readonly string[]
}

interface Sent {
  readonly round: number
  readonly machine: number
  readonly isLeaving: boolean
  readonly sentAt: number
  nano: number
  /** The client read the whole answer. */
  endedAt: number
}

interface Round {
  readonly model: string
  readonly limit: number
  readonly kill: Kill | undefined
  killedAt: number
  killedMachine: number | undefined
  isUsedUp: boolean
}

const roundsMax = 400
const keysCount = 8
const lossMs = 250
const refusalsUntilEnd = 3
/** A round of 64 callers or fewer takes this long at most; one of more callers longer, in proportion. */
const roundMsMax = 20_000
const missingKillsMs = 120_000
const callersUsual = 64
const knownMsMax = 30_000
const askMsMax = 10_000

/** Runs rounds until the time is over and everything was killed. Each round has its own model, with its own budget. */
export async function runMoney(asked: MoneyAsked): Promise<MoneyFound> {
  const sent = new Map<string, Sent>()
  const complaints: string[] = []
  const onBill = ({ request, nano }: Bill): void => {
    const entry = sent.get(request)
    if (entry === undefined) complaints.push(`a provider was asked for ${request.slice(0, 20)}, which no caller sent`)
    else if (entry.nano > 0) complaints.push(`request ${request} was billed twice`)
    else entry.nano = nano
  }
  const cheap = moneyProvider(prices.cheap, 0.06, onBill)
  const dear = moneyProvider(prices.dear, 0, onBill)
  // A budget lasts some answers of each caller.
  const limits = Array.from({ length: roundsMax }, () => Math.round(asked.callers * (2 + 4 * Math.random()) * 500_000))
  const access = {
    limits: limits.flatMap((nano, index) => [
      { for: 'everyone', usd: nano / 1e9, per: 'total', models: [`r${index}`] },
      { for: 'each key', usd: Math.round(nano / 3) / 1e9, per: 'total', models: [`r${index}`] },
    ]),
  }
  const modelsAt = (price: object) => limits.map((_, index) => ({ name: `r${index}`, max_output: maxOutput, price }))
  try {
    const config = {
      providers: [
        { id: 'cheap', base_url: cheap.url, models: modelsAt(prices.cheap) },
        { id: 'dear', base_url: dear.url, models: modelsAt(prices.dear) },
      ],
    }
    await using machines = await startMoneyMachines(config, access, asked)
    const keys: (readonly MoneyKey[])[] = []
    while (keys.length < keysCount) keys.push(await machines.makeKey())
    await Bun.sleep(1_000)
    const rounds = await runRounds(machines, keys, limits, sent, asked, complaints)
    const revokedMs =
      asked.withPostgres && machines.count > 1 ? await revoke(machines, asked.revocations, complaints) : []
    await machines.stop()
    const leavers = new Set(keys.filter((_, index) => leaves(index)).map((key) => key[0]?.line))
    const ledger = await machines.ledger()
    const all = [...sent.values()]
    return {
      rounds: rounds.map((round, index) =>
        foundIn(
          round,
          all.filter((entry) => entry.round === index),
          ledger.filter(({ model }) => model === round.model),
          leavers,
        ),
      ),
      requests: all.length,
      answered: all.filter(({ endedAt }) => endedAt < Number.POSITIVE_INFINITY).length,
      revokedMs,
      complaints,
    }
  } finally {
    cheap.stop()
    dear.stop()
  }
}

/** Every fourth key belongs to callers that leave. */
function leaves(key: number): boolean {
  return key % 4 === 3
}

async function runRounds(
  machines: MoneyMachines,
  keys: readonly (readonly MoneyKey[])[],
  limits: readonly number[],
  sent: Map<string, Sent>,
  { callers, minutes, kills, withPostgres }: MoneyAsked,
  complaints: string[],
): Promise<readonly Round[]> {
  const kinds: readonly Kill[] = ['worker', 'primary', 'Redis', ...(withPostgres ? (['PostgreSQL'] as const) : [])]
  const pending = Array.from({ length: kills }, () => kinds).flat()
  const rounds: Round[] = []
  const deadline = performance.now() + minutes * 60_000
  const scale = Math.max(1, callers / callersUsual)
  const hardDeadline = deadline + scale * missingKillsMs
  for (const [index, limit] of limits.entries()) {
    const now = performance.now()
    if (now > hardDeadline || (now > deadline && pending.length === 0)) break
    // Half of the rounds are undisturbed.
    const kill = index % 2 === 1 || now > deadline ? pending.shift() : undefined
    const round: Round = {
      ...{ model: `r${index}`, limit, kill, killedAt: Number.POSITIVE_INFINITY },
      ...{ killedMachine: undefined, isUsedUp: false },
    }
    rounds.push(round)
    const end = Math.min(now + scale * roundMsMax, hardDeadline)
    const results = Promise.all(
      Array.from({ length: callers }, (_, caller) =>
        call(machines, keys, { caller, round: index, model: round.model, end }, sent),
      ),
    )
    if (kill !== undefined) {
      await Bun.sleep(200 + Math.random() * 300)
      await disturb(machines, round).catch((error: unknown) => complaints.push(`kill of ${kill}: ${String(error)}`))
    }
    round.isUsedUp = (await results).every(Boolean)
  }
  if (pending.length > 0) complaints.push(`${pending.length} kills had no time`)
  return rounds
}

async function disturb(machines: MoneyMachines, round: Round): Promise<void> {
  const machine = Math.floor(Math.random() * machines.count)
  round.killedAt = performance.now()
  if (round.kill === 'worker' || round.kill === 'primary') round.killedMachine = machine
  if (round.kill === 'worker') machines.killWorker(machine)
  else if (round.kill === 'primary') await machines.killMachine(machine)
  else if (round.kill === 'Redis') await machines.killRedis()
  else await machines.killPostgres?.()
}

/** Sends requests until the budget refuses several in a row. @returns whether it did, before the end of the round */
async function call(
  machines: MoneyMachines,
  keys: readonly (readonly MoneyKey[])[],
  { caller, round, model, end }: { caller: number; round: number; model: string; end: number },
  sent: Map<string, Sent>,
): Promise<boolean> {
  const machine = caller % machines.count
  const keyIndex = Math.floor(caller / machines.count) % keys.length
  const { key = '' } = keys[keyIndex]?.[machine] ?? {}
  const isLeaving = leaves(keyIndex)
  for (let refusals = 0; refusals < refusalsUntilEnd;) {
    if (performance.now() > end) return false
    const request = String(sent.size).padStart(9, '0')
    const entry: Sent = {
      ...{ round, machine, isLeaving, sentAt: performance.now(), nano: 0 },
      endedAt: Number.POSITIVE_INFINITY,
    }
    sent.set(request, entry)
    const leaving = new AbortController()
    const timer = isLeaving && Math.random() < 0.5 ? setTimeout(() => leaving.abort(), Math.random() * 60) : undefined
    const isStream = Math.random() < 0.5
    const body = {
      ...{ model, user: request },
      messages: [{ role: 'user', content: 'word '.repeat(Math.random() < 0.5 ? 10 : 40).trim() }],
      ...(Math.random() < 0.5 ? { max_tokens: 10 + Math.floor(Math.random() * 50) } : {}),
      ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
      ...(isStream && Math.random() < 0.5 ? { tools: [{ type: 'function', function: { name: 'f' } }] } : {}),
    }
    try {
      const response = await fetch(`${machines.at(machine).url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.any([leaving.signal, AbortSignal.timeout(15_000)]),
      })
      const text = await response.text()
      const isWhole = response.status === 200 && (!isStream || text.includes('data: [DONE]'))
      if (isWhole) entry.endedAt = performance.now()
      const isRefused = response.status === 429 && pick(parseJson(text), 'error', 'code') === 'insufficient_quota'
      refusals = isRefused ? refusals + 1 : 0
      if (!isWhole) await Bun.sleep(40 + Math.random() * 20)
    } catch {
      // It left, or the machine is away.
      if (!leaving.signal.aborted) await Bun.sleep(50)
    } finally {
      clearTimeout(timer)
    }
  }
  return true
}

function foundIn(
  { model, limit, kill, killedAt, killedMachine, isUsedUp }: Round,
  entries: readonly Sent[],
  ledger: readonly LedgerSum[],
  leavers: ReadonlySet<number | undefined>,
): MoneyRound {
  const total = (some: readonly Sent[]) => some.reduce((sum, { nano }) => sum + nano, 0)
  const sum = (some: readonly LedgerSum[], read: (sum: LedgerSum) => number) =>
    some.reduce((all, each) => all + read(each), 0)
  const staying = entries.filter(({ isLeaving }) => !isLeaving)
  const leaving = entries.filter(({ isLeaving }) => isLeaving)
  const atKill = entries.filter(({ sentAt, endedAt }) => sentAt <= killedAt && endedAt >= killedAt - lossMs)
  const exact = ({ cost, estimated }: LedgerSum) => cost - estimated
  const ofLeavers = ledger.filter(({ line }) => leavers.has(line))
  const ofStaying = ledger.filter(({ line }) => !leavers.has(line))
  return {
    ...{ model, limit, kill, isUsedUp },
    billed: total(staying),
    booked: sum(ofStaying, exact),
    spent: sum(ledger, ({ cost }) => cost),
    estimated: sum(ledger, ({ estimated }) => estimated),
    dearest: entries.reduce((most, { nano }) => Math.max(most, nano), 0),
    leaving: {
      read: total(leaving.filter(({ endedAt }) => endedAt < Number.POSITIVE_INFINITY)),
      booked: sum(ofLeavers, exact),
      billed: total(leaving),
    },
    atKill: kill === undefined ? 0 : total(atKill),
    lossMax: total(atKill.filter(({ machine }) => machine === killedMachine)),
  }
}

/** Ends keys at the first machine, while four callers ask the second one without a pause. */
async function revoke(machines: MoneyMachines, count: number, complaints: string[]): Promise<readonly number[]> {
  const times: number[] = []
  for (let turn = 0; turn < count; turn += 1) {
    const [made, known] = await machines.makeKey()
    if (made === undefined || known === undefined) break
    let answer = ''
    const ask = async (): Promise<boolean> => {
      const lines = [
        'GET /v1/key HTTP/1.1',
        'host: 127.0.0.1',
        `authorization: Bearer ${known.key}`,
        'connection: close',
      ]
      answer = await rawRequest(machines.at(1).port, `${lines.join('\r\n')}\r\n\r\n`, askMsMax)
      return answer.startsWith('HTTP/1.1 200')
    }
    const madeAt = performance.now()
    while (!(await ask()) && performance.now() < madeAt + knownMsMax) await Bun.sleep(50)
    if (!answer.startsWith('HTTP/1.1 200')) {
      complaints.push(`a new key is not known on the other machine: ${JSON.stringify(answer.slice(0, 400))}`)
      break
    }
    let endedAt = Number.POSITIVE_INFINITY
    let lastPassed = 0
    const asking = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (performance.now() < endedAt + 2_000) {
          const at = performance.now()
          if (await ask()) lastPassed = Math.max(lastPassed, at)
          else await Bun.sleep(10)
        }
      }),
    )
    await machines.endKey(0, made.line)
    endedAt = performance.now()
    await asking
    times.push(Math.max(0, lastPassed - endedAt))
  }
  return times
}
