import { didYouMean } from '../../base/nearest.ts'
import type { TextRule } from '../../base/text-rule.ts'
import { fileKeyNameRule, hashOfTokenKey, lineOfFileKey, type FileKey } from '../../people/keys/file-key.ts'
import { programGrants, withScopes } from '../../people/keys/grants.ts'
import { listShape, objectShape } from '../../shapes/containers.ts'
import { forRepeats, memberNode, type ShapeNode } from '../../shapes/node.ts'
import { mapShape, refuseNode, textShape, type Faults, type ValueShape } from '../../shapes/shape.ts'
import { tokenShape } from './read-token.ts'

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

function checkProof(_given: unknown, node: ShapeNode, faults: Faults): void {
  const [hashed, proven] = [memberNode(node, 'hash'), memberNode(node, 'token')]
  if (hashed !== undefined && proven !== undefined) faults.add(proven, 'a token beside a hash', 'one of both')
  if (hashed === undefined && proven === undefined) faults.add(node, 'neither hash nor token', 'one of both')
}

/** `keys`: keys by their hashes, or by tokens that prove them. @param teams names of all teams of the file */
export function keysShape(teams: readonly string[]): ValueShape<readonly FileKey[]> {
  const key = mapShape(
    objectShape(
      {
        name: textShape(fileKeyNameRule),
        hash,
        token: tokenShape,
        team: teamOf(teams),
        expires,
        ...programGrants,
      },
      {
        required: ['name'],
        check: checkProof,
        schema: { oneOf: [{ required: ['hash'] }, { required: ['token'] }] },
        hints: {
          key: 'hash',
          sha256: 'hash',
          id: 'name',
          days: 'expires',
          expiry: 'expires',
          allowed_models: 'models',
          jwt: 'token',
          oidc: 'token',
        },
      },
    ),
    ({ name, hash: digest, token, team, expires: end, ...grants }, node) => {
      const read: FileKey = {
        ...{ name, line: lineOfFileKey(name), hash: digest ?? hashOfTokenKey(name) },
        grants: withScopes(grants, 'program'),
        ...(token === undefined ? {} : { token }),
        ...(end === undefined ? {} : { expires: end }),
        ...(team === undefined ? {} : { team }),
      }
      return { key: read, node }
    },
  )
  return mapShape(listShape(key, { max: 1_000, noun: 'keys' }), (entries, _, faults) => {
    for (const member of ['name', 'hash'] as const)
      forRepeats(
        entries.map(({ key: of, node }) => [of[member], memberNode(node, member)]),
        (node, first) => {
          const place = `${first.path}, on line ${faults.lineOf(first.offset)}`
          faults.add(node, `a second key ${sameWords[member]}`, `each once (the first is ${place})`)
        },
      )
    return entries.map((entry) => entry.key)
  })
}

const sameWords = { name: 'of this name', hash: 'with this hash' } as const
