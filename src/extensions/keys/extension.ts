import { clientAddresses } from '../../base/client-address.ts'
import { LedgerUnavailable } from '../../ledger/ledger.ts'
import type { Extension } from '../extension.ts'
import { keyBook } from './key-book.ts'
import { keyRoutes } from './key-routes.ts'
import { ownKeyRoutes } from './own-key-routes.ts'
import { keyPeople } from './people.ts'
import { keyRecogniser } from './recognise.ts'
import { parseKeySettings } from './settings.ts'
import { useNotes } from './use-notes.ts'

/** Keys for programs (docs/keys.md). Alone it refuses all that have none. It needs no configuration file. */
export const extension: Extension = {
  name: 'keys',

  async start(host) {
    const { trustedProxies } = parseKeySettings(await host.config())
    const ledger = await host.ledger()
    const { keys } = ledger
    const book = await keyBook({
      table: keys,
      fileKeys: () => host.fileKeys(),
      onFault: (key, error) =>
        host.log.error('a key is refused: what it may do cannot be read; make a new one', {
          key,
          reason: error instanceof Error ? error.message : String(error),
        }),
    })
    const notes = useNotes(keys)
    const people = keyPeople({ book, keys, host })
    return {
      recognise: keyRecogniser({
        book,
        clients: clientAddresses(trustedProxies),
        now: () => host.now(),
        onUse: notes.note,
        refusalOf({ person, team }, now) {
          if (person !== undefined) return people.refusalOf(person, now)
          if (team === undefined || host.teams.has(team)) return undefined
          return `access.json has no team ${JSON.stringify(team)}, which it belongs to`
        },
      }),
      onEntry: people.onEntry,
      async checkFileKeys() {
        for (const name of await book.shadowed().catch(noneIfAway))
          host.log.error('a key of access.json has no effect: the database has the same key, which counts', { name })
      },
      routes: [...keyRoutes(ledger, host), ...ownKeyRoutes(ledger, host)],
      close: notes.close,
    }
  },
}

/** The ledger reports its trouble itself. */
function noneIfAway(error: unknown): readonly string[] {
  if (error instanceof LedgerUnavailable) return []
  throw error
}
