import { basename, dirname } from 'node:path'
import { fingerprint } from '../config/watch/fingerprint.ts'
import type { FollowFile } from '../config/watch/follow-file.ts'
import type { AuditTable, Ledger } from '../ledger/ledger.ts'
import type { Logger } from '../observe/log.ts'

export interface AuditedFollowOptions {
  readonly follow: FollowFile
  /** `undefined`: the ledger is not open, and nothing is recorded. */
  readonly record: () => Ledger['record'] | undefined
  readonly audit: () => AuditTable | undefined
  readonly log: Pick<Logger, 'error' | 'info'>
  /** Default: the clock. */
  readonly now?: () => number
}

/** Follows files, and records their changes. */
export interface AuditedFollow {
  readonly follow: FollowFile
  /** Records followed files whose text is not the one of their last entry: changed while no service ran. */
  noteEarlierChanges(): Promise<void>
}

/** Newest entries that are searched for the last change of a file. */
const searchedEntries = 1_000

/**
 * Follows files, and records each change that was applied in the audit, by fingerprints of the file before and after.
 * One that the page has recorded is not recorded again. A change that cannot be recorded is applied, and logged.
 */
export function auditedFollow({ follow, record, audit, log, now = Date.now }: AuditedFollowOptions): AuditedFollow {
  /** Fingerprints of the active texts, by path. */
  const active = new Map<string, string>()

  /** @param before default: the fingerprint of the last entry; without an entry nothing is recorded */
  async function note(file: string, after: string, before?: string): Promise<void> {
    const write = record()
    const table = audit()
    if (write === undefined || table === undefined) return
    const object = nameOf(file)
    try {
      const entries = await table.list(Number.MAX_SAFE_INTEGER, searchedEntries)
      const last = entries.find((entry) => entry.action === 'file.changed' && entry.object === object)
      if (last?.after?.includes(after) === true) return
      const known = before ?? /"fingerprint":"([0-9a-f]{64}|missing)"/.exec(last?.after ?? '')?.[1]
      if (known === undefined) return
      const { seq, chain } = await write({
        time: now(),
        actor: 'file',
        via: 'file',
        action: 'file.changed',
        object,
        before: { fingerprint: known },
        after: { fingerprint: after },
      })
      log.info('a change of a file was recorded', { file, audit: seq, chain })
    } catch (error) {
      log.error('a change of a file is active, and could not be recorded', {
        file,
        reason: error instanceof Error ? error.message : String(error),
      })
    }
  }

  return {
    follow({ path, load, apply, report }) {
      const file = follow({
        path,
        load: async (text) => ({ value: await load(text), mark: fingerprint(text) }),
        async apply({ value, mark }, isReporter) {
          await apply(value, isReporter)
          const before = active.get(path)
          active.set(path, mark)
          if (isReporter && before !== undefined && before !== mark) await note(path, mark, before)
        },
        report,
      })
      return {
        ...file,
        text: file.text.then((text) => {
          if (!active.has(path)) active.set(path, fingerprint(text))
          return text
        }),
      }
    },
    async noteEarlierChanges() {
      for (const [path, mark] of active) await note(path, mark)
    },
  }
}

/** `access.json`; of an extension `provider_auth/config.json`. */
function nameOf(path: string): string {
  const name = basename(path)
  return name === 'config.json' ? `${basename(dirname(path))}/${name}` : name
}
