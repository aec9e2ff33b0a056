import { describe, expect, test } from 'bun:test'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { RequestRecord } from '../observe/record.ts'
import { findTelemetry, findTracer } from './find-telemetry.ts'

const none: RequestRecord = {
  time: 1,
  id: 'r',
  api: 'chat',
  model: 'm',
  stream: false,
  status: 404,
  trail: [],
  totalMs: 1,
}
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

/** A collector on a socket that does this with each request. */
async function collectorThat(answers: (socket: Socket, count: number) => void) {
  const sockets = new Set<Socket>()
  const heads: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      if (!bytes.toString('latin1').startsWith('POST')) return
      heads.push(bytes.toString('latin1').split('\r\n\r\n')[0] ?? '')
      answers(socket, heads.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const { port }: Pick<AddressInfo, 'port'> = typeof address === 'object' && address !== null ? address : { port: 0 }
  return {
    heads,
    environment: {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/v1/traces`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Exports one span of a request, and ends. @returns the spans that were lost */
async function lost(environment: Readonly<Record<string, string>>, warned: unknown[] = []): Promise<number> {
  const telemetry = await findTelemetry(environment, { warn: (_, fields) => void warned.push(fields) })
  const trace = (await findTracer(environment))?.begin(new Headers(), 0, true)
  telemetry?.start(() => [])
  telemetry?.record({ ...none, trace: trace?.facts })
  await telemetry?.close()
  return telemetry?.dropped() ?? -1
}

describe('a collector', () => {
  test.each<[string, number, (socket: Socket) => void]>([
    ['takes spans', 0, (socket) => socket.write(ok)],
    [
      'answers more than 64 KiB',
      0,
      (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n${'x'.repeat(200_000)}`),
    ],
    ['answers without an end', 0, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx')],
    ['answers 500', 1, (socket) => socket.write('HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n')],
    ['answers 429', 1, (socket) => socket.write('HTTP/1.1 429 Slow\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n')],
    ['closes', 1, (socket) => socket.destroy()],
    ['never answers', 1, () => undefined],
  ])('that %s at the end of the service loses %d spans, and delays the end by little', async (_, spans, answers) => {
    using collector = await collectorThat(answers)
    const warned: unknown[] = []
    const began = performance.now()
    expect(await lost(collector.environment, warned)).toBe(spans)
    expect(performance.now() - began).toBeLessThan(3_500)
    expect(warned).toHaveLength(spans)
    expect(collector.heads[0]).toMatch(/^POST \/v1\/traces HTTP\/1\.1\r\n/)
  })
})

describe('telemetry', () => {
  test.each([
    {},
    { OTEL_SERVICE_NAME: 'svc' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel.test', OTEL_SDK_DISABLED: 'TRUE' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel.test', OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
  ])('is off with %j', async (environment) => {
    const log = { warn: () => undefined }
    expect(await findTelemetry(environment, log)).toBeUndefined()
    expect(await findTracer(environment)).toBeUndefined()
  })

  test('is off and says so, if the proxy on its way cannot be used', async () => {
    const warned: unknown[] = []
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.test', HTTPS_PROXY: 'https://u:s3cret@proxy.test' }
    const log = { warn: (message: string, fields?: object) => void warned.push(message, fields) }
    expect(await findTelemetry(environment, log)).toBeUndefined()
    expect(Bun.inspect(warned)).toContain('HTTPS_PROXY')
    expect(Bun.inspect(warned)).not.toContain('s3cret')
  })
})
