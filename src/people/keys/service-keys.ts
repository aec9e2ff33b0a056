import { clientAddresses } from '../../base/client-address.ts'
import { parseNetwork } from '../../base/ip-address.ts'
import { didYouMean } from '../../base/nearest.ts'
import {
  type Contribution,
  type Extension,
  type Host,
  ExtensionConfigError,
  type ExtensionConfig,
} from '../../extensions/extension.ts'
import { LedgerUnavailable, type KeyTable } from '../../ledger/ledger.ts'
import { isFileLine } from './file-key.ts'
import { keyBook, type KnownKey } from './key-book.ts'
import type { KeyDependencies, KeyHost } from './key-host.ts'
import { keyPeople } from './key-people.ts'
import { keyRoutes } from './key-routes.ts'
import { ownKeyRoutes } from './own-key-routes.ts'
import { keyRecogniser } from './recognise.ts'
import { TokenVerifier } from './token/verify-token.ts'

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
      tokens: new TokenVerifier({
        fileKeys: () => parts.fileKeys(),
        fetch: (url, options) => host.fetch(url, options),
        now: () => host.now(),
        elapsedMs: () => host.elapsedMs(),
        warn: host.log.warn,
      }),
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

/** Settings of keys (docs/keys.md). */
interface KeySettings {
  /** Addresses and networks whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
}

const memberName = 'trusted_proxies'

/** Parses the configuration file; without one, all members have their defaults. @throws {ExtensionConfigError} */
function parseKeySettings(config: ExtensionConfig | undefined): KeySettings {
  const { values = {}, unset = new Map<string, string>() } = config ?? {}
  const other = [...Object.keys(values), ...unset.keys()].find((name) => name !== memberName)
  if (other !== undefined)
    throw new ExtensionConfigError(other, 'an unknown name', memberName + didYouMean(other, [memberName]))
  const value = values[memberName]
  if (value === undefined) return { trustedProxies: [] }
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value]
  const trustedProxies = texts.flatMap((text) => (typeof text === 'string' ? entriesOf(text) : ['another value']))
  const faulty = trustedProxies.find((entry) => parseNetwork(entry) === undefined)
  if (faulty === undefined) return { trustedProxies }
  const allowed = 'addresses and networks such as 10.0.0.0/8'
  throw new ExtensionConfigError(memberName, `"${faulty.slice(0, 60)}" in the list`, allowed)
}

function entriesOf(text: string): readonly string[] {
  return text.split(/[,\s]+/).filter((entry) => entry !== '')
}

const intervalMs = 60_000

/** Stores when keys were used, once a minute. */
interface UseNotes {
  note(key: KnownKey, minute: number): void
  /** Stores the rest. */
  close(): Promise<void>
}

/** Times are kept while the ledger cannot be used. Lines of keys in access.json get their names with the first use. */
function useNotes(keys: Pick<KeyTable, 'noteUses' | 'nameLine'>): UseNotes {
  let noted = new Map<number, number>()
  const named = new Map<number, Promise<void>>()
  const timer = setInterval(() => void store(), intervalMs)
  timer.unref()

  function nameLine(line: number, name: string): void {
    if (named.has(line)) return
    named.set(
      line,
      // Tried again with the next use. The ledger reports its trouble itself.
      keys.nameLine(line, name).catch(() => void named.delete(line)),
    )
  }

  async function store(): Promise<void> {
    const uses = noted
    if (uses.size === 0) return
    noted = new Map()
    try {
      await Promise.all(named.values())
      await keys.noteUses(uses)
    } catch {
      // Tried again with the next ones. The ledger reports its trouble itself.
      noted = new Map([...uses, ...noted])
    }
  }

  return {
    note({ id, caller }, minute) {
      if (isFileLine(id)) nameLine(id, caller.keyFacts?.name ?? '')
      noted.set(id, minute)
    },
    async close() {
      clearInterval(timer)
      await store()
    },
  }
}
