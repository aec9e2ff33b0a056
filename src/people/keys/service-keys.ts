import { clientAddresses } from '../../base/client-address.ts'
import type { Contribution, Extension, Host } from '../../extensions/extension.ts'
import { LedgerUnavailable } from '../../ledger/ledger.ts'
import { keyBook } from './key-book.ts'
import type { KeyDependencies, KeyHost } from './key-host.ts'
import { keyPeople } from './key-people.ts'
import { keyRoutes } from './key-routes.ts'
import { ownKeyRoutes } from './own-key-routes.ts'
import { keyRecogniser } from './recognise.ts'
import { parseKeySettings } from './settings.ts'
import { useNotes } from './use-notes.ts'

/** The parts that keys add to the service. */
export interface KeysContribution extends Contribution {
  /** Logs keys in access.json that have no effect. Called in one process after the file was loaded. Never rejects. */
  checkFileKeys?(): Promise<void>
}

/**
 * Keys for programs (docs/keys.md). They start and follow their file as an extension does. Alone they refuse all that
 * have none. They need no configuration file.
 */
export function serviceKeys(dependencies: KeyDependencies): Extension<KeysContribution> {
  return { name: 'keys', start: (host) => startKeys(host, { ...dependencies, log: host.log, now: host.now }) }
}

async function startKeys(host: Host, parts: KeyHost): Promise<KeysContribution> {
  const { trustedProxies } = parseKeySettings(await host.config())
  const ledger = await parts.ledger()
  const { keys } = ledger
  const book = await keyBook({
    table: keys,
    fileKeys: () => parts.fileKeys(),
    onFault: (key, error) =>
      host.log.error('a key is refused: what it may do cannot be read; make a new one', {
        key,
        reason: error instanceof Error ? error.message : String(error),
      }),
  })
  const notes = useNotes(keys)
  const people = keyPeople({ book, keys, host: parts })
  return {
    recognise: keyRecogniser({
      book,
      clients: clientAddresses(trustedProxies),
      now: () => host.now(),
      onUse: notes.note,
      refusalOf({ person, team }, now) {
        if (person !== undefined) return people.refusalOf(person, now)
        if (team === undefined || parts.teams.has(team)) return undefined
        return `access.json has no team ${JSON.stringify(team)}, which it belongs to`
      },
    }),
    onEntry: people.onEntry,
    async checkFileKeys() {
      for (const name of await book.shadowed().catch(noneIfAway))
        host.log.error('a key of access.json has no effect: the database has the same key, which counts', { name })
    },
    routes: [...keyRoutes(ledger, parts), ...ownKeyRoutes(ledger, parts)],
    close: notes.close,
  }
}

/** The ledger reports its trouble itself. */
function noneIfAway(error: unknown): readonly string[] {
  if (error instanceof LedgerUnavailable) return []
  throw error
}
