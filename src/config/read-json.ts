import { readItems, readMembers, type Field } from './fields.ts'
import type { Findings } from './findings.ts'

/**
 * The JSON value of a field as it will be sent. Noted: names that stand twice, `__proto__`, and numbers that JavaScript
 * cannot hold.
 */
export function readJson(field: Field, findings: Findings): unknown {
  switch (field.node.type) {
    case 'object':
      return Object.fromEntries(
        Array.from(readMembers(field, findings) ?? [], ([name, value]) => [name, readJson(value, findings)]),
      )
    case 'array':
      return (readItems(field, findings) ?? []).map((item) => readJson(item, findings))
    case 'number':
      return readSendableNumber(field, findings)
    default: {
      const value: unknown = field.node.value
      return value
    }
  }
}

function readSendableNumber(field: Field, findings: Findings): number | undefined {
  const value: unknown = field.node.value
  // The parser gives null for what overflows, such as 1e999.
  if (typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))
    return value
  findings.add(
    field,
    'a number that would not be sent as it is written',
    'integers up to 9007199254740991, and numbers below 1e308',
  )
  return undefined
}
