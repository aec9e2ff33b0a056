import type { ProviderConfig } from '../config/config.ts'
import type { ContentIntake } from '../http/entrance/taking-content.ts'
import type { ContentKeeper } from '../ledger/content/content-keeper.ts'
import { stricterTerms, type ContentRules } from '../limits/content-rules.ts'
import type { Logger } from '../observe/log.ts'
import type { SharedLedger } from './shared-ledger.ts'

/** Keeps content of requests of this process, while rules say so. */
export interface KeptIntake {
  /** Opens the database. The code that keeps content is loaded only then. */
  prepare(): Promise<void>
  /** `undefined`: no content is kept. */
  current(): ContentIntake | undefined
  /** Stores the rest. */
  close(): Promise<void>
}

export interface ContentIntakeOptions {
  readonly ledger: Pick<SharedLedger, 'open' | 'place'>
  /** The active rules. */
  readonly rules: () => ContentRules | undefined
  /** The active providers, whose secrets are removed. */
  readonly providers: () => readonly Pick<ProviderConfig, 'apiKey' | 'headers'>[]
  readonly log: Pick<Logger, 'warn'>
}

/** Makes the intake. Before its first rule it does nothing. */
export function contentIntake({ ledger, rules, providers, log }: ContentIntakeOptions): KeptIntake {
  let keeper: ContentKeeper | undefined
  const intake: ContentIntake = {
    termsOf: (caller) => rules()?.termsOf(caller),
    keep(passed, caller, atArrival) {
      const terms = stricterTerms(atArrival, rules()?.termsOf(caller))
      if (terms !== undefined) keeper?.keep({ ...passed, ...terms })
    },
  }

  async function load(): Promise<ContentKeeper | undefined> {
    await ledger.open()
    const place = ledger.place()
    if (place === undefined) return undefined
    const [{ ContentKeeper }, { startContentThread }] = await Promise.all([
      import('../ledger/content/content-keeper.ts'),
      import('../ledger/content/content-thread-link.ts'),
    ])
    return new ContentKeeper({
      start: () => startContentThread(place),
      secrets: () => secretsOf(providers()),
      onLost: (requests, reason) => log.warn('content of some requests is not kept', { requests, reason }),
    })
  }

  return {
    async prepare() {
      keeper ??= await load()
    },
    current: () => (keeper === undefined || rules() === undefined ? undefined : intake),
    async close() {
      await keeper?.close()
    },
  }
}

/** Secrets by names that tell of them; the name of a header tells whether its value is one. */
function secretsOf(providers: ReturnType<ContentIntakeOptions['providers']>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    providers.flatMap(({ apiKey, headers }, index) => [
      ...(apiKey === undefined ? [] : [[`${index} key`, apiKey] as const]),
      ...Object.entries(headers).map(([name, value]) => [`${index} ${name}`, value] as const),
    ]),
  )
}
