import type { Socket, SocketHandler } from 'bun'

/** Receives a socket's events, as its `data`: `connect` while the socket is opened, the connection afterwards. */
export interface SocketUser {
  opened(socket: Socket<SocketUser>): void
  /** The TLS handshake ended. @param error why the certificate is not trusted, or null */
  secured(socket: Socket<SocketUser>, isAuthorized: boolean, error: Error | null): void
  received(bytes: Buffer): void
  /** The socket can be written to again. */
  drained(): void
  /** The socket was closed, with an error or without. Called once. */
  closed(error: Error | undefined): void
  /** The socket could not be opened. `closed` does not follow. */
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

/** Handlers that pass every event to the socket's user. */
export const plainHandlers: SocketHandler<SocketUser> = common

/** As {@link plainHandlers}, for TLS. Bun calls `open` before the handshake; `handshake` must check the result. */
export const secureHandlers: SocketHandler<SocketUser> = {
  ...common,
  handshake: (socket, isAuthorized, error) => socket.data.secured(socket, isAuthorized, error),
}
