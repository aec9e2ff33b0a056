import { didYouMean } from '../base/nearest.ts'
import { personEntry } from '../base/person-entry.ts'
import { ConfigError, type Config, type ConfigFault } from '../config/config.ts'
import type { Contribution } from '../extensions/extension.ts'
import { subjectText, type AccessLimit, type AccessPolicy, type ContentRule } from '../limits/access-policy.ts'

/** The parts of the service that limits depend on. */
export interface LimitedService {
  /** Ids of all providers in the configuration. */
  readonly providers: readonly string[]
  /** Of all extensions. Absent: it is not known which extensions run. */
  readonly contributions?: readonly Contribution[]
  /** Path of access.json. */
  readonly file: string
}

/**
 * Checks that every limit, every rule of content and every key can have an effect: keys, and those of keys, need keys,
 * those of people need sign-in, and limits of a provider need the provider.
 *
 * @throws {ConfigError}
 */
export function checkAccess(
  { limits, teams, content = [], keys = [] }: AccessPolicy,
  { providers, contributions, file }: LimitedService,
): void {
  const hasKeys = contributions === undefined || haveKeys(contributions)
  const hasSignIn = contributions === undefined || contributions.some(({ guard }) => guard !== undefined)
  const faults = [...limits, ...content].flatMap((limit): ConfigFault[] => {
    const missing = missingFor(limit, { hasKeys, hasSignIn, providers })
    if (missing !== undefined) return [{ file, ...missing }]
    return limit.subject.kind === 'person' ? otherProvider(limit.subject.name, `${limit.place}.for`) : []
  })
  /** An entry that names another identity provider than the one in use would name no person. */
  function otherProvider(entry: string, field: string): ConfigFault[] {
    const known = contributions?.flatMap(({ identityProvider = [] }) => identityProvider) ?? []
    const named = personEntry(entry)
    if (known.length === 0 || named.kind === 'name' || named.provider === undefined) return []
    if (known.includes(named.provider)) return []
    const allowed = known.map((provider) => `"id:${named.userId}@${provider}"`).join(', ')
    return [{ file, field, found: JSON.stringify(entry), allowed }]
  }
  for (const [name, { leads, members }] of teams)
    for (const [list, entries] of Object.entries({ leads, members }))
      faults.push(...entries.flatMap((entry) => otherProvider(entry, `teams.${name}.${list}`)))
  if (keys.length > 0 && !hasKeys)
    faults.push({ file, field: 'keys', found: `${keys.length} of them`, allowed: 'keys only with --auth keys' })
  if (faults.length > 0) throw new ConfigError(faults)
}

/** Whether one of the contributions is that of keys: sign-in, which has a guard, recognises only agents of people. */
export function haveKeys(contributions: readonly Contribution[]): boolean {
  return contributions.some(({ guard, recognise }) => guard === undefined && recognise !== undefined)
}

type Missing = Pick<ConfigFault, 'field' | 'found' | 'allowed'>

interface Parts {
  readonly hasKeys: boolean
  readonly hasSignIn: boolean
  readonly providers: readonly string[]
}

function missingFor(
  { subject, place }: AccessLimit | ContentRule,
  { hasKeys, hasSignIn, providers }: Parts,
): Missing | undefined {
  const fault = (allowed: string): Missing => ({
    field: `${place}.for`,
    found: JSON.stringify(subjectText(subject)),
    allowed,
  })
  const what = place.startsWith('content') ? 'content' : 'limits'
  switch (subject.kind) {
    case 'key':
    case 'each key':
      return hasKeys ? undefined : fault(`${what} of keys only with --auth keys, since there are no keys without it`)
    case 'person':
    case 'each person':
      return hasSignIn ? undefined : fault(`${what} of people only with sign-in, since no person is known without it`)
    case 'team':
      return hasSignIn || hasKeys ? undefined : fault(`${what} of teams only with sign-in or --auth keys`)
    case 'provider':
      return providers.includes(subject.id)
        ? undefined
        : fault(`the id of a provider in providers.json${didYouMean(subject.id, providers)}`)
    default:
      return undefined
  }
}

/**
 * Checks that owners are named where keys and sign-in are both on. Without `owners` every signed-in user is an owner,
 * and could make keys of any kind.
 *
 * @throws {ConfigError}
 */
export function checkOwnersNamed(
  { owners }: Pick<Config, 'owners'>,
  contributions: readonly Contribution[],
  file: string,
): void {
  const hasKeys = haveKeys(contributions)
  const hasSignIn = contributions.some(({ guard }) => guard !== undefined)
  if (owners !== undefined || !hasKeys || !hasSignIn) return
  const allowed = 'names of users, or []: with keys and sign-in on, the owners must be named, since they may make keys'
  throw new ConfigError([{ file, field: 'owners', found: 'nothing', allowed }])
}

/**
 * Checks that a change of `auth` does not open a guarded service to everyone, as sign-in without its file would. Only
 * an `auth` without names does that.
 *
 * @throws {ConfigError}
 */
export function checkStillGuarded(
  { auth = [] }: Pick<Config, 'auth'>,
  {
    contributions,
    earlier = [],
    file,
  }: {
    readonly contributions: readonly Contribution[]
    /** Absent: the same extensions run as before. */
    readonly earlier?: readonly Contribution[] | undefined
    readonly file: string
  },
): void {
  if (auth.length === 0 || !earlier.some(isGuard) || contributions.some(isGuard)) return
  const allowed = 'extensions that are set up: these would let everyone in, since their files are missing (or [])'
  throw new ConfigError([{ file, field: 'auth', found: auth.join(', '), allowed }])
}

function isGuard({ guard, recognise }: Contribution): boolean {
  return guard !== undefined || recognise !== undefined
}
