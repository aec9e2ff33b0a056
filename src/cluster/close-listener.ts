import { closeSync, openSync } from 'node:fs'
import { socketCalls, type SocketCalls } from './shared-port-calls.ts'
import { noNewConnection } from './shared-port-programs.ts'

/** Time for handshakes to finish once new connections are refused, in milliseconds. */
const handshakeMs = 50
/** Turns of the event loop to wait for the server to accept all waiting connections. */
const turnsMax = 1_000

/** The socket with which this process listens on a port. */
export interface Listener {
  readonly calls: SocketCalls
  readonly socket: number
  /** False once the server was stopped: the descriptor may mean something else. */
  isListening(): boolean
}

/** @throws on another system than Linux, without libc, in a sandbox, and when no socket listens */
export function findListener(port: number): Listener {
  if (process.platform !== 'linux') throw new Error('only Linux is supported')
  const calls = socketCalls()
  const [socket, ...more] = calls.find(port, 'listening')
  if (socket === undefined || more.length > 0)
    throw new Error(
      `${more.length === 0 ? 'no socket' : 'more than one socket'} of this process listens on port ${port}`,
    )
  return { calls, socket, isListening: () => calls.is(socket, port, 'listening') }
}

/**
 * Stops listening without losing connections: the server accepts those that wait first. Takes 50 ms, and longer when it
 * is busy.
 *
 * @returns whether this call closed the socket
 */
export async function closeListener({ calls, socket, isListening }: Listener): Promise<boolean> {
  if (!isListening()) return false
  calls.filter(socket, noNewConnection)
  await Bun.sleep(handshakeMs)
  for (let turn = 0; turn < turnsMax && isListening() && calls.waiting(socket) > 0; turn++) await Bun.sleep(1)
  return isListening() && closeOnly(calls, socket)
}

/**
 * Replaces the descriptor of the listening socket with /dev/null. Bun's own `stop` also closes idle connections, and
 * loses requests that are on their way.
 */
function closeOnly(calls: SocketCalls, socket: number): boolean {
  const harmless = openSync('/dev/null', 'r')
  try {
    return calls.replace(socket, harmless)
  } finally {
    closeSync(harmless)
  }
}
