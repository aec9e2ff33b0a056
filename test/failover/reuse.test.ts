import { describe, expect, test } from 'bun:test'
import { parseEvents, trailOf, type Answer } from '../client.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import { good, goodText } from '../fakes/good.ts'
import { startRig } from '../rig.ts'

describe('connections', () => {
  test('row 5 › a kept connection that is closed by the next request › retried on a new one, unseen', async () => {
    await using rig = await startRig([
      (exchange) => (exchange.hit.nth > 1 ? exchange.reset() : good({ name: 'a' })(exchange)),
      good(),
    ])
    const answers: Answer[] = []
    for (let round = 0; round < 6; round++) answers.push(await rig.ask())
    expect(
      answers.map(
        (answer) =>
          `${answer.status} ${trailOf(answer)
            .map(({ name, class: failure }) => `${name}:${failure}`)
            .join(' ')}`,
      ),
    ).toEqual(Array(6).fill('200 a:undefined'))
    expect(rig.upstreams[0]?.hits.filter(({ nth }) => nth > 1).length).toBeGreaterThan(0)
    expect(rig.hits()[1]).toBe(0)
  })

  test('row 5 › and when the fresh one dies too › moves on', async () => {
    let answered = 0
    await using rig = await startRig([
      (exchange) => (answered++ > 0 ? exchange.reset() : good({ name: 'a' })(exchange)),
      good(),
    ])
    await rig.ask()
    const answer = await rig.ask()
    expect([answer.status, answer.content]).toEqual([200, goodText()])
    expect(rig.hits()).toEqual([3, 1])
  })

  test('row 5 › a kept connection closed between requests › costs nothing', async () => {
    await using rig = await startRig([
      async (exchange) => {
        await good({ name: 'a' })(exchange)
        exchange.close()
      },
      good(),
    ])
    for (let round = 0; round < 6; round++) {
      expect((await rig.ask()).content).toBe(goodText({ name: 'a' }))
      await Bun.sleep(round)
    }
    expect(rig.hits()).toEqual([6, 0])
  })

  test('keeps connections alive', async () => {
    await using rig = await startRig([good()])
    for (let round = 0; round < 4; round++) await rig.ask()
    for (let round = 0; round < 4; round++) await rig.askStream()
    expect(rig.upstreams[0]?.connections).toBe(1)
  })

  test('a refusal that comes before the request is sent › is read, and the next provider asked', async () => {
    const early = faultUpstream(good(), {
      isDeaf: true,
      onOpen: (connection) =>
        connection.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
    })
    await using rig = await startRig([early, good()])
    const answer = await rig.ask({ messages: [{ role: 'user', content: 'x'.repeat(4_000_000) }] })
    expect(answer.content).toBe(goodText())
    expect(trailOf(answer)[0]?.['status']).toBe('413')
  })

  test('the stream the client sees is well framed', async () => {
    await using rig = await startRig([good({ tokens: 50 })])
    const answer = await rig.askStream()
    expect(parseEvents(answer.text).length).toBe(53)
    expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
  })
})
