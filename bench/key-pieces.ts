import { formats } from '../src/formats/format-list.ts'
import { replyHeaders } from '../src/http/entrance/reply-headers.ts'
import type { LimitAdmission } from '../src/limits/admission.ts'
import type { RequestRecord } from '../src/observe/record.ts'
import { costFunction } from '../src/prices/cost.ts'
import { governed } from './governed.ts'
import { benchPrice } from './proxies/svc-with-keys.ts'
import { chatPath, modelName, promptOf } from './upstream-protocol.ts'

/** What one part of the work for keys, limits and ledger costs. */
export interface PieceCost {
  readonly name: string
  /** The least of many short rounds, in microseconds of CPU. Other programs on the machine can only add to it. */
  readonly leastUs: number
}

const warmUpRounds = 30
const roundCalls = 4_000
const json = 'application/json'

/** Measures the parts of the work for a key, four limits and the ledger, each alone. */
export async function measurePieces(rounds: number): Promise<readonly PieceCost[]> {
  const { key, recognise, limits, money, tokenSizes, recorder, close } = await governed()
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
  const request = new Request(`http://127.0.0.1:9${chatPath}`, { method: 'POST', headers, body: '{}' })
  const context = { request, path: chatPath, address: '127.0.0.1', id: '' }
  const caller = (await recognise(context)) ?? {}
  const body = JSON.stringify({ model: modelName, messages: [{ role: 'user', content: promptOf(1_000) }] })
  const ask = formats.chat.check(new TextEncoder().encode(body), {
    path: chatPath,
    headers: request.headers,
    parameter: () => null,
  })
  const costOf = costFunction({ price: benchPrice, source: 'config' }, false)
  const usage = () => ({ promptTokens: 300, completionTokens: 200, totalTokens: 500 })
  const place = { provider: 'mock', model: modelName }
  const attempt = { ...place, ask, caller, listedNames: [modelName], listedAs: modelName, costOf }
  // The first hold reads a sum.
  await money.hold({ ...attempt, maxOutput: undefined })
  const names = [modelName]

  function admit() {
    const admission = limits.admit(caller)
    if (admission === undefined || admission instanceof Promise) throw new Error('no limit is counted here')
    return admission
  }
  const open = admit()
  void open.ask({ models: names, tokens: 1_300 })

  const writers = { without: replyHeaders(), withLimits: replyHeaders() }
  const served = {
    reply: { kind: 'whole', body: new Uint8Array(), usage: undefined, isEmpty: false },
    ...place,
  } as const
  function answerWith(admission: LimitAdmission | undefined): Response {
    const trail = [{ name: 'mock', status: 200, ms: 0.1 }]
    const answered = { id: Bun.randomUUIDv7(), started: performance.now() }
    const progress = { context: answered, format: formats.chat, trail, admission }
    const headers = (admission === undefined ? writers.without : writers.withLimits).of(progress, json, served)
    return new Response(served.reply.body, { headers })
  }

  const record = (): RequestRecord => ({
    ...{ time: Date.now(), id: 'c9bf9e57-1685-4c89-bafb-ff5af830be8a', api: 'chat', model: modelName },
    ...{ listedAs: modelName, stream: false, status: 200, provider: 'mock', upstream: modelName },
    trail: [{ name: 'mock', status: 200, ms: performance.now() }],
    totalMs: performance.now(),
    ...{ user: 'key:bench', line: 1, usage: usage(), cost: costOf(usage()) },
  })

  const pieces: Readonly<Record<string, () => void>> = {
    'the key is recognised': () => void recognise(context),
    'the request is measured': () => void formats.chat.demand({ ...ask }),
    'requests, tokens and slots are taken and settled'() {
      const admission = admit()
      void admission.ask({ models: names, tokens: 1_300 })
      admission.end(500)
    },
    'headers of an answer are written, without limits': () => void answerWith(undefined),
    'headers of an answer are written, with limits': () => void answerWith(open),
    'money is held and settled'() {
      const hold = money.hold({ ...attempt, maxOutput: undefined })
      if (hold === undefined || !('end' in hold)) throw new Error('no money was held')
      hold.end(usage(), true, { wholeBytes: 800 })
      hold.recorded()
    },
    'the cost of the answer is computed': () => void costOf(usage()),
    'sizes of tokens are learned'() {
      if (tokenSizes.isDue(place, { prompt: 1_040, answer: 0 }))
        tokenSizes.learn(place, usage(), { prompt: 1_040, answer: 0 })
    },
    'a record is made': () => void record(),
    'a record is made, and handed to the thread as text': () => recorder.add(record()),
  }
  const named = Object.entries(pieces)
  const least = named.map(() => Infinity)
  for (let round = 0; round < warmUpRounds + rounds; round += 1)
    for (const [index, [, run]] of named.entries()) {
      const us = roundUs(run)
      if (round >= warmUpRounds) least[index] = Math.min(least[index] ?? us, us)
      // Batches of records are taken from the queue.
      await Promise.resolve()
    }
  await close()
  return named.map(([name], index) => ({ name, leastUs: least[index] ?? 0 }))
}

function roundUs(run: () => void): number {
  const before = process.cpuUsage()
  for (let call = 0; call < roundCalls; call += 1) run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / roundCalls
}
