import { isRecord } from '../../../base/json-value.ts'
import type { Store, StoreOptions } from '../../../stores/store.ts'
import type { ListedSession, SignedInPeople, Visitor } from '../../extension.ts'
import type { Identity } from '../oauth/identity-provider.ts'
import { withStore } from '../responses.ts'
import { changeAllowList } from '../settings/restrict-to.ts'
import type { Settings } from '../settings/settings.ts'
import type { Credentials } from './credentials.ts'
import { hashOf } from './random-token.ts'
import { profileOf, sessionStoreOptions, type Session, type Sessions } from './sessions.ts'

const noteMs = 300_000
const notedMax = 10_000

/** Last uses of sessions in Unix milliseconds, under the keys of the sessions. */
export const useStoreOptions: StoreOptions<number> = {
  ttlMs: sessionStoreOptions.ttlMs,
  valuesMax: sessionStoreOptions.valuesMax,
  valuesPerOwnerMax: 1,
  parse: (value) => (typeof value === 'number' ? value : undefined),
}

/** Notes the uses of sessions, each at most every 5 minutes in a process. A store that is away is not waited for. */
export function noteUses(store: Store<number>, now: () => number): (token: string) => void {
  const noted = new Map<string, number>()
  return (token) => {
    const key = hashOf(token)
    const time = now()
    if (Math.abs(time - (noted.get(key) ?? 0)) < noteMs) return
    if (noted.size >= notedMax) noted.clear()
    noted.set(key, time)
    // It is only shown.
    store.set(key, time, key).catch(() => undefined)
  }
}

/** A user who was refused, as it is stored under the hash of the user id. */
interface Refusal {
  readonly userName: string
  readonly userId: string
  readonly realm: string
  readonly tries: number
  readonly last: number
}

const refusedMax = 100

/** The last users who were refused, for a week at most. */
export const refusalStoreOptions: StoreOptions<Refusal> = {
  ttlMs: 7 * 86_400_000,
  valuesMax: refusedMax,
  valuesPerOwnerMax: 1,
  parse(value) {
    if (!isRecord(value)) return undefined
    const { userName, userId, realm, tries, last } = value
    return typeof userName === 'string' &&
      typeof userId === 'string' &&
      typeof realm === 'string' &&
      typeof tries === 'number' &&
      typeof last === 'number'
      ? { userName, userId, realm, tries, last }
      : undefined
  },
}

/** Notes a user who is not let in. It does not reject. */
export function noteRefusals(
  store: Store<Refusal>,
  realm: string,
  now: () => number,
): (identity: Identity) => Promise<void> {
  return async ({ userId, userName }) => {
    const key = hashOf(`${realm} ${userId}`)
    try {
      const tries = ((await store.get(key))?.tries ?? 0) + 1
      await store.set(key, { userId, userName, realm, tries, last: now() }, key)
    } catch {
      // The store is away. The refusal stays the answer.
    }
  }
}

/** The agents of all people. */
export interface AgentSessions {
  sessions(): Promise<readonly (Omit<ListedSession, 'visitor'> & { readonly person: SessionPerson })[]>
  /** Ends an agent by its id in the list. */
  end(id: string): Promise<SessionPerson | undefined>
  /** Ends the agents of a user name or `id:VALUE`. @returns their number */
  endAll(user: string): Promise<number>
}

type SessionPerson = Omit<Session, 'created' | 'profileUrl'>

export interface SignedInPeopleOptions {
  readonly realm: string
  readonly settings: Pick<Settings, 'displayName' | 'restrictTo' | 'hasCaselessNames'>
  readonly sessions: Sessions
  readonly store: Store<Session>
  readonly uses: Store<number>
  readonly refusals: Store<Refusal>
  readonly credentials: Credentials
  /** Absent: agents cannot sign in. */
  readonly agents: AgentSessions | undefined
}

/** The people who have signed in, for owners (docs/sign-in.md). */
export function signedInPeople(options: SignedInPeopleOptions): SignedInPeople {
  const { realm, settings, sessions, store, uses, refusals, credentials, agents } = options
  const { displayName, restrictTo, hasCaselessNames: isCaseless } = settings

  async function currentKey(request: Request): Promise<string | undefined> {
    const credential = await credentials.find(request)
    return credential.kind === 'valid' ? hashOf(credential.token) : undefined
  }

  return {
    provider: displayName,
    sessions: (request) =>
      withStore(async () => {
        const [all, current] = await Promise.all([sessions.list(), currentKey(request)])
        const used = await Promise.all(all.map(({ key }) => uses.get(key)))
        const ofBrowsers = all.map(({ key, value }, index): ListedSession => {
          const { browser, system, created } = value
          const last = used[index]
          return {
            id: idOf(key),
            visitor: visitorOf(value, isCaseless),
            ...(browser === undefined ? {} : { browser }),
            ...(system === undefined ? {} : { system }),
            since: Math.round(created * 1000),
            ...(last === undefined ? {} : { used: last }),
            isCurrent: key === current,
          }
        })
        const ofAgents = ((await agents?.sessions()) ?? []).map(({ person, ...agent }): ListedSession => ({
          ...agent,
          visitor: visitorOf({ ...person, profileUrl: '' }, isCaseless),
        }))
        return [...ofBrowsers, ...ofAgents]
      }),
    end: (id) =>
      withStore(async () => {
        const found = (await sessions.list()).find(({ key }) => idOf(key) === id)
        const ended = found === undefined ? undefined : await store.take(found.key)
        if (ended !== undefined) return { visitor: visitorOf(ended, isCaseless) }
        const agent = await agents?.end(id)
        return agent && { visitor: visitorOf({ ...agent, profileUrl: '' }, isCaseless) }
      }),
    endAll: (user) =>
      withStore(async () => (await sessions.endAllOfPerson(user)) + ((await agents?.endAll(user)) ?? 0)),
    refused: () =>
      withStore(async () =>
        (await refusals.list(refusedMax))
          .filter(({ value }) => value.realm === realm)
          .map(({ value: { userName: user, userId, tries, last } }) => ({ user, userId, tries, last }))
          // Those who were let in meanwhile.
          .filter(({ user, userId }) => restrictTo?.allows({ userName: user, userId }) === false),
      ),
    admission: {
      member: 'restrict_to',
      isOn: restrictTo !== undefined,
      allows: ({ user, userId }) => restrictTo?.allows({ userName: user, userId }) ?? true,
      change: (value, { user, userId }, isAllowed) =>
        changeAllowList(value, { userName: user, userId }, { isAllowed, isCaseless }),
    },
  }
}

/** Of the key of the store, which is itself a hash of the token. */
function idOf(key: string): string {
  return hashOf(`session ${key}`).slice(0, 22)
}

/** The user of a session. */
export function visitorOf(session: Omit<Session, 'created'>, hasCaselessName: boolean): Visitor {
  const profile = profileOf(session)
  return { user: session.userName, userId: session.userId, subject: profile.id, hasCaselessName, profile }
}
