import type { TextRule } from '../../base/text-rule.ts'
import type { PriceList } from '../../prices/price-book.ts'
import { findHome } from '../home.ts'
import { readMembers, type Field, type MemberNames } from './fields.ts'
import { collectFindings, type Findings } from './findings.ts'
import { readConfigText } from './load-config.ts'
import { readPrice } from './read-price.ts'
import { readTopMembers } from './read-top-members.ts'
import type { Environment } from './resolve-provider.ts'
import { idRule, modelNameRule } from './rules.ts'

const namesRule: TextRule = {
  ...modelNameRule,
  allowed: 'a model name, or the beginning of names and "*"',
  pattern: /^(?!\s)[^\u0000-\u001f\u007f]+(?<!\s)$/,
}

const topMembers: MemberNames = { names: ['$schema', 'prices'], required: ['prices'], hints: { models: 'prices' } }

/**
 * Parses prices.json (docs/configuration.md#prices).
 *
 * @param text undefined without a file: no prices
 * @throws {ConfigError} with all faults
 */
export function parsePrices(text: string | undefined, file: string): PriceList {
  if (text === undefined) return new Map()
  const findings = collectFindings(file, text)
  const members = readTopMembers(text, topMembers, findings)
  const prices = readNamed(members.get('prices'), idRule, findings, (field) =>
    readNamed(field, namesRule, findings, (price) => readPrice(price, findings)),
  )
  findings.throwIfAny()
  return prices
}

/** Reads the prices of this machine. @throws {ConfigError} */
export async function loadPrices(environment: Environment): Promise<PriceList> {
  const file = pricesFile(environment)
  return file === undefined ? new Map() : parsePrices(await readConfigText(file), file)
}

/** The path of prices.json; undefined without a home folder. */
export function pricesFile(environment: Environment): string | undefined {
  try {
    return findHome(environment).prices
  } catch {
    return undefined
  }
}

function readNamed<Value>(
  field: Field | undefined,
  rule: TextRule,
  findings: Findings,
  read: (field: Field) => Value | undefined,
): ReadonlyMap<string, Value> {
  const values = new Map<string, Value>()
  if (field === undefined) return values
  for (const [name, member] of readMembers(field, findings) ?? []) {
    if (name.length > rule.lengthMax || !rule.pattern.test(name)) findings.add(member, 'an invalid name', rule.allowed)
    const value = read(member)
    if (value !== undefined) values.set(name, value)
  }
  return values
}
