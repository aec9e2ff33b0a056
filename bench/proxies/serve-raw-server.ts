/**
 * Minimal relay on Bun: `serve-raw-server.ts PORT UPSTREAM_PORT`. It sends each body to the upstream over plain sockets
 * and passes the answer back, unread. Its cost is the cost of `Bun.serve`.
 */
import { rawClient, type RawConnection, type RawHead } from '../raw-client.ts'

/** Bytes after which the relay waits until the client has read them. Until then it need not ask. */
const unreadBytesMax = 65_536

const [port = 0, upstreamPort = 0] = process.argv.slice(2).map(Number)
const send = rawClient(upstreamPort)

/** Sends a body to the upstream. Resolves with the whole answer, or with a stream when its head has come. */
function relay(body: Uint8Array, signal: AbortSignal): Promise<Response> {
  const answered = Promise.withResolvers<Response>()
  const parts: Uint8Array[] = []
  let head: RawHead | undefined
  let stream: RelayedStream | undefined
  const connection = send(body, {
    onHead(read) {
      head = read
      if (read.length !== undefined) return
      stream = relayedStream(connection)
      signal.addEventListener('abort', connection.cancel, { once: true })
      answered.resolve(responseOf(read, stream.body))
    },
    onBytes(bytes) {
      if (stream === undefined) parts.push(bytes)
      else stream.write(bytes)
    },
    onEnd() {
      signal.removeEventListener('abort', connection.cancel)
      if (stream !== undefined) stream.end()
      else if (head !== undefined) answered.resolve(responseOf(head, Buffer.concat(parts)))
    },
    onCut() {
      if (stream === undefined) answered.resolve(new Response('the upstream failed', { status: 502 }))
      else stream.cut()
    },
  })
  return answered.promise
}

function responseOf({ status, contentType }: RawHead, body: Uint8Array<ArrayBuffer> | ReadableStream): Response {
  return new Response(body, { status, headers: { 'content-type': contentType } })
}

interface RelayedStream {
  readonly body: ReadableStream
  readonly write: (bytes: Uint8Array) => void
  readonly end: () => void
  readonly cut: () => void
}

/** Makes a body that is written directly, and holds the upstream back while the client does not read. */
function relayedStream(connection: RawConnection): RelayedStream {
  let sink: ReadableStreamDirectController | undefined
  const early: Uint8Array[] = []
  const ended = Promise.withResolvers<void>()
  let unreadBytes = 0

  function write(bytes: Uint8Array): void {
    if (sink === undefined) {
      early.push(bytes)
      return
    }
    void sink.write(bytes)
    unreadBytes += bytes.length
    if (unreadBytes < unreadBytesMax) {
      void sink.flush()
      return
    }
    unreadBytes = 0
    connection.pause()
    void Promise.resolve(sink.flush(true)).then(connection.resume)
  }

  const body = new ReadableStream({
    type: 'direct',
    pull(controller) {
      sink = controller
      for (const bytes of early.splice(0)) write(bytes)
      return ended.promise
    },
  })
  return { body, write, end: ended.resolve, cut: () => ended.reject(new Error('the upstream was cut')) }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port,
  development: false,
  idleTimeout: 0,
  fetch: async (request) => relay(await request.bytes(), request.signal),
})

console.log(`listening on ${server.port}`)
