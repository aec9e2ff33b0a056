import { describe, expect, test } from 'bun:test'
import { misbehavingClients } from '../lab/load/misbehaving-clients.ts'
import { answerOf, chat, chunkedBody, isDone, metric, question, rawChat, rawConnection } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { firstTokens } from './fakes/faults/cut.ts'
import { good } from './fakes/good.ts'
import { startUpstreamProcess } from './fakes/process.ts'
import { framed, streamHead, tokens } from './fakes/replies.ts'
import { provider, startService } from './harness.ts'
import { startRig } from './rig.ts'

const streams = 1_000,
  chunksEach = 200

function streamRequest(content: string): string {
  return rawChat(JSON.stringify(question({ stream: true, messages: [{ role: 'user', content }] })), {
    connection: 'close',
  })
}

describe('a thousand streams at once', () => {
  test('each gets every token of its own, once, in order', async () => {
    await using upstream = await startUpstreamProcess()
    await using service = await startService({ providers: [provider('a', upstream.url('paced'))] })
    const connections = Array.from({ length: streams }, (_, index) =>
      rawConnection(service.port, streamRequest(`stream=s${index} tokens=${chunksEach}`), 60_000),
    )
    await Promise.all(connections.map((connection) => connection.until('"content":"s')))
    const openAtOnce = await metric(service.url, 'svc_streams_open')
    const wrong = (await Promise.all(connections.map(({ response }) => response))).flatMap((response, index) => {
      const answer = answerOf(
        { status: Number(response.slice(9, 12)), headers: new Headers({ 'content-type': 'text/event-stream' }) },
        chunkedBody(response),
      )
      const isRight =
        answer.status === 200 && isDone(answer) && answer.content === tokens(chunksEach, `s${index}`).join('')
      return isRight ? [] : [`stream ${index}: ${answer.status}, ${answer.content.length} characters`]
    })
    expect(wrong).toEqual([])
    expect(openAtOnce).toBe(streams)
    expect(await metric(service.url, 'svc_streams_open')).toBe(0)
  }, 90_000)
})

describe('three hundred abandoned streams', () => {
  test('abort their upstream requests, and nothing stays open', async () => {
    await using rig = await startRig([
      async (exchange) => {
        await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens('a'))]))
        await exchange.hang()
      },
    ])
    const connections = Array.from({ length: 300 }, () =>
      rawConnection(rig.service.port, streamRequest('hello'), 30_000),
    )
    await Promise.all(connections.map((connection) => connection.until('a-2')))
    expect(await metric(rig.service.url, 'svc_streams_open')).toBe(300)
    for (const { socket } of connections) socket.destroy()
    const [upstream] = rig.upstreams
    await Promise.all(upstream?.hits.map(({ left }) => left) ?? [])
    expect([upstream?.hits.length, upstream?.open]).toEqual([300, 0])
    expect(await metric(rig.service.url, 'svc_streams_open')).toBe(0)
  }, 30_000)
})

describe('a hundred streams that never pause, whose clients do not read,', () => {
  /** Wide limit, for slow machines. It takes milliseconds, and took seconds when each stream was parsed at once. */
  const answeredMs = 500

  test.each(['endless-events', 'endless-tiny-events', 'endless-bytes'])(
    'do not delay others: %s',
    async (mode) => {
      await using upstream = await startUpstreamProcess()
      using quick = new DisposableStack()
      const { url } = quick.adopt(faultUpstream(good()), (started) => started.stop())
      await using service = await startService({
        providers: [provider('a', url), provider('b', upstream.url(mode), ['endless'])],
      })
      const clients = await misbehavingClients(
        service.port,
        { stuckReaders: 100, slowWriters: 0, idle: 0 },
        JSON.stringify(question({ model: 'endless', stream: true })),
      )
      try {
        const waits: number[] = []
        for (let count = 0; count < 9; count++) {
          const asked = performance.now()
          expect((await fetch(`${service.url}/health`, { keepalive: false })).status).toBe(200)
          expect((await chat(service.url, question())).status).toBe(200)
          waits.push(performance.now() - asked)
        }
        // Other programs of the machine may delay single requests by seconds.
        expect(waits.toSorted((one, other) => one - other)[4]).toBeLessThan(answeredMs)
      } finally {
        clients.stop()
      }
    },
    90_000,
  )
})
