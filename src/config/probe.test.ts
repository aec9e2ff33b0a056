import { afterEach, describe, expect, test } from 'bun:test'
import { probeModels } from './probe.ts'

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** The port of a server that answers each connection's first bytes with these and, unless it lingers, closes it. */
function listen(answer: string, lingers = false): number {
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.write(answer)
        if (!lingers) socket.end()
      },
    },
  })
  stops.push(() => server.stop(true))
  return server.port
}

function http(status: string, body: string, headers = `content-length: ${body.length}\r\n`): string {
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${headers}\r\n${body}`
}

const models = '{"object":"list","data":[{"id":"a","object":"model"},{"id":"b"}]}'

describe('probeModels', () => {
  test.each([
    ['a list', http('200 OK', models), ['a', 'b']],
    ['a list without a length', http('200 OK', models, ''), ['a', 'b']],
    [
      'a list in one chunk',
      http('200 OK', `${models.length.toString(16)}\r\n${models}\r\n0\r\n\r\n`, 'transfer-encoding: chunked\r\n'),
      ['a', 'b'],
    ],
    ['an empty list', http('200 OK', '{"data":[]}'), []],
    ['another status', http('404 Not Found', models), undefined],
    ['a web page', http('200 OK', '<html>{}</html>'), undefined],
    ['other JSON', http('200 OK', '{"status":"ok"}'), undefined],
    ['another instance of this service', http('200 OK', '{"data":[{"id":"a","providers":["x"]}]}'), undefined],
    ['no HTTP', 'SSH-2.0-x\r\n', undefined],
  ])('reads %s', async (_, answer, expected) => {
    expect(await probeModels(listen(answer))).toEqual(expected)
  })

  test('does not wait for the end of the connection after a whole answer', async () => {
    const begun = performance.now()
    expect(await probeModels(listen(http('200 OK', models), true))).toEqual(['a', 'b'])
    expect(performance.now() - begun).toBeLessThan(250)
  })

  test('gives up on a silent server', async () => {
    const begun = performance.now()
    expect(await probeModels(listen('', true))).toBeUndefined()
    expect(performance.now() - begun).toBeLessThan(1_000)
  })

  test('returns at once when no server listens', async () => {
    const port = listen('')
    for (const stop of stops.splice(0)) stop()
    const begun = performance.now()
    expect(await probeModels(port)).toBeUndefined()
    expect(performance.now() - begun).toBeLessThan(150)
  })
})
