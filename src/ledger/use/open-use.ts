import { dirname, join } from 'node:path'
import type { LedgerPlace } from '../ledger-place.ts'
import type { KeyReader, KeyReaderOptions } from '../postgres/key-reader.ts'
import type { RepriceOptions, RepriceReport } from './repricing.ts'
import type { ThreadOptions } from './thread-messages.ts'
import type { UseReader } from './use-reader.ts'
import type { UseStore } from './use-store.ts'

/** The database of a thread of use. */
export interface OpenUse {
  readonly store: UseStore
  /** Only with a server. */
  readonly keys?: KeyReader
}

/** Opens the use for writing. Only the code of its kind of database is loaded. */
export async function openUse(
  { place, zone }: ThreadOptions,
  onKeysTrouble: KeyReaderOptions['onKeysTrouble'],
): Promise<OpenUse> {
  if (place.kind === 'file') {
    const { useStore } = await import('./use-store.ts')
    const { path } = place
    return { store: useStore({ path, rowsPath: join(dirname(path), 'requests.db'), zone }) }
  }
  const { postgresClient } = await import('../postgres/postgres-client.ts')
  const { serverUseStore } = await import('../postgres/server-use.ts')
  const { startKeyReader } = await import('../postgres/key-reader.ts')
  const client = postgresClient({ url: place.url })
  return { store: serverUseStore({ client, zone }), keys: startKeyReader({ place, onKeysTrouble }) }
}

/** Computes stored costs anew, and moves the sums. @throws {LedgerUnavailable} */
export async function repriceUse(place: LedgerPlace, options: RepriceOptions): Promise<RepriceReport> {
  if (place.kind === 'file') {
    const { repriceFiles } = await import('./reprice.ts')
    return await repriceFiles(place.path, options)
  }
  const { repriceServer } = await import('../postgres/server-reprice.ts')
  return await repriceServer(place.url, options)
}

/** Opens the use for reading. @throws {LedgerUnavailable} */
export async function openUseReaderAt(place: LedgerPlace): Promise<UseReader> {
  if (place.kind === 'file') {
    const { openUseReader } = await import('./read-use.ts')
    return await openUseReader(place.path)
  }
  const { openServerUseReader } = await import('../postgres/server-use-reader.ts')
  return await openServerUseReader(place.url)
}
