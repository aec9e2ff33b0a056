import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseJson, pick, question } from '../client.ts'
import { faultUpstream, type FaultUpstream } from '../fakes/fault-upstream.ts'
import { talker, type Talk, type Talker } from '../fakes/talker.ts'
import { provider, startService, type ServiceUnderTest } from '../harness.ts'

/** An answer to the page, as a reader has it. */
interface Reading {
  readonly status: number
  readonly headers: Headers
  /** Reads until the text so far contains this. */
  until(text: string): Promise<string>
  /** Reads to the end. */
  rest(): Promise<string>
  leave(): void
}

async function reading(url: string, init: RequestInit): Promise<Reading> {
  const abort = new AbortController()
  const response = await fetch(url, { ...init, signal: abort.signal })
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  async function read(isEnough: () => boolean): Promise<string> {
    while (!isEnough()) {
      const step = await reader?.read()
      if (step?.value === undefined) break
      text += decoder.decode(step.value, { stream: true })
    }
    return text
  }
  return {
    status: response.status,
    headers: response.headers,
    until: (wanted) => read(() => text.includes(wanted)),
    rest: () => read(() => false),
    leave: () => abort.abort(),
  }
}

const json = { 'content-type': 'application/json' }
let ids = 0
const newId = (): string => `answer-${process.pid}-${ids++}-0123456789`

/** Texts of the events of a stream. */
function contentOf(stream: string): string {
  return [...stream.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join('')
}

describe.each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
])('an answer to the page from %s', (_, flags) => {
  let service: ServiceUnderTest, upstream: FaultUpstream, talk: Talker

  beforeAll(async () => {
    talk = talker()
    upstream = faultUpstream((exchange) => talk.script(exchange))
    service = await startService({ providers: [provider('a', upstream.url, ['m'])] }, { flags })
  })
  afterAll(async () => {
    upstream.stop()
    await service.stop()
  })

  /** Asks as the page does, on a new connection. */
  const ask = (id: string, more: object = { stream: true }): Promise<Reading> =>
    reading(`${service.url}/api/chat`, {
      method: 'POST',
      headers: { ...json, 'x-request-id': id.slice(0, 16), 'x-svc-answer': id },
      body: JSON.stringify(question({ ...more })),
    })
  /** Reads again on a new connection, which any worker may get. */
  const again = (id: string, query = ''): Promise<Reading> =>
    reading(`${service.url}/api/answers/${id}${query}`, { headers: { connection: 'close' } })
  const stop = (id: string): Promise<Response> =>
    fetch(`${service.url}/api/answers/${id}`, { method: 'DELETE', headers: { connection: 'close' } })

  /** The records of a request, when there are any. Workers send them a moment later. */
  async function recorded(id: string): Promise<readonly unknown[]> {
    for (let turn = 0; turn < 100; turn++, await Bun.sleep(20)) {
      const all = pick(parseJson(await (await fetch(`${service.url}/api/requests`)).text()), 'requests')
      const found = Array.isArray(all) ? all.filter((each) => pick(each, 'id') === id) : []
      if (found.length > 0) return found
    }
    throw new Error('no record')
  }

  async function begun(id: string): Promise<readonly [Reading, Talk]> {
    const asking = ask(id)
    const asked = await talk.next()
    await asked.say('Half of it, ')
    const first = await asking
    await first.until('Half of it')
    return [first, asked]
  }

  test('goes on without its reader, and is read again by others, from anywhere', async () => {
    const id = newId()
    const [first, asked] = await begun(id)
    const received = await first.until('Half of it, ')
    first.leave()
    await asked.say('then more, ')
    const readers = await Promise.all([0, 1, 2, 3].map(() => again(id)))
    for (const reader of readers) expect(contentOf(await reader.until('more'))).toBe('Half of it, then more, ')
    const later = await again(id, `?from=${Buffer.byteLength(received)}`)
    await asked.say('and the rest.')
    await asked.finish()
    for (const reader of readers) {
      const all = await reader.rest()
      expect([contentOf(all), all.endsWith('data: [DONE]\n\n')]).toEqual(['Half of it, then more, and the rest.', true])
    }
    expect(received + (await later.rest())).toBe(await (await again(id)).rest())
    expect([later.status, later.headers.get('x-request-id'), later.headers.get('x-svc-provider')]).toEqual([
      200,
      id.slice(0, 16),
      'a',
    ])
    const record = { id: id.slice(0, 16), status: 200, promptTokens: 3, completionTokens: 5 }
    expect(await recorded(record.id)).toMatchObject([record])
    // Lists and logs show the request id.
    expect((await again(record.id)).status).toBe(404)
  })

  test('is stopped all the way to the provider at once, and tells its other readers', async () => {
    const times: number[] = []
    for (let round = 0; round < 3; round++) {
      const id = newId()
      const [first, asked] = await begun(id)
      const other = await again(id)
      await other.until('Half')
      const began = performance.now()
      expect((await stop(id)).status).toBe(204)
      await asked.left
      times.push(performance.now() - began)
      expect(await other.rest()).toEndWith('event: stopped\ndata: {}\n\n')
      expect(await first.rest()).not.toContain('[DONE]')
      expect(contentOf(await (await again(id)).rest())).toBe('Half of it, ')
    }
    expect(times.toSorted((one, other) => one - other)[1]).toBeLessThan(50)
  })

  test('to a program ends when the program leaves', async () => {
    const abort = new AbortController()
    const answering = fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...json, 'x-request-id': newId() },
      body: JSON.stringify(question({ stream: true })),
      signal: abort.signal,
    })
    const asked = await talk.next()
    await asked.say('Half')
    await answering
    abort.abort()
    await asked.left
  })
})
