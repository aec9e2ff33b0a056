import { rawConnection } from '../client.ts'
import type { RawConnection } from '../client.ts'
import type { Ground } from './ground.ts'

/** How many clients misbehave at once, where nothing else is said. */
export const clients = 20

/** Opens `count` connections that send these bytes and then nothing more of their own. */
export function crowd(
  { service }: Ground,
  count: number,
  bytes: string | Uint8Array,
  waitMs = 20_000,
): readonly RawConnection[] {
  return Array.from({ length: count }, () => rawConnection(service.port, bytes, waitMs))
}

/** Has them all leave. */
export function disperse(connections: readonly RawConnection[]): void {
  for (const { socket } of connections) socket.destroy()
}
