import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { chunkedBody, errorOf, isDone, parseJson, pick, question, rawChat, rawConnection, trailOf } from '../client.ts'
import type { Script } from '../fakes/fault-upstream.ts'
import { firstTokens } from '../fakes/faults/cut.ts'
import { status } from '../fakes/faults/status.ts'
import { good, goodText } from '../fakes/good.ts'
import { chunk, completion, done, event, framed, lastChunk, reply, streamHead } from '../fakes/replies.ts'
import { quick } from '../harness.ts'
import { startRig } from '../rig.ts'

const silent: Script = (exchange) => exchange.hang()

/** Counts established connections to a port of this machine (proc_net_tcp: state 01). */
function connections(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/net/${table}`, 'utf8').split('\n'))
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, at = '', , state]) => at.endsWith(local) && state === '01').length
}

function lateFor(ms: number, then: Script): Script {
  return async (exchange) => {
    await exchange.pause(ms)
    await then(exchange)
  }
}

describe('the heartbeat', () => {
  const environment = { SVC_HEARTBEAT_MS: '60' }

  test('a stream that waits › gets 200 and comments, and failover goes on behind them', async () => {
    await using rig = await startRig([lateFor(250, status(500)), good()], { environment })
    const answer = await rig.askStream()
    expect([answer.status, answer.content, isDone(answer)]).toEqual([200, goodText(), true])
    expect(answer.text).toMatch(/^(: keep-alive\n\n){2,}data: /)
    expect(rig.hits()).toEqual([1, 1])
  })

  test('a stream that waits › has its status, headers and first comment at the time, not a beat later', async () => {
    await using rig = await startRig([lateFor(1_200, good())], { environment: { SVC_HEARTBEAT_MS: '400' } })
    const started = performance.now()
    const response = await fetch(`${rig.service.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(question({ stream: true })),
    })
    const headMs = performance.now() - started
    const first = await response.body?.getReader().read()
    const commentMs = performance.now() - started
    expect(new TextDecoder().decode(first?.value)).toBe(': keep-alive\n\n')
    expect(headMs).toBeGreaterThan(395)
    expect([headMs < 700, commentMs < 700]).toEqual([true, true])
  })

  test('a stream that waits › names in its headers the providers asked so far', async () => {
    await using rig = await startRig([status(500), lateFor(900, good({ name: 'b' }))], {
      environment: { SVC_HEARTBEAT_MS: '300' },
    })
    const answer = await rig.askStream()
    expect(answer.text).toStartWith(': keep-alive\n\n')
    expect(answer.headers.get('x-svc-attempts')).toBe('1')
    expect(trailOf(answer)).toMatchObject([{ name: 'a', status: '500', class: 'server_error' }])
    expect(answer.headers.get('server-timing')).toMatch(/^gw;dur=\d/)
    expect(answer.headers.get('x-request-id')).toBeString()
  })

  test('a stream that waits in vain › ends with an error event', async () => {
    await using rig = await startRig([lateFor(150, status(500)), status(400)], { environment })
    const answer = await rig.askStream()
    expect([answer.status, isDone(answer), errorOf(answer)?.type, errorOf(answer)?.code]).toEqual([
      200,
      false,
      'api_error',
      'provider_error',
    ])
    expect(answer.text).toStartWith(': keep-alive\n\n')
  })

  test('a stream that begins in time › has none', async () => {
    await using rig = await startRig([good()], { environment: { SVC_HEARTBEAT_MS: '2000' } })
    expect((await rig.askStream()).text).toStartWith('data: ')
  })

  test('a plain request › has none', async () => {
    await using rig = await startRig([lateFor(200, good())], { environment })
    expect((await rig.ask()).text).toStartWith('{')
  })
})

describe('x-svc-timeout-ms', () => {
  test.each([
    ['plain', false],
    ['streaming', true],
  ] as const)('lowers the time for the whole request, %s', async (_, stream) => {
    await using rig = await startRig([silent, good()])
    const started = performance.now()
    const answer = await rig.ask(stream ? { stream } : {}, { 'x-svc-timeout-ms': '200' })
    expect([answer.status, answer.headers.get('x-should-retry'), errorOf(answer)?.code]).toEqual([
      504,
      'true',
      'provider_error',
    ])
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(await rig.upstreams[0]?.hits[0]?.left).toBeNumber()
    expect(rig.hits()).toEqual([1, 0])
  })

  test('never raises it', async () => {
    await using rig = await startRig([silent], { limits: { deadline_ms: 200 } })
    const started = performance.now()
    expect((await rig.ask({}, { 'x-svc-timeout-ms': '60000' })).status).toBe(504)
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('with nonsense › does no harm', async () => {
    await using rig = await startRig([good()])
    for (const value of ['0', '-1', 'soon', '1e3', ''])
      expect([value, (await rig.ask({}, { 'x-svc-timeout-ms': value })).status]).toEqual([value, 200])
  })
})

describe('the whole request', () => {
  test('has a deadline over all attempts', async () => {
    await using rig = await startRig([silent, silent, silent], {
      limits: { deadline_ms: 900 },
      every: { timeouts: { attempt_ms: 500 } },
    })
    const started = performance.now()
    const answer = await rig.ask()
    expect(answer.status).toBe(504)
    expect(performance.now() - started).toBeLessThan(5_000)
    expect(trailOf(answer).map(({ class: failure }) => failure)).toEqual(['timeout', 'timeout'])
  })

  test('has a deadline that ends a stream before its first token, by an error event with the provider', async () => {
    await using rig = await startRig([status(500), silent], {
      limits: { deadline_ms: 400 },
      environment: { SVC_HEARTBEAT_MS: '100' },
    })
    const answer = await rig.askStream()
    expect([answer.status, isDone(answer)]).toEqual([200, false])
    expect(errorOf(answer)?.message).toMatch(
      /^All providers failed for model 'm': a: .*500.*; b: request deadline exceeded$/,
    )
  })

  test('has a deadline that ends a stream too, with an error event', async () => {
    const trickling: Script = async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens('a'))]))
      for (;;) {
        await exchange.pause(20)
        await exchange.write(framed(event(chunk({ content: 'x' }))))
      }
    }
    await using rig = await startRig([trickling], { limits: { deadline_ms: 300 } })
    const answer = await rig.askStream()
    expect([answer.status, isDone(answer), errorOf(answer)?.type]).toEqual([200, false, 'api_error'])
    expect(await rig.upstreams[0]?.hits[0]?.left).toBeNumber()
  })
})

describe('after the commit', () => {
  test('bytes within the idle time keep a slow stream alive', async () => {
    await using rig = await startRig([good({ tokens: 6, pauseMs: 120 })], {
      every: { timeouts: { idle_ms: 300, first_token_ms: 300, attempt_ms: 300 } },
    })
    const answer = await rig.askStream()
    expect([answer.content, isDone(answer)]).toEqual([goodText({ tokens: 6 }), true])
  })
})

describe('a client that reads slowly', () => {
  test('is no fault of its upstream: the stream is whole, however long it waits before it reads on', async () => {
    const large = 'x'.repeat(64 * 1024),
      count = 300
    const flooding: Script = async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(event(chunk({ content: 'first' })))]))
      for (let sent = 0; sent < count; sent++) await exchange.write(framed(event(chunk({ content: large }))))
      await exchange.write(Buffer.concat([framed(event(chunk({}, 'stop')) + done), lastChunk]))
    }
    await using rig = await startRig([flooding, good()], { every: quick })
    const client = rawConnection(
      rig.service.port,
      rawChat(JSON.stringify(question({ stream: true })), { connection: 'close' }),
      30_000,
    )
    await client.until('first')
    client.socket.pause()
    await Bun.sleep(900)
    client.socket.resume()
    const response = await client.response
    expect([
      chunkedBody(response).length > count * large.length,
      response.includes('[DONE]'),
      response.includes('"error"'),
    ]).toEqual([true, true, false])
  })
})

describe('a client that does not read', () => {
  test.concurrent('slows down its upstream, and both connections are closed in the end', async () => {
    const flood = framed(event(chunk({ content: 'x'.repeat(16 * 1024) })))
    const flooding: Script = async (exchange) => {
      await exchange.write(streamHead)
      for (;;) await exchange.write(flood)
    }
    await using rig = await startRig([flooding], { environment: { SVC_STALL_MS: '400' } })
    const arrived = rig.upstreams[0]?.nextHit()
    const client = rawConnection(rig.service.port, rawChat(JSON.stringify(question({ stream: true }))), 30_000)
    client.socket.pause()
    const hit = await arrived
    expect(connections(rig.service.port)).toBe(1)
    expect(await hit?.left).toBeNumber()
    // Held in the buffers of sockets. Without back-pressure it would be hundreds of MiB.
    expect(rig.upstreams[0]?.bytesWritten).toBeLessThan(32 * 1024 * 1024)
    // Closed by the service, although the client has not read all bytes.
    while (connections(rig.service.port) > 0) await Bun.sleep(50)
    client.socket.destroy()
  })

  const text = 'x'.repeat(12 * 1024 * 1024),
    largeAnswer = rawChat(JSON.stringify(question()), { connection: 'close' })
  const sending: Script = (exchange) => exchange.write(reply(200, JSON.stringify(completion(text))))

  test.concurrent('does not keep a large answer, which is dropped', async () => {
    await using rig = await startRig([sending], { environment: { SVC_STALL_MS: '100' } })
    const client = rawConnection(rig.service.port, largeAnswer, 30_000)
    client.socket.pause()
    await rig.upstreams[0]?.nextHit()
    while (rig.service.logs.every(({ message }) => message !== 'request')) await Bun.sleep(20)
    while (connections(rig.service.port) > 0) await Bun.sleep(20)
    expect(rig.service.logs.find(({ message }) => message === 'request')).toMatchObject({
      status: 499,
      error: 'client_left',
      provider: 'a',
    })
    // A cut answer does not look complete.
    client.socket.resume()
    const came = await client.response.catch(() => '')
    expect([came.length < text.length, came.endsWith('0\r\n\r\n')]).toEqual([true, false])
  })

  test.concurrent('but slowly › gets a large answer whole, also while the service stops', async () => {
    await using rig = await startRig([sending], { environment: { SVC_STALL_MS: '3000' } })
    const client = rawConnection(rig.service.port, largeAnswer, 30_000)
    client.socket.pause()
    await rig.upstreams[0]?.nextHit()
    await Bun.sleep(300)
    rig.service.signal('SIGTERM')
    // Longer than a stopping service keeps idle connections open.
    await Bun.sleep(3_000)
    client.socket.resume()
    expect(pick(parseJson(chunkedBody(await client.response)), 'choices', 0, 'message', 'content')).toBe(text)
    expect(await rig.service.exited).toBe(0)
  })
})
