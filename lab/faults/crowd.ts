import { rawConnection, type RawConnection } from '../../test/client.ts'
import type { Testbed } from './testbed.ts'

/** Default number of clients that misbehave at once. */
export const clients = 20

/** Opens `count` connections that send `bytes` and then nothing more. */
export function crowd(
  { service }: Testbed,
  count: number,
  bytes: string | Uint8Array,
  waitMs = 20_000,
): readonly RawConnection[] {
  return Array.from({ length: count }, () => rawConnection(service.port, bytes, waitMs))
}

/** Closes all connections. */
export function disperse(connections: readonly RawConnection[]): void {
  for (const { socket } of connections) socket.destroy()
}
