import { isAbsolute } from 'node:path'
import type { TextRule } from '../../base/text-rule.ts'
import { isThisMachine } from '../../base/this-machine.ts'
import { githubIssuer, namingClaims, type TokenRule } from '../../people/keys/token/token-rule.ts'
import { listShape, namedShape, objectShape } from '../../shapes/containers.ts'
import { memberNode } from '../../shapes/node.ts'
import { eitherShape, mapShape, refuseNode, textShape, type ValueShape } from '../../shapes/shape.ts'

const issuerRule: TextRule = {
  allowed: 'the issuer as its tokens have it in "iss": an https URL; http only of this machine',
  pattern: /^https?:\/\/[^\s?#@]+$/,
  lengthMax: 512,
}

const audienceRule: TextRule = {
  allowed: 'an audience as tokens have it in "aud", such as "https://svc.example.org"',
  pattern: /^[^\s*]+$/,
  lengthMax: 512,
}

const valueRule: TextRule = {
  allowed: 'the value of a claim; "*" only at its end, behind other characters',
  pattern: /^[^*]+\*?$/,
  lengthMax: 1024,
}

const fileRule: TextRule = { allowed: 'an absolute path', pattern: /^[/\\]|^[A-Za-z]:/, lengthMax: 4096 }

const issuer = mapShape(textShape(issuerRule), (text, node, faults) => {
  const url = URL.parse(text)
  if (url !== null && (url.protocol === 'https:' || isThisMachine(url.hostname))) return text
  return refuseNode(node, issuerRule.allowed, faults)
})

const jwksFile = mapShape(textShape(fileRule), (path, node, faults) =>
  isAbsolute(path) ? path : refuseNode(node, fileRule.allowed, faults),
)

function oneOrMore(rule: TextRule, noun: string): ValueShape<readonly string[]> {
  const one = mapShape(textShape(rule), (text) => [text])
  return eitherShape({ string: one, array: listShape(textShape(rule), { min: 1, max: 100, noun }) }, one)
}

/** `token`: which tokens prove a key. */
export const tokenShape: ValueShape<TokenRule> = mapShape(
  objectShape(
    {
      issuer,
      audience: oneOrMore(audienceRule, 'audiences'),
      claims: namedShape(oneOrMore(valueRule, 'values'), { max: 20, noun: 'claims' }),
      jwks_file: jwksFile,
    },
    {
      required: ['issuer', 'audience', 'claims'],
      hints: { iss: 'issuer', aud: 'audience', bound_claims: 'claims', jwks: 'jwks_file', keys: 'jwks_file' },
    },
  ),
  (given, node, faults) => {
    const claims = [...given.claims]
    if (!claims.some(([name]) => namingClaims.has(name)))
      faults.add(
        memberNode(node, 'claims') ?? node,
        'no claim that names a program',
        `one of ${[...namingClaims].join(', ')}: without one, every token of the issuer fits`,
      )
    // The owner stands before the first slash: without it, anybody's repository would do.
    const wide =
      given.issuer === githubIssuer && claims.find(([, values]) => values.some((text) => /^[^/]*\*$/.test(text)))
    if (wide)
      faults.add(
        memberNode(memberNode(node, 'claims'), wide[0]) ?? node,
        'a "*" before the first slash',
        'values such as "repo:acme/*", which name the owner',
      )
    return {
      ...{ issuer: given.issuer, audiences: given.audience, claims },
      ...(given.jwksFile === undefined ? {} : { jwksFile: given.jwksFile }),
    }
  },
)
