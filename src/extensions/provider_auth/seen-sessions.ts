import { StoreUnavailable, type Store } from '../../stores/store.ts'
import type { Session } from './sessions.ts'

/** For how long somebody is known who was seen, while the store is away. */
const knownMs = 60_000
/** Sessions that are remembered are at most twice as many. */
const most = 10_000

/** The store of sessions, watched. */
export interface SeenSessions {
  /** What the store says, or that it is away. */
  readonly strict: Store<Session>
  /**
   * The same, but that `get`, while the store is away, says what it said last, if that was within the last minute. What
   * ended here since then is not known.
   */
  readonly lenient: Store<Session>
}

interface Seen {
  readonly session: Session
  readonly at: number
}

/**
 * Remembers who was found in a store, so that those who are at work can go on when it goes away (docs/sign-in.md,
 * "Several machines").
 *
 * @param elapsedMs a clock that nobody sets
 */
export function seenSessions(store: Store<Session>, elapsedMs: () => number): SeenSessions {
  // Two of them, the older of which is let go as a whole: whoever is in neither was not seen for a minute.
  let recent = new Map<string, Seen>(),
    older = new Map<string, Seen>()
  let since = elapsedMs()

  function see(key: string, session: Session): void {
    const at = elapsedMs()
    if (at - since > knownMs || recent.size >= most) {
      older = recent
      recent = new Map()
      since = at
    }
    recent.set(key, { session, at })
  }

  function forget(key: string): void {
    recent.delete(key)
    older.delete(key)
  }

  function recall(key: string): Session | undefined {
    const seen = recent.get(key) ?? older.get(key)
    return seen !== undefined && elapsedMs() - seen.at <= knownMs ? seen.session : undefined
  }

  async function get(key: string): Promise<Session | undefined> {
    const session = await store.get(key)
    if (session === undefined) forget(key)
    else see(key, session)
    return session
  }

  /** Also afterwards: an answer that was under way may have come meanwhile. */
  async function ending<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    forget(key)
    try {
      return await work()
    } finally {
      forget(key)
    }
  }

  const strict: Store<Session> = {
    get,
    set: (key, session, owner) => store.set(key, session, owner),
    take: (key) => ending(key, () => store.take(key)),
    delete: (key) => ending(key, () => store.delete(key)),
  }
  return {
    strict,
    lenient: {
      ...strict,
      async get(key) {
        try {
          return await get(key)
        } catch (error) {
          const session = error instanceof StoreUnavailable ? recall(key) : undefined
          if (session === undefined) throw error
          return session
        }
      },
    },
  }
}
