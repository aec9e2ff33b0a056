import { setBackMsMost, type Store, type StoreOptions } from '../../stores/store.ts'
import { isRecord } from '../../wire/json-value.ts'
import type { Profile } from '../extension.ts'
import type { Identity } from './identity-provider.ts'
import { hashOf, isToken, randomToken } from './random-token.ts'
import type { AllowList } from './settings.ts'

/** 24 hours (docs/sign-in.md). */
export const sessionSeconds = 86_400
const lifeMs = sessionSeconds * 1000

/** Who is signed in (docs/sign-in.md), as it is kept under the hash of its token. */
export interface Session extends Identity {
  /** Unix seconds with fraction. */
  readonly created: number
  /** At which identity provider: the same name elsewhere is somebody else. */
  readonly realm: string
}

/** How sessions are kept. */
export const sessionStoreOptions: StoreOptions<Session> = {
  ttlMs: lifeMs,
  most: 50_000,
  mostEach: 20,
  parse: parseSession,
}

function parseSession(value: unknown): Session | undefined {
  if (!isRecord(value)) return undefined
  const { userId, userName, displayName, profileUrl, email, created, realm } = value
  const isWhole =
    typeof userId === 'string' &&
    typeof userName === 'string' &&
    typeof displayName === 'string' &&
    typeof profileUrl === 'string' &&
    typeof email === 'string' &&
    typeof created === 'number' &&
    typeof realm === 'string'
  return isWhole ? { userId, userName, displayName, profileUrl, email, created, realm } : undefined
}

/** The moment a session ends, in whole Unix seconds. */
export function expiryOf({ created }: Session): number {
  return Math.floor(created) + sessionSeconds
}

/**
 * What the page shows people of themselves. The id is of this person at this identity provider, and does not tell
 * either.
 */
export function profileOf({ realm, userId, userName, displayName, email, profileUrl }: Session): Profile {
  return {
    id: hashOf(`${realm} ${userId}`).slice(0, 22),
    userName,
    displayName,
    email,
    avatarUrl: profileUrl.startsWith('https:') ? profileUrl : '',
  }
}

/** Who is signed in, by their tokens. */
export interface Sessions {
  /** Begins one, and gives its token, which is kept nowhere. */
  begin(identity: Identity): Promise<string>
  /**
   * The session of a token, while it is younger than 24 hours and its user may sign in. A text that cannot be a token
   * costs nothing.
   */
  find(token: string): Promise<Session | undefined>
  /** Ends one, and says which, if there was one. */
  end(token: string): Promise<Session | undefined>
}

/** What {@link sessions} needs. */
export interface SessionsOptions {
  readonly store: Store<Session>
  /** Unix milliseconds. */
  now(): number
  /** Of the identity provider; sessions of another count for nothing. */
  readonly realm: string
  /** In force now: whoever is not on it any more has no session any more. */
  readonly restrictTo: AllowList | undefined
}

/** Sessions in a store: 24 hours from their beginning, however much they are used (docs/sign-in.md). */
export function sessions({ store, now, realm, restrictTo }: SessionsOptions): Sessions {
  function isCurrent({ created }: Session): boolean {
    // Whole milliseconds, as they went in: 270607054.094 * 1000 is less than 270607054094.
    const ageMs = now() - Math.round(created * 1000)
    return ageMs <= lifeMs && ageMs >= -setBackMsMost
  }

  return {
    async begin({ userId, userName, displayName, profileUrl, email }) {
      const token = randomToken()
      await store.set(
        hashOf(token),
        { userId, userName, displayName, profileUrl, email, created: now() / 1000, realm },
        `${realm} ${userId}`,
      )
      return token
    },

    async find(token) {
      if (!isToken(token)) return undefined
      const key = hashOf(token)
      const session = await store.get(key)
      if (session === undefined || !isCurrent(session) || session.realm !== realm) return undefined
      if (restrictTo === undefined || restrictTo.allows(session)) return session
      await store.delete(key)
      return undefined
    },

    end: async (token) => (isToken(token) ? store.take(hashOf(token)) : undefined),
  }
}
