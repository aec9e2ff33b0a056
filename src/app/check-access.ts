import { ConfigError, type ConfigFault } from '../config/config.ts'
import type { Contribution } from '../extensions/extension.ts'
import { subjectText, type AccessLimit, type AccessPolicy } from '../limits/access-policy.ts'

/** The parts of the service that limits depend on. */
export interface LimitedService {
  /** Of all extensions. */
  readonly contributions: readonly Contribution[]
  /** Path of access.json. */
  readonly file: string
}

/**
 * Checks that every limit of a policy can have an effect: limits of keys need keys, and limits of people need sign-in.
 *
 * @throws {ConfigError}
 */
export function checkAccess({ limits }: AccessPolicy, { contributions, file }: LimitedService): void {
  const hasKeys = contributions.some(({ recognise }) => recognise !== undefined)
  const hasSignIn = contributions.some(({ guard }) => guard !== undefined)
  const faults = limits.flatMap((limit): readonly ConfigFault[] => {
    const missing = missingFor(limit, hasKeys, hasSignIn)
    return missing === undefined ? [] : [{ file, ...missing }]
  })
  if (faults.length > 0) throw new ConfigError(faults)
}

type Missing = Pick<ConfigFault, 'field' | 'found' | 'allowed'>

function missingFor({ subject, usd, place }: AccessLimit, hasKeys: boolean, hasSignIn: boolean): Missing | undefined {
  const fault = (allowed: string): Missing => ({
    field: `${place}.for`,
    found: JSON.stringify(subjectText(subject)),
    allowed,
  })
  if (usd !== undefined) {
    const allowed = 'requests, tokens and at_once: this version keeps no limits of money'
    return { field: `${place}.usd`, found: 'a limit of money', allowed }
  }
  switch (subject.kind) {
    case 'key':
    case 'each key':
      return hasKeys ? undefined : fault('limits of keys only with --auth keys, since there are no keys without it')
    case 'person':
    case 'each person':
    case 'team':
      return hasSignIn ? undefined : fault('limits of people only with sign-in, since nobody is known without it')
    default:
      return undefined
  }
}
