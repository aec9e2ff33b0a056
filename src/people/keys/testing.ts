import type { ExtensionConfig } from '../../extensions/extension.ts'
import { fakeHost, type FakeHost } from '../../extensions/testing.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { FileKey } from './file-key.ts'
import type { KeyDependencies, OwnKeys } from './key-host.ts'

/** A host with the parts of the service that keys need. */
export interface FakeKeyHost extends FakeHost, KeyDependencies {
  /** Default: 10 keys of 90 days. */
  ceilings: OwnKeys
  /** Keys in access.json. Default: none. */
  keysOfFile: readonly FileKey[]
  /** Milliseconds that content of keys is kept, by line. Default: none is. */
  readonly contentKept: Map<number, number>
  /** Teams by name, with their leads. Default: none. */
  readonly leads: Map<string, readonly string[]>
  /** People who may not enter. Default: none. */
  readonly refused: Set<string>
}

/** A {@link FakeKeyHost} with a configuration file, or without one. @param ledger default: there is none */
export function fakeKeyHost(config?: ExtensionConfig, ledger?: Ledger): FakeKeyHost {
  const host: FakeKeyHost = {
    ...fakeHost(config),
    ceilings: { most: 10, daysMost: 90 },
    keysOfFile: [],
    contentKept: new Map(),
    leads: new Map(),
    refused: new Set(),
    async ledger() {
      if (ledger === undefined) throw new Error('this host has no ledger')
      return ledger
    },
    ownKeys: () => host.ceilings,
    fileKeys: () => host.keysOfFile,
    contentKeptMs: ({ line }) => host.contentKept.get(line),
    teams: {
      has: (name) => host.leads.has(name),
      managedBy: (person) => [...host.leads].flatMap(([name, leads]) => (leads.includes(person.name) ? [name] : [])),
    },
    mayEnter: ({ name }) => !host.refused.has(name),
  }
  return host
}
