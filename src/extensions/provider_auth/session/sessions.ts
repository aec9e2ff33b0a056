import { isRecord } from '../../../base/json-value.ts'
import { personIdAt } from '../../../base/person-entry.ts'
import type { Person, Profile } from '../../../people/person.ts'
import { setBackMsMax, type Listed, type Store, type StoreOptions } from '../../../stores/store.ts'
import type { Identity } from '../oauth/identity-provider.ts'
import { nameKey, parsePerson } from '../settings/restrict-to.ts'
import type { AllowList } from '../settings/settings.ts'
import { parseDevice, type Device } from './device.ts'
import { hashOf, isToken, randomToken } from './random-token.ts'

/** 24 hours (docs/sign-in.md). */
export const sessionSeconds = 86_400
const lifeMs = sessionSeconds * 1000

/** A session, stored under the hash of its token (docs/sign-in.md). */
export interface Session extends Identity, Device {
  /** Unix seconds with fraction. */
  readonly created: number
  /** Identifies the identity provider; user ids and names are unique only within it. */
  readonly realm: string
}

/** Bounds of the session store. */
export const sessionStoreOptions: StoreOptions<Session> = {
  ttlMs: lifeMs,
  valuesMax: 50_000,
  valuesPerOwnerMax: 20,
  parse: parseSession,
}

const listedMax = 1_000

/** User ids stored per name; a name can pass to another account when accounts are renamed. */
const userIdsMax = 20

/** Bounds of the store that maps user names to user ids. */
export const nameStoreOptions: StoreOptions<readonly string[]> = {
  ttlMs: lifeMs,
  valuesMax: sessionStoreOptions.valuesMax,
  valuesPerOwnerMax: 1,
  parse: (value) => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined),
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
  return isWhole
    ? { userId, userName, displayName, profileUrl, email, created, realm, ...parseDevice(value) }
    : undefined
}

/** The store owner of a session: a user of an identity provider. */
export function ownerOf({ realm, userId }: Pick<Session, 'realm' | 'userId'>): string {
  return `${realm} ${userId}`
}

/** When a session expires, in whole Unix seconds. */
export function expiryOf({ created }: Session): number {
  return Math.floor(created) + sessionSeconds
}

/** User data for the page. The id is a hash of identity provider and user id. */
export function profileOf({
  realm,
  userId,
  userName,
  displayName,
  email,
  profileUrl,
}: Omit<Session, 'created'>): Profile {
  return {
    id: personIdAt(realm, userId),
    userName,
    displayName,
    email,
    avatarUrl: profileUrl.startsWith('https:') ? profileUrl : '',
  }
}

/** Whether a person who has signed in before may do so now, at the same identity provider. */
export function personCheck(realm: string, restrictTo: AllowList | undefined): (person: Person) => boolean {
  return function mayEnter({ id, name: userName, accountId: userId }) {
    if (userId === undefined || id !== personIdAt(realm, userId)) return false
    return restrictTo === undefined || restrictTo.allows({ userId, userName })
  }
}

/** Creates, finds and ends sessions. */
export interface Sessions {
  /** Creates a session and returns its token, of which only the hash is stored. */
  begin(identity: Identity, device?: Device): Promise<string>
  /**
   * The session of a token, if it is younger than 24 hours and its user is still allowed. Does not read the store for a
   * text without the form of a token.
   */
  find(token: string): Promise<Session | undefined>
  /** Ends a session and returns it, if it existed. */
  end(token: string): Promise<Session | undefined>
  /** The newest sessions that are valid, newest first, at most 1,000, with the keys of the store. */
  list(): Promise<readonly Listed<Session>[]>
  /** Ends all sessions of a user id; returns their number. */
  endAllOfUserId(userId: string): Promise<number>
  /** The same for a user name, with all user ids that signed in under it within 24 hours, or for `id:VALUE`. */
  endAllOfPerson(person: string): Promise<number>
}

export interface SessionsOptions {
  readonly store: Store<Session>
  /** Unix milliseconds. */
  now(): number
  /** Identifies the identity provider; sessions of another one are invalid. */
  readonly realm: string
  /** Checked on every use: removing a user from it ends the user's sessions. */
  readonly restrictTo: AllowList | undefined
  /** Opened with {@link nameStoreOptions}. */
  readonly names: Store<readonly string[]>
  /** As in `Settings`. */
  readonly hasCaselessNames: boolean
}

/** Sessions in a store. They expire 24 hours after sign-in; use does not extend them (docs/sign-in.md). */
export function sessions({ store, now, realm, restrictTo, names, hasCaselessNames }: SessionsOptions): Sessions {
  const keyOf = nameKey(hasCaselessNames)

  function isCurrent({ created }: Session): boolean {
    // Rounded, since 270607054.094 * 1000 is less than 270607054094.
    const ageMs = now() - Math.round(created * 1000)
    return ageMs <= lifeMs && ageMs >= -setBackMsMax
  }

  function mayStay(session: Session): boolean {
    return restrictTo === undefined || restrictTo.allows(session)
  }

  function nameOf(userName: string): string {
    return hashOf(`${realm} ${keyOf(userName)}`)
  }

  /** Sessions are stored by user id; this maps the name to it, also after another account has taken the name. */
  async function storeName({ userId, userName }: Pick<Identity, 'userId' | 'userName'>): Promise<void> {
    const name = nameOf(userName)
    const others = ((await names.get(name)) ?? []).filter((each) => each !== userId)
    await names.set(name, [...others.slice(1 - userIdsMax), userId], name)
  }

  async function endAllOfUserId(userId: string): Promise<number> {
    return (await store.takeAll(ownerOf({ realm, userId }))).length
  }

  return {
    async begin({ userId, userName, displayName, profileUrl, email }, device = {}) {
      await storeName({ userId, userName })
      const token = randomToken()
      await store.set(
        hashOf(token),
        { userId, userName, displayName, profileUrl, email, created: now() / 1000, realm, ...device },
        ownerOf({ realm, userId }),
      )
      return token
    },

    async find(token) {
      if (!isToken(token)) return undefined
      const key = hashOf(token)
      const session = await store.get(key)
      if (session === undefined || !isCurrent(session) || session.realm !== realm) return undefined
      if (mayStay(session)) return session
      await store.delete(key)
      return undefined
    },

    async list() {
      const found = await store.list(listedMax)
      return found.filter(({ value }) => isCurrent(value) && value.realm === realm && mayStay(value))
    },

    end: async (token) => (isToken(token) ? store.take(hashOf(token)) : undefined),

    endAllOfUserId,

    async endAllOfPerson(person) {
      const { userId, userName } = parsePerson(person)
      const userIds = userName === '' ? [userId] : ((await names.get(nameOf(userName))) ?? [])
      const ended = await Promise.all(userIds.map(endAllOfUserId))
      return ended.reduce((sum, count) => sum + count, 0)
    },
  }
}
