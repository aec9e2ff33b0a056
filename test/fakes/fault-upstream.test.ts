import { afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { faultUpstream, type FaultUpstream, type Script } from './fault-upstream.ts'
import { cuts } from './faults/cut.ts'
import { good, goodText } from './good.ts'
import { faults } from './modes.ts'
import { requestReader } from './request-reader.ts'

let upstream: FaultUpstream | undefined
afterEach(() => upstream?.stop())

function start(script?: Script): FaultUpstream {
  return (upstream = faultUpstream(script))
}

function post(to: FaultUpstream, body: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${to.url}/chat/completions`, { method: 'POST', body, ...(signal === undefined ? {} : { signal }) })
}

describe('fault upstream', () => {
  test('records a request byte for byte and answers it', async () => {
    const response = await post(start(), '{"model":"m", "x": 1e2}')
    expect(await response.text()).toContain(goodText())
    expect(upstream?.hits.map((hit) => new TextDecoder().decode(hit.body))).toEqual(['{"model":"m", "x": 1e2}'])
    expect(upstream?.faults).toEqual([])
  })

  test('streams numbered tokens, with usage on request', async () => {
    const response = await post(
      start(good({ name: 'a', tokens: 2, pauseMs: 1 })),
      '{"stream":true,"stream_options":{"include_usage":true}}',
    )
    const text = await response.text()
    expect(text.indexOf('a-0')).toBeLessThan(text.indexOf('a-1'))
    expect(text).toContain('"total_tokens":8')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('sees the peer leave while a script is at work', async () => {
    const controller = new AbortController()
    const hit = start((exchange) => exchange.hang()).nextHit()
    const answer = post(upstream ?? start(), '{}', controller.signal).catch((error: unknown) => error)
    const { left } = await hit
    const before = performance.now()
    controller.abort()
    expect((await left) - before).toBeLessThan(200)
    expect(await answer).toBeInstanceOf(Error)
  })

  test('holds a script back while the peer does not read', async () => {
    start(async (exchange) => {
      for (;;) await exchange.write(Buffer.alloc(1 << 20))
    })
    const socket = connect(upstream?.port ?? 0, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'))
    socket.pause()
    await upstream?.nextHit()
    await Bun.sleep(50)
    const written = upstream?.bytesWritten ?? 0
    await Bun.sleep(50)
    expect(upstream?.bytesWritten).toBe(written)
    socket.destroy()
  })

  test('knows each way to fail by a name of its own', () => {
    const names = [...faults, ...cuts].map(({ name }) => name)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })
})

describe('request reader', () => {
  test('reads pipelined requests however they are cut', () => {
    const bytes = new TextEncoder().encode(
      'POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc' +
        'POST /b HTTP/1.1\r\nHost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n',
    )
    for (let size = 1; size < bytes.length; size += 7) {
      const read = requestReader()
      const found = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        read(bytes.subarray(index * size, (index + 1) * size)),
      ).flat()
      expect(
        found.map((request) =>
          typeof request === 'string' ? request : `${request.path} ${new TextDecoder().decode(request.body)}`,
        ),
      ).toEqual(['/a abc', '/b def'])
    }
  })

  test('finds fault with what a strict server refuses', () => {
    const found = requestReader()(
      new TextEncoder().encode(
        'POST http://x/ HTTP/1.1\r\nhost: x\r\nhost: y\r\nbad header : 1\r\ncontent-length: 0\r\n\r\n',
      ),
    )
    expect(found.filter((fault) => typeof fault === 'string')).toEqual([
      'request line: POST http://x/ HTTP/1.1',
      'repeated host',
      'header line: bad header : 1',
    ])
  })
})
