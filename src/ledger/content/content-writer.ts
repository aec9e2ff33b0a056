import type { ProviderSecrets } from '../../content/remove-secrets.ts'
import type { TakenContent } from '../../content/taken-content.ts'
import type { LedgerPlace } from '../ledger-place.ts'
import { LedgerTooNew, LedgerUnavailable } from '../ledger.ts'
import { contentRows, type ContentRow } from './content-row.ts'
import type { ContentStore } from './content-store.ts'

/** Outcome of {@link ContentWriter.write}. */
export interface ContentResult {
  /** Requests whose content is not stored. */
  readonly lost: number
  /** Why. */
  readonly reason?: string
}

/** Makes content readable, removes secrets, and stores it. */
export interface ContentWriter {
  /** Does not reject. */
  write(taken: readonly TakenContent[], secrets: ProviderSecrets): Promise<ContentResult>
  close(): void | Promise<void>
}

/** Only the code of its kind of database is loaded. */
export async function openContentWriter(place: LedgerPlace): Promise<ContentWriter> {
  if (place.kind === 'file') {
    const { contentFile } = await import('./content-file.ts')
    return contentWriter(contentFile(place.path))
  }
  const { postgresClient } = await import('../postgres/postgres-client.ts')
  const { serverContent } = await import('../postgres/server-content.ts')
  return contentWriter(serverContent(postgresClient({ url: place.url })))
}

/** Writes into a store. */
export function contentWriter(store: ContentStore): ContentWriter {
  const made = contentRows()

  return {
    async write(taken, secrets) {
      const rows: ContentRow[] = []
      let reason: string | undefined
      for (const each of taken) {
        try {
          rows.push(made.rowOf(each, secrets))
        } catch (error) {
          // One hostile text must not keep the others from being stored.
          reason = `its text cannot be made ready (${reasonOf(error)})`
        }
      }
      try {
        await store.write(rows)
      } catch (error) {
        return { lost: taken.length, reason: reasonOf(error) }
      }
      const lost = taken.length - rows.length
      return { lost, ...(reason === undefined ? {} : { reason }) }
    },
    close: () => store.close(),
  }
}

/** Messages of other errors may have content. */
function reasonOf(error: unknown): string {
  if (error instanceof LedgerUnavailable || error instanceof LedgerTooNew) return error.message
  return error instanceof Error ? error.name : 'unknown'
}
