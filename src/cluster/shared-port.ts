import { closeListener, findListener, type Listener } from './close-listener.ts'
import type { PlaceInGroup } from './shared-port-order.ts'
import { allBut } from './shared-port-programs.ts'

/**
 * So long newcomers are sent elsewhere before the socket closes. Bun has the kernel hand a connection over with its
 * first bytes, or a second after it was made (TCP_DEFER_ACCEPT).
 */
const windowMs = 1_300

/** What {@link sharedPort} needs. */
export interface SharedPortOptions {
  /** This process must listen on it already, with `reusePort`. */
  readonly port: number
  /** Told why the port cannot be left without loss here: not Linux, no libc, a sandbox. */
  readonly onUnable: (reason: string) => void
}

/** This process's part of a port that several processes share. Nothing of it throws. */
export interface SharedPort {
  /**
   * Stops listening without losing anybody, and without touching the connections that are open: the kernel sends
   * newcomers to the other sockets, those who wait are taken in, then the socket closes. Takes 1.4 seconds. The server
   * must go on serving meanwhile, and afterwards until its connections have gone.
   *
   * @param where the place of this process's socket among those that share the port. A wrong one costs some newcomers a
   *   second, and at worst a connection
   * @returns whether that was done; if not, the server still listens
   */
  leave(where: PlaceInGroup): Promise<boolean>
  /**
   * To be called in one that stays, whenever another has left or died: newcomers are spread evenly again. Until then
   * all are served, but some get more.
   */
  spread(): void
}

/**
 * Takes part in a shared port. When Linux closes one of the sockets that share a port, it resets the connections that
 * wait in it, unless net.ipv4.tcp_migrate_req is set; this is the way round it that needs no privilege. Ends what one
 * that died while leaving may have left behind.
 */
export function sharedPort({ port, onUnable }: SharedPortOptions): SharedPort {
  const found = attempt(() => findListener(port), onUnable)
  const spread = (): void => void found?.calls.spreadOverAll(found.socket)
  spread()
  return {
    spread,
    async leave(where) {
      try {
        return found !== undefined && (await leaveGroup(found, where))
      } catch (error) {
        onUnable(reasonOf(error))
        return false
      }
    },
  }
}

async function leaveGroup(listener: Listener, { place, of }: PlaceInGroup): Promise<boolean> {
  const { calls, socket } = listener
  if (!listener.isListening() || of < 2 || place >= of) return false
  if (!calls.spread(socket, allBut({ place, of }))) throw new Error('the kernel takes no program for the port')
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
