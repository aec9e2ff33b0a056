import { describe, expect, test } from 'bun:test'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { testedReceiver, testedSecret } from '../observe/webhook/testing.ts'
import type { Alert } from '../observe/webhook/webhook.ts'
import { Alerts } from './alerts.ts'

const alert: Alert = { identity: 'i', type: 'model.served', data: { model: 'm' } }
const path = '/hook/very-s3cret'

/** A receiver on a socket that does this with each request, after it has checked the message. */
async function receiverThat(answers: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const receiver = testedReceiver()
  const faults: unknown[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    let text = ''
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      text += bytes.toString()
      const [head = '', body = ''] = text.split('\r\n\r\n')
      const headers = new Headers(
        head
          .split('\r\n')
          .slice(1)
          .map((line): [string, string] => {
            const [name = '', value = ''] = line.split(': ')
            return [name, value]
          }),
      )
      if (body.length < Number(headers.get('content-length') ?? 1)) return
      if (!head.startsWith(`POST ${path} HTTP/1.1\r\n`)) faults.push(head)
      try {
        receiver.take(headers, body)
      } catch (error) {
        faults.push(error)
      }
      answers(socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const { port }: Pick<AddressInfo, 'port'> = typeof address === 'object' && address !== null ? address : { port: 0 }
  return {
    receiver,
    faults,
    url: `http://127.0.0.1:${port}${path}`,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

function alertsWith(warned: unknown[], environment: Readonly<Record<string, string>> = {}): Alerts {
  const warn = (message: string, fields?: object): void => void warned.push({ message, ...fields })
  return new Alerts({ environment, log: { warn } })
}

describe('a receiver of alerts', () => {
  test.each<[string, number, (socket: Socket) => void]>([
    ['takes them', 0, (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n')],
    ['answers without an end', 0, (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx')],
    [
      'answers 200 with more than it may',
      0,
      (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n${'x'.repeat(200_000)}`),
    ],
    [
      'redirects',
      1,
      (socket) => socket.write(`HTTP/1.1 307 Go\r\nlocation: ${path}/more\r\ncontent-length: 0\r\n\r\n`),
    ],
    ['answers 500', 1, (socket) => socket.write('HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n')],
    ['closes', 1, (socket) => socket.destroy()],
    ['never answers', 1, () => undefined],
  ])('that %s at the end of the service loses %d of one, and delays the end by little', async (_, lost, answers) => {
    using served = await receiverThat(answers)
    const warned: unknown[] = []
    const alerts = alertsWith(warned)
    alerts.use({ url: served.url, secret: testedSecret })
    alerts.send(alert)
    const began = performance.now()
    await alerts.close()
    expect(performance.now() - began).toBeLessThan(3_500)
    expect(served.faults).toEqual([])
    expect(served.receiver.messages).toMatchObject([{ type: 'model.served' }])
    expect(warned).toHaveLength(lost)
    expect(Bun.inspect(warned)).not.toContain('s3cret')
    expect(Bun.inspect(warned)).not.toContain(testedSecret)
  })
})

describe('alerts', () => {
  test('are dropped without a webhook, and go to the one that access.json names now', async () => {
    using served = await receiverThat((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
    const alerts = alertsWith([])
    alerts.send(alert)
    alerts.use({ url: 'http://127.0.0.1:1/', secret: testedSecret })
    alerts.use({ url: served.url, secret: testedSecret })
    alerts.send(alert)
    alerts.use({ url: served.url, secret: testedSecret })
    await alerts.close()
    expect(served.receiver.messages).toHaveLength(1)
  })

  test('are off, and say so, if the proxy on their way cannot be used', async () => {
    const warned: unknown[] = []
    const alerts = alertsWith(warned, { HTTPS_PROXY: 'https://u:s3cret@proxy.test' })
    alerts.use({ url: 'https://hooks.test/', secret: testedSecret })
    alerts.send(alert)
    await alerts.close()
    expect(warned).toHaveLength(1)
    expect(Bun.inspect(warned)).toContain('HTTPS_PROXY')
    expect(Bun.inspect(warned)).not.toContain('s3cret')
  })
})
