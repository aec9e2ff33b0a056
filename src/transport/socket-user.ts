import type { Socket, SocketHandler } from 'bun'

/**
 * Whoever has a socket at the moment: first the one that opens it, then the connection over it. It is the socket's
 * `data`.
 */
export interface SocketUser {
  opened(socket: Socket<SocketUser>): void
  /** The TLS handshake ended. @param error why the server is not to be trusted, or null */
  secured(socket: Socket<SocketUser>, isAuthorized: boolean, error: Error | null): void
  received(bytes: Buffer): void
  /** There is room for writing again. */
  drained(): void
  /** The socket is gone: in good order, or with an error. Called once. */
  closed(error: Error | undefined): void
  /** It never was opened. `closed` does not follow. */
  refused(error: Error): void
}

const common: SocketHandler<SocketUser> = {
  open: (socket) => socket.data.opened(socket),
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(),
  close: (socket, error) => socket.data.closed(error),
  error: (socket, error) => {
    socket.data.closed(error)
    socket.terminate()
  },
  connectError: (socket, error) => socket.data.refused(error),
}

/** Handlers that hand every event to the socket's user. */
export const plainHandlers: SocketHandler<SocketUser> = common

/** The same for TLS. With `handshake`, Bun calls `open` before the handshake and leaves the verdict to us. */
export const secureHandlers: SocketHandler<SocketUser> = {
  ...common,
  handshake: (socket, isAuthorized, error) => socket.data.secured(socket, isAuthorized, error),
}
