import type { JsonObject } from '../../base/json-value.ts'
import { didYouMean } from '../../base/nearest.ts'
import type { TextRule } from '../../base/text-rule.ts'
import { fileKeyNameRule, lineOfFileKey, type FileKey } from '../../people/keys/file-key.ts'
import { KeyFault, parseGrants, keyScopes } from '../../people/keys/grants.ts'
import { listShape, objectShape } from '../../shapes/containers.ts'
import { memberNode, plainValue, type ShapeNode } from '../../shapes/node.ts'
import { describeNode, mapShape, refuseNode, textShape, type Faults, type ValueShape } from '../../shapes/shape.ts'
import { modelPatternRule } from './rules.ts'

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

/** A faulty value is not shown: it may be the key itself. */
const hash: ValueShape<string> = {
  read(node, faults) {
    if (typeof node.value === 'string' && hashRule.pattern.test(node.value))
      return Buffer.from(node.value, 'hex').toString('base64')
    return refuseNode(node.asSecret(), hashRule.allowed, faults)
  },
  schema: textShape(hashRule).schema,
}

const expires = mapShape(textShape(expiresRule), (text, node, faults) => {
  const time = Date.parse(text)
  const day = Date.parse(text.slice(0, 10))
  // The runtime takes February 30 for a day in March.
  const isReal = !Number.isNaN(time) && !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10))
  return isReal ? time : refuseNode(node, 'a day of the calendar, and a time of the day', faults)
})

function teamOf(teams: readonly string[]): ValueShape<string> {
  return {
    read(node, faults) {
      const { value } = node
      if (typeof value !== 'string') return refuseNode(node, 'a text: the name of a team', faults)
      const allowed = `the name of one of the teams of this file${didYouMean(value, teams)}`
      return teams.find((team) => team === value) ?? refuseNode(node, allowed, faults)
    },
    schema: () => ({ type: 'string' }),
  }
}

/** A member of grants, as people/keys/ reads it. @param items the schema of its elements */
function grantShape(name: string, items: JsonObject): ValueShape<unknown> {
  return {
    read(node, faults) {
      if (node.kind === 'null') return refuseNode(node, 'a list; without it there is no limit', faults)
      const value = plainValue(node)
      return isGranted(name, value, node, faults) ? value : undefined
    },
    schema: () => ({ type: 'array', minItems: 1, maxItems: 100, items }),
  }
}

/** Whether a member of grants has an allowed value. Else the fault is at the entry, if it is that of one. */
function isGranted(name: string, value: unknown, node: ShapeNode, faults: Faults): boolean {
  try {
    parseGrants({ [name]: value }, 'program')
    return true
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error
    const [, found, allowed = error.message] = /^(?:found (".*?"), )?allowed:? ?(.*)$/s.exec(error.message) ?? []
    const entry = node
      .elements()
      .find((item) => found !== undefined && JSON.stringify(String(item.value).slice(0, 64)) === found)
    faults.add(entry ?? node, found ?? describeNode(node), allowed.replace(/^, /, ''))
    return false
  }
}

/** `keys`: keys by their hashes. @param teams names of all teams of the file */
export function keysShape(teams: readonly string[]): ValueShape<readonly FileKey[]> {
  const key = mapShape(
    objectShape(
      {
        name: textShape(fileKeyNameRule),
        hash,
        team: teamOf(teams),
        expires,
        models: grantShape(
          'models',
          textShape(modelPatternRule).schema(() => ({})),
        ),
        providers: grantShape('providers', {
          type: 'string',
          maxLength: 64,
          pattern: '^[^\\u0000-\\u0020\\u007f*/]+$',
        }),
        networks: grantShape('networks', { type: 'string', minLength: 1 }),
        scopes: grantShape('scopes', { enum: keyScopes.filter((scope) => scope !== 'keys:write') }),
      },
      {
        required: ['name', 'hash'],
        hints: {
          key: 'hash',
          sha256: 'hash',
          id: 'name',
          days: 'expires',
          expiry: 'expires',
          allowed_models: 'models',
        },
      },
    ),
    ({ name, hash: digest, team, expires: end, ...grants }, node) => {
      const read: FileKey = {
        ...{ name, line: lineOfFileKey(name), hash: digest, grants: parseGrants(grants, 'program') },
        ...(end === undefined ? {} : { expires: end }),
        ...(team === undefined ? {} : { team }),
      }
      return { key: read, node }
    },
  )
  return mapShape(listShape(key, { max: 1_000, noun: 'keys' }), (entries, _, faults) => {
    refuseSame(
      entries.map(({ key: { line }, node }) => [line, memberNode(node, 'name')]),
      'a second key of this name',
      faults,
    )
    refuseSame(
      entries.map(({ key: { hash: of }, node }) => [of, memberNode(node, 'hash')]),
      'a second key with this hash',
      faults,
    )
    return entries.map((entry) => entry.key)
  })
}

/** Refuses the second key with the same value. */
function refuseSame(
  values: readonly (readonly [string | number, ShapeNode | undefined])[],
  found: string,
  faults: Faults,
): void {
  const seen = new Map<string | number, ShapeNode>()
  for (const [value, node] of values) {
    if (node === undefined) continue
    const first = seen.get(value)
    if (first === undefined) seen.set(value, node)
    else faults.add(node, found, `each once (the first is ${first.path}, on line ${faults.lineOf(first.offset)})`)
  }
}
