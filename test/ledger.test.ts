import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { chat, question } from './client.ts'
import type { Exchange, Script } from './fakes/fault-upstream.ts'
import { good, isStream } from './fakes/good.ts'
import {
  chunk,
  completion,
  done,
  errorReply,
  event,
  framed,
  lastChunk,
  reply,
  streamHead,
  usageChunk,
} from './fakes/replies.ts'
import { billed, startLedgerRig, until } from './ledger-rig.ts'
import { threadsOf } from './process-tree.ts'
import { startRig } from './rig.ts'

interface Bill {
  nanoUsd: number
  answers: number
}

const usageOf = (prompt: number, completion: number) => ({
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
})

/** A provider that bills a random usage for each answer. */
function billing(bill: Bill): Script {
  return async (exchange) => {
    const [prompt, answer] = [1 + Math.floor(Math.random() * 5_000), 1 + Math.floor(Math.random() * 900)]
    bill.nanoUsd += billed(prompt, answer)
    bill.answers += 1
    const top = usageOf(prompt, answer)
    if (!isStream(exchange))
      return await exchange.write(reply(200, JSON.stringify(completion('good-0 good-1 ', { top }))))
    await exchange.write(
      Buffer.concat([Buffer.from(streamHead), ...streamed([...opening, event(usageChunk(top)), done]), lastChunk]),
    )
  }
}

const opening = [
  event(chunk({ role: 'assistant', content: '' })),
  event(chunk({ content: 'good-0 ' })),
  event(chunk({ content: 'good-1 ' })),
  event(chunk({}, 'stop')),
]
const streamed = (events: readonly string[]) => events.map((each) => framed(each))

/** Fails in turn: refuses; is cut after it has reported its usage, which it bills; answers. */
function unreliable(bill: Bill, works: Script): Script {
  let turn = 0
  return async (exchange: Exchange) => {
    turn += 1
    if (turn % 3 === 0) return await exchange.write(errorReply(500, { message: 'no' }))
    // Translated streams report their usage at the end only: a cut one is an estimate.
    if (!Buffer.from(exchange.hit.body).includes('cut this')) return await works(exchange)
    bill.nanoUsd += billed(40, 7)
    const events = [...opening.slice(0, 2), event(usageChunk(usageOf(40, 7)))]
    await exchange.write(Buffer.concat([Buffer.from(streamHead), ...streamed(events)]))
    await exchange.pause(5)
    exchange.reset()
  }
}

const toBeCut = { messages: [{ role: 'user', content: 'cut this' }] }

/** Sends a request in one of the formats. */
async function send(url: string, key: string, index: number): Promise<Response> {
  const post = (path: string, body: object, headers: Record<string, string>) =>
    fetch(url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { ...headers, 'session-id': `ses_${index % 3}` },
    })
  const bearer = { authorization: `Bearer ${key}` }
  const stream = index % 2 === 0
  const contents = [{ role: 'user', parts: [{ text: 'hello' }] }]
  switch ((index % 8) >> 1) {
    case 0:
      return await post('/v1/chat/completions', question({ stream, ...(stream ? toBeCut : {}) }), bearer)
    case 1:
      return await post('/v1/messages', question({ max_tokens: 9, stream }), { 'x-api-key': key })
    case 2:
      return await post('/v1/responses', { model: 'm', input: 'hello', stream }, bearer)
    default:
      return await post(
        `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        { contents },
        {
          'x-goog-api-key': key,
        },
      )
  }
}

describe('complaint: streams cost nothing', () => {
  test.each([
    ['one process', []],
    ['three workers', ['--workers', '3']],
  ])(
    'does not happen: with %s the ledger is the bill of the providers, to the nano-dollar',
    async (_, flags) => {
      const bill: Bill = { nanoUsd: 0, answers: 0 }
      const works = billing(bill)
      await using rig = await startLedgerRig([unreliable(bill, works), works], { flags })
      const statuses = await Promise.all(
        Array.from({ length: 120 }, async (_, index) => {
          await Bun.sleep(index * 4)
          const response = await send(rig.service.url, rig.key, index)
          await response.text()
          return response.status
        }),
      )
      expect(statuses).toEqual(statuses.map(() => 200))
      await rig.service.stop()
      expect([rig.sum('requests'), rig.sum('cost')]).toEqual([120, bill.nanoUsd])
      expect(rig.sum('attempts')).toBeGreaterThan(0)
      expect([rig.sum('unpriced'), rig.sum('estimated')]).toEqual([0, 0])
      const sessions = rig.read('SELECT session, sum(requests) AS n, sum(cost) AS cost FROM usage_session GROUP BY 1')
      expect(sessions.map(({ session, n }) => [session, n])).toEqual([
        ['ses_0', 40],
        ['ses_1', 40],
        ['ses_2', 40],
      ])
      expect(sessions.reduce((sum, { cost }) => sum + Number(cost), 0)).toBe(bill.nanoUsd)
      expect(rig.read('SELECT DISTINCT line FROM usage_hour')).toEqual([{ line: 1 }])
      const rows = rig.read('SELECT count(*) AS n, sum(cost) AS cost FROM request', 'requests.db')[0]
      const attempts = rig.read('SELECT sum(cost) AS cost FROM attempt', 'requests.db')[0]
      expect([rows?.['n'], Number(rows?.['cost']) + Number(attempts?.['cost'])]).toEqual([120, bill.nanoUsd])
    },
    60_000,
  )
})

describe('complaint: client leaves: free, or charged wrongly', () => {
  test('does not happen: it counts as left, with an estimate that is marked', async () => {
    await using rig = await startLedgerRig([good({ tokens: 1_000, pauseMs: 20 })])
    const leaving = new AbortController()
    const response = await fetch(`${rig.service.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(question({ stream: true })),
      headers: { authorization: `Bearer ${rig.key}` },
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    await Bun.sleep(150)
    leaving.abort()
    await until(() => rig.sum('requests') === 1)
    expect(['left_early', 'errors', 'estimated', 'unpriced'].map(rig.sum)).toEqual([1, 0, 1, 0])
    expect(rig.sum('cost')).toBeGreaterThan(0)
    expect(rig.sum('cost')).toBe(rig.sum('cost_estimated'))
    expect(rig.sum('cost')).toBe(billed(rig.sum('input'), rig.sum('output')))
  })

  test('a reported 0 is 0 for an answer without content', async () => {
    const blank = completion('', { choice: { finish_reason: 'length' }, top: usageOf(5, 0) })
    const none: Script = (exchange) => exchange.write(reply(200, JSON.stringify(blank)))
    await using rig = await startLedgerRig([none])
    await chat(rig.service.url, question(), { headers: { authorization: `Bearer ${rig.key}` } })
    await rig.service.stop()
    expect(['requests', 'cost', 'unpriced', 'estimated'].map(rig.sum)).toEqual([1, billed(5, 0), 0, 0])
  })
})

describe('an answer whose usage is unusable', () => {
  test.each([
    ['missing', {}],
    ['0 for content', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    ['in fractions', { prompt_tokens: 0.5, completion_tokens: 0.25 }],
    ['negative', { prompt_tokens: -4, completion_tokens: -1, total_tokens: -5 }],
    ['huge', { prompt_tokens: 9e15, completion_tokens: 9e15, total_tokens: 18e15 }],
    ['not finite', '{"prompt_tokens":1e999,"completion_tokens":1e999}'],
    ['in texts', { prompt_tokens: '40', completion_tokens: 'few', total_tokens: '0' }],
    ['of another kind', [4, 1]],
  ])('%s, is estimated, not free', async (_, usage) => {
    const text = JSON.stringify(completion('x', { top: { usage: 0 } }))
    const answer = text.replace('"usage":0', `"usage":${typeof usage === 'string' ? usage : JSON.stringify(usage)}`)
    const script: Script = (exchange) => exchange.write(reply(200, answer))
    await using rig = await startLedgerRig([script])
    await chat(rig.service.url, question(), { headers: { authorization: `Bearer ${rig.key}` } })
    await rig.service.stop()
    const [cost, estimated] = ['cost', 'cost_estimated'].map(rig.sum)
    expect(cost).toBeGreaterThan(0)
    expect(estimated).toBe(cost)
    expect(['requests', 'estimated', 'unpriced'].map(rig.sum)).toEqual([1, 1, 0])
  })
})

describe('a failed attempt that may have been billed', () => {
  test('is counted as an estimate', async () => {
    await using rig = await startLedgerRig([(exchange) => exchange.reset(), good()])
    const headers = { authorization: `Bearer ${rig.key}` }
    expect((await chat(rig.service.url, question(), { headers })).status).toBe(200)
    await rig.service.stop()
    expect(['requests', 'attempts', 'estimated'].map(rig.sum)).toEqual([1, 1, 1])
  })
})

describe('complaint: the database slows requests', () => {
  test('does not happen: with a lock on it for seconds, each answer is as fast, and nothing is lost', async () => {
    await using rig = await startLedgerRig([good()])
    const headers = { authorization: `Bearer ${rig.key}` }
    const ask = async (): Promise<number> => {
      const before = performance.now()
      expect((await chat(rig.service.url, question(), { headers })).status).toBe(200)
      return performance.now() - before
    }
    await ask()
    const other = new Database(join(rig.home, 'svc.db'))
    const times: number[] = []
    other.run('PRAGMA busy_timeout = 5000')
    other.run('BEGIN IMMEDIATE')
    for (const end = performance.now() + 2_500; performance.now() < end;) times.push(await ask())
    other.run('COMMIT')
    other.close()
    const ofAll = times.toSorted((one, two) => one - two)
    expect(ofAll[Math.floor(ofAll.length * 0.9)]).toBeLessThan(100)
    await until(() => rig.sum('requests') === times.length + 1)
    const lines = () => rig.service.logs.map(({ message }) => message)
    await until(() => lines().includes('the use of models is written again'))
    expect(lines()).toContain('the use of models cannot be written; it waits in memory')
  }, 30_000)
})

describe('complaint: spend forgotten by restarts, or per replica', () => {
  test('does not happen: sums go on, also over a rolling restart', async () => {
    await using rig = await startLedgerRig([good()], { flags: ['--workers', '2'] })
    const headers = { authorization: `Bearer ${rig.key}` }
    const ask = (url: string) => chat(url, question(), { headers })
    for (let index = 0; index < 10; index += 1) await ask(rig.service.url)
    rig.service.signal('SIGUSR2')
    await until(() => rig.service.logs.filter(({ message }) => message === 'stopping').length >= 2)
    for (let index = 0; index < 10; index += 1) await ask(rig.service.url)
    await rig.service.stop()
    expect(rig.sum('requests')).toBe(20)
    await rig.restart()
    await ask(rig.service.url)
    await rig.service.stop()
    expect([rig.sum('requests'), rig.sum('cost')]).toEqual([21, 21 * billed(3, 5)])
  }, 60_000)
})

test.each([
  ['keys and limits', {}],
  ['keys and budgets', { 'access.json': JSON.stringify({ limits: [{ for: 'everyone', requests: 1_000_000 }] }) }],
])('without %s there is no database, and no thread', async (_, files) => {
  await using rig = await startRig([good()], { files })
  expect((await rig.ask()).status).toBe(200)
  expect(threadsOf(rig.service.pid)).not.toContain('svc-ledger')
  const own = ['providers.json', ...Object.keys(files)].toSorted()
  expect(readdirSync(rig.service.home).toSorted()).toEqual(own)
})
