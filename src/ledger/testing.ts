import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chainWalk, type ChainReport } from './audit-chain.ts'
import type { AuditTable, Ledger, NewKey } from './ledger.ts'
import { openLedger } from './open-ledger.ts'

/** A key to be stored, with a hash of its own. For tests. */
export function storableKey(more: Partial<NewKey> = {}): NewKey {
  return {
    hash: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
    hint: 'sk-svc_abc…wxyz',
    name: 'indexer',
    kind: 'program',
    made: 1_800_000_000_000,
    madeBy: 'command line',
    grants: '{"scopes":["chat"]}',
    ...more,
  }
}

/** A new folder, and a function that removes it. For tests. */
export function temporaryFolder(): { readonly folder: string; readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ledger-'))
  return { folder, path: join(folder, 'svc.db'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** A ledger in a folder of its own. */
export interface TemporaryLedger {
  readonly ledger: Ledger
  readonly path: string
  /** Closes the ledger, and removes the folder. */
  remove(): Promise<void>
}

/** Opens a new ledger. For tests. */
export async function temporaryLedger(): Promise<TemporaryLedger> {
  const { path, remove } = temporaryFolder()
  const ledger = await openLedger({ path })
  return {
    ledger,
    path,
    async remove() {
      await ledger.close()
      remove()
    },
  }
}

/** Verifies a chain. For tests. @param expected a chain that was kept elsewhere */
export async function verifiedChain(audit: AuditTable, expected?: string): Promise<ChainReport> {
  const walk = chainWalk(expected)
  // Slices of one entry: the chain crosses them.
  for (let after = -9; ;) {
    const [entry] = await audit.slice(after, 1)
    if (entry === undefined) return walk.end(await audit.given())
    walk.check([entry])
    after = entry.seq
  }
}
