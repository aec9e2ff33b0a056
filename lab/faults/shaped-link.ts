import { connect, createServer, type Socket } from 'node:net'

/** How bytes travel over a link. */
export interface LinkShape {
  /** Largest piece that is passed on at once. */
  readonly pieceBytes: number
  /** Milliseconds between two pieces. */
  readonly pauseMs: number
  /** The link stalls for `stallMs` after this number of bytes to the service, once on each connection. */
  readonly stallAfterBytes?: number
  readonly stallMs?: number
}

/** A link to an upstream on this machine. */
export interface ShapedLink {
  /** Base URL of the upstream through the link. */
  readonly url: string
  stop(): void
}

/**
 * A TCP proxy in front of a local port that passes bytes on slowly, in small pieces. It loses none; for packet loss see
 * link.ts.
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
      // A reset at one end closes the other, by the `close` handler above.
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
    // The other end was reset; its `close` handler ends both connections.
  }
}
