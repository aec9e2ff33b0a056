import { didYouMean } from '../../base/nearest.ts'
import type { TextRule } from '../../base/text-rule.ts'
import { openPolicy, ownKeysDefault, type AccessPolicy } from '../../limits/access-policy.ts'
import type { OwnKeys } from '../../people/keys/key-host.ts'
import type { Team } from '../../people/teams.ts'
import { listShape, namedShape, namesBy, objectShape } from '../../shapes/containers.ts'
import { forRepeats, memberNode, type ShapeNode } from '../../shapes/node.ts'
import { flagShape, integerShape, mapShape, refuseNode, textShape, type ValueShape } from '../../shapes/shape.ts'
import { accessFile } from '../home.ts'
import type { Environment } from './environment.ts'
import { contentShape } from './read-content-rules.ts'
import { readFileBy, schemaAddress } from './read-file.ts'
import { keysShape } from './read-keys.ts'
import { limitsShape, type NamesOfFile } from './read-limits.ts'
import { readConfigText } from './read-text.ts'
import { idRule, personRule } from './rules.ts'
import { webhookShape } from './webhook.ts'

const zoneRule: TextRule = {
  allowed: 'an IANA time zone such as "UTC" or "Europe/Berlin"',
  // The runtime also takes offsets such as "+02:00", which know no summer time.
  pattern: /^[A-Za-z][A-Za-z0-9_+/-]*$/,
  lengthMax: 64,
}

const timeZone = mapShape(textShape(zoneRule), (zone, node, faults) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {
    // A RangeError: no such zone.
    return refuseNode(node, zoneRule.allowed + didYouMean(zone, Intl.supportedValuesOf('timeZone')), faults)
  }
})

/** People of a team. */
export const peopleShape = mapShape(
  listShape(textShape(personRule), { max: 10_000, noun: 'people' }),
  (people, list, faults) => {
    forRepeats(
      list.elements().map((node) => [typeof node.value === 'string' ? node.value : undefined, node]),
      (node) => faults.add(node, `a second entry for ${JSON.stringify(node.value)}`, 'each person once'),
    )
    return people
  },
)

const teams: ValueShape<ReadonlyMap<string, Team>> = namedShape(
  mapShape(
    objectShape(
      { leads: peopleShape, members: peopleShape },
      { hints: { owners: 'leads', admins: 'leads', users: 'members', people: 'members' } },
    ),
    ({ leads = [], members = [] }) => ({ leads, members }),
  ),
  { ...namesBy(idRule), max: 1_000, noun: 'teams' },
)

/** The table of access.json. @param names of teams and keys that limits may name */
export function accessFileShape(names: NamesOfFile) {
  return objectShape(
    {
      $schema: schemaAddress,
      time_zone: timeZone,
      limits: limitsShape(names),
      teams,
      keys: keysShape(names.teams),
      ietf_headers: flagShape,
      own_keys: mapShape(
        objectShape(
          { most: integerShape(0, 1_000), days_most: integerShape(1, 3_650) },
          { hints: { max: 'most', days: 'days_most' } },
        ),
        (given): OwnKeys => ({ ...ownKeysDefault, ...given }),
      ),
      content: contentShape(names),
      webhook: webhookShape,
    },
    {
      hints: {
        timezone: 'time_zone',
        tz: 'time_zone',
        budgets: 'limits',
        quotas: 'limits',
        groups: 'teams',
        log_content: 'content',
        webhooks: 'webhook',
        alerts: 'webhook',
      },
    },
  )
}

/** The names of teams and keys, before they are checked: limits may stand before them. */
function namesIn(root: ShapeNode): NamesOfFile {
  return {
    teams:
      memberNode(root, 'teams')
        ?.members()
        .map(({ name }) => name) ?? [],
    keys: (memberNode(root, 'keys')?.elements() ?? []).flatMap((key) => {
      const name = memberNode(key, 'name')?.value
      return typeof name === 'string' ? [name] : []
    }),
  }
}

/**
 * Parses access.json (docs/limits.md).
 *
 * @param text undefined without a file: no limits
 * @throws {ConfigError} with all faults
 */
export function parseAccess(text: string | undefined, file: string): AccessPolicy {
  if (text === undefined) return openPolicy
  const {
    timeZone,
    limits,
    teams,
    ownKeys,
    keys = [],
    content = [],
    ietfHeaders,
    webhook,
  } = readFileBy(text, file, (root) => accessFileShape(namesIn(root)))
  return {
    timeZone: timeZone ?? openPolicy.timeZone,
    limits: limits ?? [],
    teams: teams ?? new Map<string, Team>(),
    ...(ownKeys === undefined ? {} : { ownKeys }),
    ...(keys.length === 0 ? {} : { keys }),
    ...(content.length === 0 ? {} : { content }),
    ...(webhook === undefined ? {} : { webhook }),
    ...(ietfHeaders === true ? { hasIetfHeaders: true } : {}),
  }
}

/** Reads the access policy of this machine. @throws {ConfigError} */
export async function loadAccess(environment: Environment): Promise<AccessPolicy> {
  const file = accessFile(environment)
  return file === undefined ? openPolicy : parseAccess(await readConfigText(file), file)
}
