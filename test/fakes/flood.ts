import { connect } from 'node:net'

/** Result of {@link flood}. */
export interface Flood {
  /** Status → number of answers. */
  readonly statuses: ReadonlyMap<number, number>
  readonly ms: number
}

export interface FloodOptions {
  readonly port: number
  /** The bytes of one request, without a body. */
  readonly request: string
  readonly count: number
  /** Connections, each with one request at a time. Default 64. */
  readonly connections?: number
  /** Local address of the connections. Default 127.0.0.1. */
  readonly from?: string
}

/**
 * Sends a request many times over kept-alive connections, and counts the answers. Their bodies need a `content-length`,
 * or must be empty.
 */
export async function flood({
  port,
  request,
  count,
  connections = 64,
  from = '127.0.0.1',
}: FloodOptions): Promise<Flood> {
  const statuses = new Map<number, number>()
  const started = performance.now()
  let left = count
  const take = () => left-- > 0
  const note = (status: number) => void statuses.set(status, (statuses.get(status) ?? 0) + 1)
  await Promise.all(Array.from({ length: connections }, () => oneConnection(port, from, request, take, note)))
  return { statuses, ms: performance.now() - started }
}

/** Sends requests on one connection until all have been sent. */
function oneConnection(
  port: number,
  from: string,
  request: string,
  take: () => boolean,
  note: (status: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    const next = () => {
      if (take()) socket.write(request)
      else socket.end(resolve)
    }
    let received = ''
    socket.setEncoding('latin1')
    socket.setNoDelay(true)
    socket.on('connect', next)
    socket.on('error', reject)
    socket.on('data', (text) => {
      received += String(text)
      const end = received.indexOf('\r\n\r\n')
      if (end === -1) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received.slice(0, end))?.[1] ?? 0)
      if (received.length < end + 4 + length) return
      note(Number(received.slice(9, 12)))
      received = received.slice(end + 4 + length)
      next()
    })
  })
}
