import type { Socket } from 'bun'
import { chatRequest } from './load-connection.ts'

/** How many of each kind. */
export interface HurtfulClients {
  /** Ask for a stream and read nothing of it. */
  readonly stuckReaders: number
  /** Declare a body of a megabyte and send a byte every 100 ms. */
  readonly slowWriters: number
  /** Ask for nothing. */
  readonly idle: number
}

/** Connects them all; `stop` resets their connections. @param streamBody JSON of a request for a long stream */
export async function hurtfulClients(
  port: number,
  counts: HurtfulClients,
  streamBody: string,
): Promise<{ stop(): void }> {
  const request = chatRequest(port, streamBody)
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n{`
  const sockets: Socket[] = []
  const connect = async (opened: (socket: Socket) => void) => {
    sockets.push(await Bun.connect({ hostname: '127.0.0.1', port, socket: { open: opened, data() {} } }))
  }
  // Some at a time: the queue of connections that wait to be accepted is short.
  const all = [
    ...Array.from({ length: counts.stuckReaders }, () => (socket: Socket) => {
      socket.pause()
      socket.write(request)
    }),
    ...Array.from({ length: counts.slowWriters }, () => (socket: Socket) => void socket.write(head)),
    ...Array.from({ length: counts.idle }, () => () => undefined),
  ]
  for (let from = 0; from < all.length; from += 100) await Promise.all(all.slice(from, from + 100).map(connect))
  const writers = sockets.slice(counts.stuckReaders, counts.stuckReaders + counts.slowWriters)
  const trickle = setInterval(() => {
    for (const writer of writers) writer.write(' ')
  }, 100)
  return {
    stop() {
      clearInterval(trickle)
      for (const socket of sockets) socket.terminate()
    },
  }
}
