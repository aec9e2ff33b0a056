import { good } from './good.ts'
import { requestReader, type ReceivedRequest } from './request-reader.ts'

/** One request as it reached the upstream. Times are milliseconds of `performance.now()`. */
export interface Hit extends ReceivedRequest {
  /** Arrival of its last byte. */
  readonly at: number
  /** Number of its connection, from 1. */
  readonly connection: number
  /** Number of the request on its connection, from 1. */
  readonly nth: number
  /** Time at which the peer closed or reset the connection before the end of the script; else `undefined`. */
  leftAt: number | undefined
  /** Resolves with `leftAt`; never for a complete answer. */
  readonly left: Promise<number>
}

/** Connection of a script. Every wait rejects with {@link PeerLeft} when the peer closes. */
export interface Exchange {
  readonly hit: Hit
  /** Sends bytes and waits until the kernel has taken them all. */
  write(data: string | Uint8Array): Promise<void>
  pause(ms: number): Promise<void>
  /** Waits until the peer leaves. */
  hang(): Promise<never>
  /** Closes with RST. */
  reset(): void
  /** Sends buffered bytes, then FIN. */
  close(): void
}

/**
 * Decides the bytes, pauses and ends of one answer. A script that returns without closing leaves the connection open
 * for the next request.
 */
export type Script = (exchange: Exchange) => Promise<void> | void

/** The peer closed the connection during a script. */
export class PeerLeft extends Error {
  override readonly name = 'PeerLeft'
}

/** A TCP upstream whose answers are made by a script. `using` stops it. */
export interface FaultUpstream extends Disposable {
  readonly port: number
  /** `http://HOST:PORT/v1` */
  readonly url: string
  /** Every request received, in order. */
  readonly hits: readonly Hit[]
  /** Protocol errors of received requests. */
  readonly faults: readonly string[]
  /** Connections accepted so far. */
  readonly connections: number
  /** Connections open now. */
  readonly open: number
  /** Bytes written so far. */
  readonly bytesWritten: number
  /** Sets the script of the next requests. */
  use(script: Script): void
  /** Resolves with the next request. */
  nextHit(): Promise<Hit>
  /** Clears `hits`. */
  forget(): void
  /** Stops listening and resets open connections. */
  stop(): void
}

export interface FaultUpstreamOptions {
  /** 0, the default, picks a free port. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly hostname?: string
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Called for each new connection, before any request. */
  readonly onOpen?: (connection: { write(data: string): void; reset(): void; close(): void }) => void
  /** Reads and writes nothing, so that a TLS handshake hangs. */
  readonly isDeaf?: boolean
}

interface Connection {
  readonly number: number
  readonly read: (bytes: Uint8Array) => readonly (ReceivedRequest | string)[]
  readonly queue: ReceivedRequest[]
  readonly unsent: Uint8Array[]
  readonly waiting: Set<() => void>
  nth: number
  isBusy: boolean
  isClosing: boolean
  leftAt: number | undefined
}

type Socket = Bun.Socket<Connection>

/** Starts an upstream that answers each request by `script`. */
export function faultUpstream(script: Script = good(), options: FaultUpstreamOptions = {}): FaultUpstream {
  const hits: Hit[] = [],
    faults: string[] = []
  const sockets = new Set<Socket>()
  let current = script,
    connections = 0,
    bytesWritten = 0
  let arrivals: ((hit: Hit) => void)[] = []
  const hostname = options.hostname ?? '127.0.0.1'

  function flush(socket: Socket): void {
    const { unsent } = socket.data
    while (unsent[0] !== undefined) {
      const written = Math.max(0, socket.write(unsent[0]))
      bytesWritten += written
      if (written < unsent[0].length) {
        unsent[0] = unsent[0].subarray(written)
        return
      }
      unsent.shift()
    }
    if (socket.data.isClosing) socket.end()
    wake(socket.data)
  }

  function peerLeft(socket: Socket): void {
    // A failed TLS handshake closes a socket without `open`.
    if (!sockets.has(socket)) return
    socket.data.leftAt ??= performance.now()
    sockets.delete(socket)
    wake(socket.data)
  }

  async function serve(socket: Socket): Promise<void> {
    const connection = socket.data
    connection.isBusy = true
    for (let request = connection.queue.shift(); request !== undefined; request = connection.queue.shift()) {
      const exchange = exchangeOf(socket, request, () => flush(socket))
      hits.push(exchange.hit)
      for (const arrived of arrivals) arrived(exchange.hit)
      arrivals = []
      try {
        await current(exchange)
      } catch (error) {
        if (!(error instanceof PeerLeft)) throw error
      }
    }
    connection.isBusy = false
  }

  const listener = Bun.listen<Connection>({
    hostname,
    port: options.port ?? 0,
    allowHalfOpen: true,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    socket: {
      open(socket) {
        connections += 1
        socket.data = {
          number: connections,
          read: requestReader(),
          queue: [],
          unsent: [],
          waiting: new Set(),
          nth: 0,
          isBusy: false,
          isClosing: false,
          leftAt: undefined,
        }
        sockets.add(socket)
        options.onOpen?.({
          write: (data) => void socket.write(data),
          reset: () => socket.terminate(),
          close: () => void socket.end(),
        })
      },
      data(socket, bytes) {
        if (options.isDeaf === true) return
        for (const found of socket.data.read(bytes)) {
          if (typeof found === 'string') faults.push(found)
          else socket.data.queue.push(found)
        }
        if (!socket.data.isBusy) void serve(socket)
      },
      drain: flush,
      end(socket) {
        peerLeft(socket)
        socket.end()
      },
      close: peerLeft,
      error: peerLeft,
    },
  })

  function stop(): void {
    listener.stop()
    for (const socket of sockets) socket.terminate()
  }

  return {
    port: listener.port,
    url: `${options.tls === undefined ? 'http' : 'https'}://${hostname}:${listener.port}/v1`,
    hits,
    faults,
    get connections() {
      return connections
    },
    get open() {
      return sockets.size
    },
    get bytesWritten() {
      return bytesWritten
    },
    use(script) {
      current = script
    },
    nextHit: () => new Promise((resolve) => arrivals.push(resolve)),
    forget() {
      hits.length = 0
    },
    stop,
    [Symbol.dispose]: stop,
  }
}

function wake(connection: Connection): void {
  for (const resume of connection.waiting) resume()
}

function exchangeOf(socket: Socket, request: ReceivedRequest, flush: () => void): Exchange {
  const connection = socket.data
  const { promise: left, resolve: resolveLeft } = Promise.withResolvers<number>()
  const hit: Hit = {
    ...request,
    at: performance.now(),
    connection: connection.number,
    nth: ++connection.nth,
    leftAt: undefined,
    left,
  }

  /** Resolves when `isOver` holds, which is checked at each event of the connection. */
  function until(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (connection.leftAt !== undefined) {
          hit.leftAt ??= connection.leftAt
          resolveLeft(connection.leftAt)
          reject(new PeerLeft('the peer left'))
        } else if (isOver()) resolve()
        else return
        connection.waiting.delete(look)
      }
      connection.waiting.add(look)
      look()
    })
  }

  return {
    hit,
    write(data) {
      connection.unsent.push(typeof data === 'string' ? new TextEncoder().encode(data) : data)
      if (connection.unsent.length === 1 && connection.leftAt === undefined) flush()
      return until(() => connection.unsent.length === 0)
    },
    async pause(ms) {
      let isOver = false
      const timer = setTimeout(() => {
        isOver = true
        wake(connection)
      }, ms)
      try {
        await until(() => isOver)
      } finally {
        clearTimeout(timer)
      }
    },
    async hang() {
      await until(() => false)
      throw new PeerLeft('the peer left')
    },
    reset() {
      socket.terminate()
    },
    close() {
      connection.isClosing = true
      if (connection.unsent.length === 0) socket.end()
    },
  }
}

/**
 * As a process: `fault-upstream.ts [--port N]` prints `{"port":…}`. It serves every mode under `/mode/NAME/v1`, and the
 * good one under `/v1`.
 */
if (import.meta.main) {
  const flag = process.argv.indexOf('--port')
  const { byPath } = await import('./modes.ts')
  const upstream = faultUpstream(byPath(), { port: flag === -1 ? 0 : Number(process.argv[flag + 1]) })
  console.log(JSON.stringify({ port: upstream.port }))
}
