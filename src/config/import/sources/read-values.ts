import { isRecord, type JsonObject } from '../../../base/json-value.ts'
import { headerNamePattern, headerValueRule, reservedHeaders } from '../../file/rules.ts'
import type { FindingNotes } from '../findings.ts'
import type { PlannedKey } from '../plan.ts'
import { isPlaceholder, literalKey } from '../planner.ts'
import type { SourceNode } from '../source-tree.ts'

/** Names of variables, as gateways write them: `os.environ/X`, `env.X`, `$X`, `${X}`. */
const variableForms = /^(?:os\.environ\/|env\.|\$)([A-Za-z_]\w*)$|^\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}$/

/** The variable that a text stands for. */
export function variableIn(text: string | undefined): string | undefined {
  const match = variableForms.exec(text ?? '')
  return match?.[1] ?? match?.[2]
}

/** A text, with a variable as svc writes it. */
export function keyOf(text: string): { readonly key: PlannedKey | undefined; readonly shown: string } {
  const variable = variableIn(text)
  return variable === undefined ? { key: undefined, shown: text } : { key: { variable }, shown: `$${variable}` }
}

/** Seconds as milliseconds. */
export function millisecondsOf(node: SourceNode | undefined, unit = 1_000): number | undefined {
  const given = node?.number
  const ms = given === undefined ? 0 : Math.round(given * unit)
  return ms >= 1 && ms <= 86_400_000 ? ms : undefined
}

const secretNames = /authorization|api[-_]?key|token|secret|password|cookie/i

/** Headers of requests. Those that may hold a secret as it is are to be set by hand. */
export function takenHeaders(node: SourceNode | undefined, findings: FindingNotes): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const [name, value] of node?.members ?? []) {
    const lowered = name.toLowerCase()
    const { key, shown } = keyOf(String(value.value ?? ''))
    const isTaken =
      headerNamePattern.test(name) && !reservedHeaders.includes(lowered) && headerValueRule.pattern.test(shown)
    if (!isTaken) findings.note(value, 'manual', 'a header that svc does not take')
    else if (key === undefined && secretNames.test(name))
      findings.note(value, 'manual', `a secret: set a variable, and "${lowered}": "$NAME" in headers`)
    else {
      headers[lowered] = shown
      findings.note(value, 'exact', 'in headers')
    }
  }
  return headers
}

/** Whether a request field, or one in it, may hold a secret: a text with such a name. */
export function mayBeSecret(name: string, value: unknown): boolean {
  if (typeof value === 'string') return secretNames.test(name)
  if (Array.isArray(value)) return value.some((item) => mayBeSecret(name, item))
  return isRecord(value) && Object.entries(value).some(([inner, item]) => mayBeSecret(inner, item))
}

/** The request fields that hold no secret. */
export function withoutSecrets(given: JsonObject): { readonly fields: JsonObject; readonly hasSecrets: boolean } {
  const fields = Object.fromEntries(Object.entries(given).filter(([name, value]) => !mayBeSecret(name, value)))
  return { fields, hasSecrets: Object.keys(fields).length < Object.keys(given).length }
}

/** Notes a key: a variable stays one, a key that stands in the file becomes one. */
export function noteKey(findings: FindingNotes, node: SourceNode | undefined, part?: object): void {
  const text = node?.text ?? ''
  if (variableIn(text) !== undefined) findings.note(node, 'exact', undefined, part)
  else if (isPlaceholder(text)) findings.note(node, 'exact', 'no key', part)
  else findings.note(node, 'approximate', 'a variable takes its place: set it, or use --with-keys', part)
}

/** The text at the end of a path of names. */
export function textAt(node: SourceNode | undefined, ...names: readonly string[]): string | undefined {
  return node?.at(...names)?.text
}

/** A number from 1 on, without its fraction. */
export function countAt(node: SourceNode | undefined, ...names: readonly string[]): number | undefined {
  const number = node?.at(...names)?.number
  return number === undefined || number < 1 ? undefined : Math.floor(number)
}

/** As `retries` of a provider. */
export function retriesAt(node: SourceNode | undefined, ...names: readonly string[]): number | undefined {
  const number = node?.at(...names)?.number
  return number === undefined || number < 0 ? undefined : Math.min(5, Math.floor(number))
}

/** The key of a text. @param variable the name for a key that stands in the file */
export function keyFrom(text: string | undefined, variable: string): PlannedKey | undefined {
  const named = variableIn(text)
  return named === undefined ? literalKey(text, variable) : { variable: named }
}

/** A price, if input and output are there. @param names those of the source, and ours @param factor to a million */
export function priceAt(
  node: SourceNode | undefined,
  names: readonly (readonly [theirs: string, ours: string])[],
  factor: number,
): JsonObject | undefined {
  const prices = names.flatMap(([theirs, ours]) => {
    const price = node?.get(theirs)?.number
    return price === undefined || price < 0 ? [] : [[ours, Number((price * factor).toPrecision(12))] as const]
  })
  const price = Object.fromEntries(prices)
  return 'input' in price && 'output' in price ? price : undefined
}
