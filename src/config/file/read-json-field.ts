import { readElements, readMembers, type Field } from './fields.ts'
import type { Findings } from './findings.ts'

/**
 * Reads the JSON value of a field for sending. Duplicate names, `__proto__`, and numbers that JavaScript cannot
 * represent are faults.
 */
export function readJsonField(field: Field, findings: Findings): unknown {
  switch (field.node.type) {
    case 'object':
      return Object.fromEntries(
        Array.from(readMembers(field, findings) ?? [], ([name, value]) => [name, readJsonField(value, findings)]),
      )
    case 'array':
      return (readElements(field, findings) ?? []).map((item) => readJsonField(item, findings))
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
  // The parser returns null for numbers that overflow, such as 1e999.
  if (typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))
    return value
  findings.add(
    field,
    'a number that cannot be sent exactly',
    'integers up to 9007199254740991, and numbers below 1e308',
  )
  return undefined
}
