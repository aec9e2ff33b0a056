import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'

/** How bytes travel over a link. */
export interface LinkShape {
  /** At most so many bytes at once. */
  readonly pieceBytes: number
  /** Milliseconds between two pieces. */
  readonly pauseMs: number
  /** After so many bytes to the service nothing travels for `stallMs`, once a connection. */
  readonly stallAfterBytes?: number
  readonly stallMs?: number
}

/** A link to an upstream on this machine. */
export interface ShapedLink {
  /** Base URL of the upstream, by way of the link. */
  readonly url: string
  stop(): void
}

/**
 * A TCP proxy before a port of this machine that hands bytes on in small pieces, slowly. It loses none: that would take
 * the kernel (link.ts).
 */
export async function shapedLink(port: number, shape: LinkShape): Promise<ShapedLink> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
      // A reset at one end closes the other, which is all that is to be done about it.
      socket.on('error', () => {})
    }
    void relay(client, upstream, shape)
    void relay(upstream, client, shape)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the link has no port')
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

async function relay(
  from: Socket,
  to: Socket,
  { pieceBytes, pauseMs, stallAfterBytes = Infinity, stallMs = 0 }: LinkShape,
): Promise<void> {
  let sent = 0,
    hasStalled = false
  try {
    for await (const bytes of from) {
      if (!(bytes instanceof Uint8Array)) continue
      for (let at = 0; at < bytes.length && !to.destroyed; at += pieceBytes) {
        to.write(bytes.subarray(at, at + pieceBytes))
        sent += pieceBytes
        await (pauseMs === 0 ? new Promise(setImmediate) : Bun.sleep(pauseMs))
        if (hasStalled || sent < stallAfterBytes) continue
        hasStalled = true
        await Bun.sleep(stallMs)
      }
    }
  } catch {
    // The other end was reset: the connections are closed where that is noticed.
  }
}
