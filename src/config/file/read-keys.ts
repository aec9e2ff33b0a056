import { getNodeValue } from 'jsonc-parser/lib/esm/main.js'
import { didYouMean } from '../../base/nearest.ts'
import type { TextRule } from '../../base/text-rule.ts'
import { fileKeyNameRule, lineOfFileKey, type FileKey } from '../../people/keys/file-key.ts'
import { KeyFault, parseGrants, type Grants } from '../../people/keys/grants.ts'
import {
  describeFound,
  readElements,
  readElementsTo,
  readKnownMembers,
  readTextField,
  refuse,
  type Field,
  type MemberNames,
} from './fields.ts'
import type { Findings } from './findings.ts'

const keysMax = 1_000
const grantNames = ['models', 'providers', 'networks', 'scopes'] as const

const keyMembers: MemberNames = {
  names: ['name', 'hash', 'team', 'expires', ...grantNames],
  required: ['name', 'hash'],
  hints: { key: 'hash', sha256: 'hash', id: 'name', days: 'expires', expiry: 'expires', allowed_models: 'models' },
}

const hashRule: TextRule = {
  allowed:
    'the SHA-256 of a key, in 64 hexadecimal digits, as "svc keys make --hash-only" prints it; never the key itself',
  pattern: /^[0-9a-fA-F]{64}$/,
  lengthMax: 64,
}

const expiresRule: TextRule = {
  allowed: 'a date such as "2027-03-31", from whose beginning in UTC the key is refused, or a time with its zone',
  pattern: /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/,
  lengthMax: 32,
}

/** Reads `keys`: keys by their hashes. @param teams names of all teams of the file */
export function readKeys(field: Field | undefined, teams: readonly string[], findings: Findings): readonly FileKey[] {
  const seen = new Map<string, Field>()

  /** Refuses the second key with the same value. */
  function once(value: string | number, at: Field | undefined, found: string): void {
    if (at === undefined) return
    const first = seen.get(`${found} ${value}`)
    if (first === undefined) seen.set(`${found} ${value}`, at)
    else findings.add(at, found, `each once (the first is ${first.path}, on line ${findings.lineOf(first.offset)})`)
  }

  return readElementsTo(keysMax, 'keys', field, findings).flatMap((item) => {
    const members = readKnownMembers(item, keyMembers, findings)
    const key = readKey(members, teams, findings)
    if (key === undefined) return []
    once(key.line, members.get('name'), 'a second key of this name')
    once(key.hash, members.get('hash'), 'a second key with this hash')
    return [key]
  })
}

function readKey(
  members: ReadonlyMap<string, Field>,
  teams: readonly string[],
  findings: Findings,
): FileKey | undefined {
  const name = readTextField(members.get('name'), fileKeyNameRule, findings)
  const hash = readHash(members.get('hash'), findings)
  const team = readTeam(members.get('team'), teams, findings)
  const expires = readExpires(members.get('expires'), findings)
  const grants = readGrants(members, findings)
  if (name === undefined || hash === undefined) return undefined
  return {
    ...{ name, line: lineOfFileKey(name), hash, grants },
    ...(expires === undefined ? {} : { expires }),
    ...(team === undefined ? {} : { team }),
  }
}

/** A faulty value is not shown: it may be the key itself. */
function readHash(field: Field | undefined, findings: Findings): string | undefined {
  if (field === undefined) return undefined
  const secret = { ...field, isSecret: true }
  if (String(field.node.value).length !== hashRule.lengthMax) return refuse(secret, hashRule.allowed, findings)
  const hex = readTextField(secret, hashRule, findings)
  return hex === undefined ? undefined : Buffer.from(hex, 'hex').toString('base64')
}

function readTeam(field: Field | undefined, teams: readonly string[], findings: Findings): string | undefined {
  if (field === undefined) return undefined
  if (field.node.type !== 'string') return refuse(field, 'a text: the name of a team', findings)
  const found = teams.find((team) => team === field.node.value)
  return (
    found ?? refuse(field, `the name of one of the teams of this file${didYouMean(field.node.value, teams)}`, findings)
  )
}

function readExpires(field: Field | undefined, findings: Findings): number | undefined {
  const text = readTextField(field, expiresRule, findings)
  if (text === undefined || field === undefined) return undefined
  const time = Date.parse(text)
  const day = Date.parse(text.slice(0, 10))
  // The runtime takes February 30 for a day in March.
  const isReal = !Number.isNaN(time) && !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10))
  return isReal ? time : refuse(field, 'a day of the calendar, and a time of the day', findings)
}

function readGrants(members: ReadonlyMap<string, Field>, findings: Findings): Grants {
  const given = grantNames.flatMap((name) => {
    const field = members.get(name)
    if (field === undefined) return []
    const value: unknown = getNodeValue(field.node)
    if (value === null) return refuse(field, 'a list; without it there is no limit', findings) ?? []
    return isGranted(name, value, field, findings) ? [[name, value] as const] : []
  })
  return parseGrants(Object.fromEntries(given), 'program')
}

/** Whether a member of grants has an allowed value. Else the fault is at the entry, if it is that of one. */
function isGranted(name: string, value: unknown, field: Field, findings: Findings): boolean {
  try {
    parseGrants({ [name]: value }, 'program')
    return true
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error
    const [, found, allowed = error.message] = /^(?:found (".*?"), )?allowed:? ?(.*)$/s.exec(error.message) ?? []
    const entries = field.node.type === 'array' ? (readElements(field, findings) ?? []) : []
    const entry = entries.find(
      ({ node }) => found !== undefined && JSON.stringify(String(node.value).slice(0, 64)) === found,
    )
    findings.add(entry ?? field, found ?? describeFound(field), allowed.replace(/^, /, ''))
    return false
  }
}
