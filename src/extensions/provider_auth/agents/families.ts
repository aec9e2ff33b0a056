import { isRecord } from '../../../base/json-value.ts'
import { personIdAt } from '../../../base/person-entry.ts'
import { setBackMsMax, type Listed, type Store, type StoreOptions } from '../../../stores/store.ts'
import type { ExtensionLog } from '../../extension.ts'
import type { Identity } from '../oauth/identity-provider.ts'
import { areEqualHashes, hashOf, randomToken } from '../session/random-token.ts'
import type { AllowList } from '../settings/settings.ts'
import {
  familyKeyOf,
  isAccessToken,
  nextRefreshToken,
  parseRefreshToken,
  randomAccessToken,
  randomRefreshToken,
  writeRefreshToken,
  type RefreshToken,
} from './agent-token.ts'

/** One hour. */
export const accessSeconds = 3_600
/** The longest life of a family that the settings may allow. */
export const familyDaysMax = 30
const dayMs = 86_400_000
const graceMs = 60_000
const familiesMax = 20_000
const familiesPerPersonMax = 20

/** The person that an agent acts for. */
type AgentPerson = Pick<Identity, 'userId' | 'userName' | 'displayName' | 'email'>

/** What an agent says of itself; nothing of it is proved. */
export interface AgentFacts {
  /** Its name, such as `Claude Code`. */
  readonly agent: string
  /** Address of the machine that asked for the sign-in, for people. */
  readonly from: string
}

/** An agent that a person has let in. It is made and deleted, and never changes. */
export interface AgentFamily extends AgentPerson, AgentFacts {
  readonly realm: string
  /** Unix milliseconds. */
  readonly made: number
  /** Makes the refresh tokens of the family. */
  readonly salt: string
}

/** The current refresh token of a family. */
interface Rotation {
  /** Hash of the secret of the token that is to be used next. */
  readonly current: string
  /** Hash of the one before. */
  readonly previous: string
  /** When `current` took its place; Unix milliseconds. */
  readonly at: number
}

/** The right that an access token gives. */
export interface AgentAccess extends AgentPerson {
  readonly realm: string
  /** Key of the family. */
  readonly family: string
  /** Unix milliseconds. */
  readonly made: number
}

/** Bounds of the stores of families, of their rotations and of access tokens. */
export const familyStores = {
  families: bounds(familiesPerPersonMax, (value) => {
    const [person, agent, from, salt] = [personIn(value), value['agent'], value['from'], value['salt']]
    if (person === undefined || typeof agent !== 'string' || typeof from !== 'string' || typeof salt !== 'string')
      return undefined
    return { ...person, agent, from, salt }
  }),
  rotations: bounds(1, ({ current, previous, at }): Rotation | undefined =>
    typeof current === 'string' && typeof previous === 'string' && typeof at === 'number'
      ? { current, previous, at }
      : undefined,
  ),
  access: {
    ...bounds(8, (value): AgentAccess | undefined => {
      const [person, family] = [personIn(value), value['family']]
      return person === undefined || typeof family !== 'string' ? undefined : { ...person, family }
    }),
    ttlMs: accessSeconds * 1000,
    valuesMax: 50_000,
  },
}

function bounds<Value>(
  valuesPerOwnerMax: number,
  parse: (value: Readonly<Record<string, unknown>>) => Value | undefined,
): StoreOptions<Value> {
  return {
    ttlMs: familyDaysMax * dayMs,
    valuesMax: familiesMax,
    valuesPerOwnerMax,
    parse: (value) => (isRecord(value) ? parse(value) : undefined),
  }
}

function personIn(value: Readonly<Record<string, unknown>>) {
  const { userId, userName, displayName, email, realm, made } = value
  return typeof userId === 'string' &&
    typeof userName === 'string' &&
    typeof displayName === 'string' &&
    typeof email === 'string' &&
    typeof realm === 'string' &&
    typeof made === 'number'
    ? { userId, userName, displayName, email, realm, made }
    : undefined
}

/** The owner of access tokens and rotation of a family. It begins with the person, so that both end with them. */
export function ownerOfAccess({ realm, userId, family }: Pick<AgentAccess, 'realm' | 'userId' | 'family'>): string {
  return `${personIdAt(realm, userId)} ${family}`
}

/** AgentTokens for an agent. */
export interface IssuedTokens {
  readonly access: string
  readonly refresh: string
  readonly person: AgentPerson
}

export interface FamiliesOptions {
  readonly families: Store<AgentFamily>
  readonly rotations: Store<Rotation>
  readonly access: Store<AgentAccess>
  /** Unix milliseconds. */
  now(): number
  /** Identifies the identity provider; families of another one are invalid. */
  readonly realm: string
  /** Checked at each use. */
  readonly restrictTo: AllowList | undefined
  /** How long an agent stays signed in. */
  readonly days: number
  readonly log: ExtensionLog
}

/** Agents that are signed in: their tokens are made, renewed, checked and ended here. */
export class Families {
  readonly #options: FamiliesOptions

  constructor(options: FamiliesOptions) {
    this.#options = options
  }

  /** Signs an agent in. @returns `undefined`: the person may not enter */
  async begin(person: AgentPerson, { agent, from }: AgentFacts): Promise<IssuedTokens | undefined> {
    const { families, rotations, realm, now } = this.#options
    const { userId, userName, displayName, email } = person
    const made = now()
    const family = { userId, userName, displayName, email, agent, from, realm, made, salt: randomToken() }
    if (!this.#mayStay(family)) return undefined
    const token = randomRefreshToken()
    const key = familyKeyOf(token.familyId)
    const current = hashOf(token.secret)
    await rotations.set(key, { current, previous: '', at: made }, ownerOfAccess({ ...family, family: key }))
    await families.set(key, family, personIdAt(realm, userId))
    return await this.#issue(key, family, token)
  }

  /**
   * Renews the tokens of an agent by its refresh token, which ends with it; within a minute it gives the same next one.
   * If a token is used again after that minute, it was copied, so the family is ended (RFC 9700 section 4.14.2).
   *
   * @returns `undefined`: the token is not valid
   */
  async refresh(text: string): Promise<IssuedTokens | undefined> {
    const token = parseRefreshToken(text)
    if (token === undefined) return undefined
    const { families, rotations, now } = this.#options
    const key = familyKeyOf(token.familyId)
    const [family, rotation] = await Promise.all([families.get(key), rotations.get(key)])
    if (family === undefined || rotation === undefined || !this.#isCurrent(family)) return undefined
    if (!this.#mayStay(family)) {
      await this.#end(key, family)
      return undefined
    }
    const sent = hashOf(token.secret)
    const next = nextRefreshToken(token, family.salt)
    const age = now() - rotation.at
    if (areEqualHashes(sent, rotation.current)) {
      const turned = { current: hashOf(next.secret), previous: sent, at: now() }
      await rotations.set(key, turned, ownerOfAccess({ ...family, family: key }))
    } else if (!areEqualHashes(sent, rotation.previous) || age > graceMs || age < -setBackMsMax) {
      await this.#end(key, family)
      this.#options.log.warn('an agent was signed out: a used refresh token was sent again', { user: family.userName })
      return undefined
    }
    return await this.#issue(key, family, next)
  }

  /** The right of an access token. Does not read the store for a text without its form. */
  async find(token: string, store: Store<AgentAccess> = this.#options.access): Promise<AgentAccess | undefined> {
    if (!isAccessToken(token)) return undefined
    const found = await store.get(hashOf(token))
    if (found === undefined || !this.#isWithin(found.made, accessSeconds * 1000)) return undefined
    return this.#mayStay(found) ? found : undefined
  }

  /** Ends the family of a token of either kind, if there is one. */
  async revoke(token: string): Promise<void> {
    const refresh = parseRefreshToken(token)
    const access = refresh === undefined ? await this.find(token) : undefined
    const key = refresh === undefined ? access?.family : familyKeyOf(refresh.familyId)
    const family = key === undefined ? undefined : await this.#options.families.get(key)
    if (key !== undefined && family !== undefined) await this.#end(key, family)
  }

  /** The agents that are signed in, newest first. */
  async list(): Promise<readonly Listed<AgentFamily>[]> {
    const found = await this.#options.families.list(familiesMax)
    return found.filter(({ value }) => this.#isCurrent(value) && this.#mayStay(value))
  }

  /** Ends the agents that match. @returns them */
  async endWhere(matches: (family: AgentFamily, key: string) => boolean): Promise<readonly AgentFamily[]> {
    const found = (await this.#options.families.list(familiesMax)).filter(({ key, value }) => matches(value, key))
    for (const { key, value } of found) await this.#end(key, value)
    return found.map(({ value }) => value)
  }

  /** Until when a family lasts, in Unix milliseconds. */
  endOf({ made }: Pick<AgentFamily, 'made'>): number {
    return made + this.#options.days * dayMs
  }

  async #issue(key: string, family: AgentFamily, token: RefreshToken): Promise<IssuedTokens | undefined> {
    const { families, access, rotations, now } = this.#options
    const { userId, userName, displayName, email, realm } = family
    const text = randomAccessToken()
    const right = { userId, userName, displayName, email, realm, family: key, made: now() }
    await access.set(hashOf(text), right, ownerOfAccess(right))
    if ((await families.get(key)) !== undefined)
      return { access: text, refresh: writeRefreshToken(token), person: family }
    // It was ended meanwhile.
    await Promise.all([access.delete(hashOf(text)), rotations.delete(key)])
    return undefined
  }

  async #end(key: string, family: AgentFamily): Promise<void> {
    const { families, rotations, access } = this.#options
    await families.delete(key)
    await rotations.delete(key)
    await access.takeAll(ownerOfAccess({ ...family, family: key }))
  }

  #isCurrent({ made }: AgentFamily): boolean {
    return this.#isWithin(made, this.#options.days * dayMs)
  }

  #isWithin(made: number, lifeMs: number): boolean {
    const age = this.#options.now() - made
    return age <= lifeMs && age >= -setBackMsMax
  }

  #mayStay(person: Pick<AgentAccess, 'userId' | 'userName' | 'realm'>): boolean {
    const { realm, restrictTo } = this.#options
    return person.realm === realm && (restrictTo === undefined || restrictTo.allows(person))
  }
}
