/** Where the ledger is kept. */
export type LedgerPlace = LedgerFile | LedgerServer

/** A SQLite database, for the processes of one machine. */
export interface LedgerFile {
  readonly kind: 'file'
  /** Path of svc.db. */
  readonly path: string
}

/** A PostgreSQL database, for several machines. */
export interface LedgerServer {
  readonly kind: 'server'
  /** A checked `postgres:` URL. It may have a password. */
  readonly url: string
  /** Path of the copy of all keys on this machine. */
  readonly cachePath: string
  /** After this time without the server, in milliseconds, the keys of the copy are refused. */
  readonly keysGraceMs: number
}

/** The place for logs and messages, without a secret. */
export function nameOfPlace(place: LedgerPlace): string {
  return place.kind === 'file' ? place.path : nameOfServer(place.url)
}

/** Database, host and port of a checked URL. */
export function nameOfServer(url: string): string {
  const { hostname, port, pathname } = new URL(url)
  return `${decodeURIComponent(pathname.slice(1))} at ${hostname}${port === '' ? '' : `:${port}`}`
}
