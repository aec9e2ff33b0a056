import { didYouMean } from '../../base/nearest.ts'
import type { TextRule } from '../../base/text-rule.ts'
import { openPolicy, ownKeysDefault, type AccessPolicy } from '../../limits/access-policy.ts'
import type { OwnKeys } from '../../people/keys/key-host.ts'
import type { Team } from '../../people/teams.ts'
import { accessFile } from '../home.ts'
import {
  readBooleanField,
  readElementsTo,
  readIntegerField,
  readKnownMembers,
  readMembers,
  readTextField,
  refuse,
  type Field,
  type MemberNames,
} from './fields.ts'
import { collectFindings, type Findings } from './findings.ts'
import { readConfigText } from './load-config.ts'
import { readContentRules } from './read-content-rules.ts'
import { readKeys } from './read-keys.ts'
import { readLimits } from './read-limits.ts'
import { readTopMembers } from './read-top-members.ts'
import type { Environment } from './resolve-provider.ts'
import { idRule, personRule } from './rules.ts'

const teamsMax = 1_000
const peopleMax = 10_000

const topMembers: MemberNames = {
  names: ['$schema', 'time_zone', 'limits', 'teams', 'keys', 'ietf_headers', 'own_keys', 'content'],
  hints: {
    timezone: 'time_zone',
    tz: 'time_zone',
    budgets: 'limits',
    quotas: 'limits',
    groups: 'teams',
    log_content: 'content',
  },
}
const teamMembers: MemberNames = {
  names: ['leads', 'members'],
  hints: { owners: 'leads', admins: 'leads', users: 'members', people: 'members' },
}
const ownKeysMembers: MemberNames = { names: ['most', 'days_most'], hints: { max: 'most', days: 'days_most' } }

/**
 * Parses access.json (docs/limits.md).
 *
 * @param text undefined without a file: no limits
 * @throws {ConfigError} with all faults
 */
export function parseAccess(text: string | undefined, file: string): AccessPolicy {
  if (text === undefined) return openPolicy
  const findings = collectFindings(file, text)
  const members = readTopMembers(text, topMembers, findings)
  const timeZone = readTimeZone(members.get('time_zone'), findings) ?? openPolicy.timeZone
  const teams = readTeams(members.get('teams'), findings)
  const keys = readKeys(members.get('keys'), [...teams.keys()], findings)
  const named = { teams: [...teams.keys()], keys: keys.map(({ name }) => name) }
  const limits = readLimits(members.get('limits'), named, findings)
  const ownKeys = readOwnKeys(members.get('own_keys'), findings)
  const content = readContentRules(members.get('content'), named, findings)
  const hasIetfHeaders = readBooleanField(members.get('ietf_headers'), findings) ?? false
  findings.throwIfAny()
  return {
    timeZone,
    limits,
    teams,
    ...(ownKeys === undefined ? {} : { ownKeys }),
    ...(keys.length === 0 ? {} : { keys }),
    ...(content.length === 0 ? {} : { content }),
    ...(hasIetfHeaders ? { hasIetfHeaders } : {}),
  }
}

/** Reads the access policy of this machine. @throws {ConfigError} */
export async function loadAccess(environment: Environment): Promise<AccessPolicy> {
  const file = accessFile(environment)
  return file === undefined ? openPolicy : parseAccess(await readConfigText(file), file)
}

const zoneRule: TextRule = {
  allowed: 'an IANA time zone such as "UTC" or "Europe/Berlin"',
  // The runtime also takes offsets such as "+02:00", which know no summer time.
  pattern: /^[A-Za-z][A-Za-z0-9_+/-]*$/,
  lengthMax: 64,
}

function readTimeZone(field: Field | undefined, findings: Findings): string | undefined {
  const zone = readTextField(field, zoneRule, findings)
  if (zone === undefined || field === undefined) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    // A RangeError: no such zone.
    return refuse(field, zoneRule.allowed + didYouMean(zone, Intl.supportedValuesOf('timeZone')), findings)
  }
}

function readTeams(field: Field | undefined, findings: Findings): ReadonlyMap<string, Team> {
  const teams = new Map<string, Team>()
  if (field === undefined) return teams
  const members = readMembers(field, findings) ?? new Map<string, Field>()
  if (members.size > teamsMax) findings.add(field, `${members.size} teams`, `at most ${teamsMax}`)
  for (const [name, member] of members) {
    if (name.length > idRule.lengthMax || !idRule.pattern.test(name))
      findings.add(member, 'an invalid name', idRule.allowed)
    const parts = readKnownMembers(member, teamMembers, findings)
    teams.set(name, {
      leads: readPeople(parts.get('leads'), findings),
      members: readPeople(parts.get('members'), findings),
    })
  }
  return teams
}

function readPeople(field: Field | undefined, findings: Findings): readonly string[] {
  const people = new Set<string>()
  for (const item of readElementsTo(peopleMax, 'people', field, findings)) {
    const name = readTextField(item, personRule, findings)
    if (name === undefined) continue
    if (people.has(name)) findings.add(item, `a second entry for ${JSON.stringify(name)}`, 'each person once')
    people.add(name)
  }
  return [...people]
}

function readOwnKeys(field: Field | undefined, findings: Findings): OwnKeys | undefined {
  if (field === undefined) return undefined
  const members = readKnownMembers(field, ownKeysMembers, findings)
  return {
    most: readIntegerField(members.get('most'), 0, 1_000, findings) ?? ownKeysDefault.most,
    daysMost: readIntegerField(members.get('days_most'), 1, 3_650, findings) ?? ownKeysDefault.daysMost,
  }
}
