import type { Socket } from 'bun'
import { chatHead, chatRequest } from './load-connection.ts'

/** Number of clients of each kind. */
export interface MisbehavingClients {
  /** Request a stream and read nothing of it. */
  readonly stuckReaders: number
  /** Declare a body of a megabyte and send a byte every 100 ms. */
  readonly slowWriters: number
  /** Connect and send nothing. */
  readonly idle: number
}

/** Connects all clients; `stop` resets their connections. @param streamBody JSON of a request for a long stream */
export async function misbehavingClients(
  port: number,
  counts: MisbehavingClients,
  streamBody: string,
): Promise<{ stop(): void }> {
  const request = chatRequest(port, streamBody)
  const slowStart = chatHead(port, 1_000_000) + '{'
  const sockets: Socket[] = []
  const connect = async (opened: (socket: Socket) => void) => {
    sockets.push(await Bun.connect({ hostname: '127.0.0.1', port, socket: { open: opened, data() {} } }))
  }
  // 100 at a time: the backlog of the listener is short.
  const all = [
    ...Array.from({ length: counts.stuckReaders }, () => (socket: Socket) => {
      socket.pause()
      socket.write(request)
    }),
    ...Array.from({ length: counts.slowWriters }, () => (socket: Socket) => void socket.write(slowStart)),
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
