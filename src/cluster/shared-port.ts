import { closeListener, findListener, type Listener } from './close-listener.ts'
import { allBut } from './shared-port-programs.ts'
import type { SocketPosition } from './socket-order.ts'

/**
 * New connections go to the other sockets for this long before the socket closes. Bun has the kernel deliver a
 * connection with its first bytes, or after a second (TCP_DEFER_ACCEPT).
 */
const windowMs = 1_300

/** Options of {@link sharedPort}. */
export interface SharedPortOptions {
  /** A port on which this process listens already, with `reusePort`. */
  readonly port: number
  /** Called with the reason when the port cannot be left without loss: not Linux, no libc, a sandbox. */
  readonly onUnable: (reason: string) => void
}

/** This process's part of a port that several processes share. Its functions never throw. */
export interface SharedPort {
  /**
   * Stops listening without losing connections: the kernel sends new ones to the other sockets, the server accepts
   * those that wait, then the socket closes. Takes 1.4 seconds. The server must serve until its connections have gone.
   *
   * @param position of this process's socket among those that share the port. A wrong one delays some new connections
   *   by a second, and may lose one
   * @returns whether that succeeded; if not, the server still listens
   */
  leave(position: SocketPosition): Promise<boolean>
  /**
   * Spreads new connections evenly again. To be called in one remaining process after another has left or died; before
   * that, some processes get more than others.
   */
  spread(): void
}

/**
 * Takes part in a shared port. Closing one of the sockets that share a port resets the connections that wait in it,
 * unless net.ipv4.tcp_migrate_req is set. This is a way round that needs no privilege; without it, stop listening
 * normally and accept the loss. Also removes the program of a process that died while leaving.
 */
export function sharedPort({ port, onUnable }: SharedPortOptions): SharedPort {
  const found = attempt(() => findListener(port), onUnable)
  const spread = (): void => void found?.calls.spreadOverAll(found.socket)
  spread()
  return {
    spread,
    async leave(position) {
      try {
        return found !== undefined && (await leaveGroup(found, position))
      } catch (error) {
        onUnable(reasonOf(error))
        return false
      }
    },
  }
}

async function leaveGroup(listener: Listener, { index, count }: SocketPosition): Promise<boolean> {
  const { calls, socket } = listener
  if (!listener.isListening() || count < 2 || index >= count) return false
  if (!calls.spread(socket, allBut({ index, count }))) throw new Error('the kernel refuses the program for the port')
  await Bun.sleep(windowMs)
  return closeListener(listener)
}

function attempt<Value>(action: () => Value, onUnable: (reason: string) => void): Value | undefined {
  try {
    return action()
  } catch (error) {
    onUnable(reasonOf(error))
    return undefined
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
