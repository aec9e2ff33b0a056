import type { Store } from '../../stores/store.ts'
import { StoreUnavailable } from '../../stores/store.ts'
import type { ExtensionConfig, ExtensionLog, Host } from '../extension.ts'
import type { CallbackParameters, FlowSecrets, Identity, IdentityProvider } from './identity-provider.ts'

/** A clock that tests set, in Unix milliseconds. It has a fraction of a second. */
export interface FakeClock {
  ms: number
}

/** A store that forgets nothing by itself, so that whoever uses it has to look at ages. */
export interface FakeStore<Value> extends Store<Value> {
  readonly entries: Map<string, { readonly value: Value; readonly owner: string }>
  /** How often it was asked for anything. */
  calls: number
  isAway: boolean
}

/** An empty {@link FakeStore}. */
export function fakeStore<Value>(): FakeStore<Value> {
  const entries: FakeStore<Value>['entries'] = new Map()
  async function asked(): Promise<void> {
    store.calls++
    if (store.isAway) throw new StoreUnavailable('away')
  }
  const store: FakeStore<Value> = {
    entries,
    calls: 0,
    isAway: false,
    async get(key) {
      await asked()
      return entries.get(key)?.value
    },
    async set(key, value, owner) {
      await asked()
      entries.set(key, { value, owner })
    },
    async take(key) {
      await asked()
      const entry = entries.get(key)
      entries.delete(key)
      return entry?.value
    },
    async delete(key) {
      await asked()
      entries.delete(key)
    },
  }
  return store
}

/** A line of the log: level, message and fields. */
export type LogLine = readonly [level: string, message: string, fields?: unknown]

/** A log that is kept. */
export function fakeLog(): { readonly log: ExtensionLog; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const at = (level: string): ExtensionLog['info'] => (message, fields) => { lines.push(fields === undefined ? [level, message] : [level, message, fields]) }
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

/** A host whose stores, clock and log tests look at. It fetches nothing. */
export interface FakeHost extends Host {
  readonly clock: FakeClock
  readonly stores: Map<string, FakeStore<unknown>>
  readonly lines: LogLine[]
}

/** A host with a configuration, or none. */
export function fakeHost(config?: ExtensionConfig): FakeHost {
  const clock: FakeClock = { ms: 1_800_000_000_123 }
  const stores = new Map<string, FakeStore<unknown>>()
  const { log, lines } = fakeLog()
  return {
    clock,
    stores,
    lines,
    log,
    config: async () => config,
    store<Value>(name: string) {
      const store = stores.get(name) ?? fakeStore<unknown>()
      stores.set(name, store)
      // What an extension reads in a store of its own is what it put there.
      return store as FakeStore<Value>
    },
    fetch: async () => { throw new Error('nothing is fetched here') },
    now: () => clock.ms,
  }
}

/** Somebody at an identity provider. */
export const ada: Identity = { userId: '1815', userName: 'ada', displayName: 'Ada Lovelace', profileUrl: 'https://pictures.test/ada.png', email: 'ada@mail.test' }

/** An identity provider that says whatever a test wants. */
export interface FakeIdentityProvider extends IdentityProvider {
  /** Who comes next, or what goes wrong. */
  next: Identity | Error
  readonly asked: { readonly callback: CallbackParameters; readonly secrets: FlowSecrets }[]
  readonly secrets: FlowSecrets
}

/** An identity provider at `id.test`, at which Ada has an account. */
export function fakeIdentityProvider(): FakeIdentityProvider {
  const provider: FakeIdentityProvider = {
    displayName: 'Example',
    next: ada,
    asked: [],
    secrets: { issuer: 'https://id.test', codeVerifier: 'verifier-of-the-flow', nonce: 'nonce-of-the-flow' },
    begin: async (state) => ({ url: `https://id.test/authorize?state=${state}`, secrets: provider.secrets }),
    async identify(callback, secrets) {
      provider.asked.push({ callback, secrets })
      if (provider.next instanceof Error) throw provider.next
      return provider.next
    },
  }
  return provider
}
