import { describe, expect, test } from 'bun:test'
import { answerOf, chunkedBody, isDone, metric, question, rawChat, rawConnection } from './client.ts'
import { firstTokens } from './fakes/faults/cut.ts'
import { startUpstreamProcess } from './fakes/process.ts'
import { framed, streamHead, tokens } from './fakes/replies.ts'
import { provider, startService } from './harness.ts'
import { startRig } from './rig.ts'

const streams = 1_000, chunksEach = 200

function streamRequest(content: string): string {
  return rawChat(JSON.stringify(question({ stream: true, messages: [{ role: 'user', content }] })), { connection: 'close' })
}

describe('a thousand streams at once', () => {
  test('each gets every token of its own, once, in order', async () => {
    await using upstream = await startUpstreamProcess()
    await using service = await startService({ providers: [provider('a', upstream.url('paced'))] })
    const connections = Array.from({ length: streams }, (_, index) => rawConnection(service.port, streamRequest(`stream=s${index} tokens=${chunksEach}`), 60_000))
    await Promise.all(connections.map((connection) => connection.until('"content":"s')))
    const openAtOnce = await metric(service.url, 'svc_streams_open')
    const wrong = (await Promise.all(connections.map(({ response }) => response))).flatMap((response, index) => {
      const answer = answerOf({ status: Number(response.slice(9, 12)), headers: new Headers({ 'content-type': 'text/event-stream' }) }, chunkedBody(response))
      const isRight = answer.status === 200 && isDone(answer) && answer.content === tokens(chunksEach, `s${index}`).join('')
      return isRight ? [] : [`stream ${index}: ${answer.status}, ${answer.content.length} characters`]
    })
    expect(wrong).toEqual([])
    expect(openAtOnce).toBe(streams)
    expect(await metric(service.url, 'svc_streams_open')).toBe(0)
  }, 90_000)
})

describe('three hundred abandoned streams', () => {
  test('abort their upstream requests, and nothing stays open', async () => {
    await using rig = await startRig([async (exchange) => {
      await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens('a'))]))
      await exchange.hang()
    }])
    const connections = Array.from({ length: 300 }, () => rawConnection(rig.service.port, streamRequest('hello'), 30_000))
    await Promise.all(connections.map((connection) => connection.until('a-2')))
    expect(await metric(rig.service.url, 'svc_streams_open')).toBe(300)
    for (const { socket } of connections) socket.destroy()
    const [upstream] = rig.upstreams
    await Promise.all(upstream?.hits.map(({ left }) => left) ?? [])
    expect([upstream?.hits.length, upstream?.open]).toEqual([300, 0])
    expect(await metric(rig.service.url, 'svc_streams_open')).toBe(0)
  }, 30_000)
})
