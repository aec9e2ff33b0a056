import type { TextRule } from '../../base/text-rule.ts'
import type { PriceList } from '../../prices/price-book.ts'
import { findHome, type Home } from '../home.ts'
import { readMembers, readTextField, type Field, type MemberNames } from './fields.ts'
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
  const prices = readPriceList(members.get('prices'), findings)
  findings.throwIfAny()
  return prices
}

/** A list of prices that was fetched. */
export interface FetchedPrices {
  /** The address or file that it is from. */
  readonly from: string
  /** Unix milliseconds. */
  readonly fetchedAt: number
  readonly prices: PriceList
}

const fetchedMembers: MemberNames = {
  names: ['from', 'fetched_at', 'prices'],
  required: ['from', 'fetched_at', 'prices'],
}
const fromRule: TextRule = { allowed: 'the address of a list', pattern: /./, lengthMax: 2_048 }
const timeRule: TextRule = {
  allowed: 'a time such as 2026-11-23T10:00:00Z',
  pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
  lengthMax: 32,
}

/**
 * Parses prices.fetched.json, which `svc prices update` writes.
 *
 * @param text undefined without a file: nothing was fetched
 * @throws {ConfigError} with all faults
 */
export function parseFetchedPrices(text: string | undefined, file: string): FetchedPrices | undefined {
  if (text === undefined) return undefined
  const findings = collectFindings(file, text)
  const members = readTopMembers(text, fetchedMembers, findings)
  const from = readTextField(members.get('from'), fromRule, findings) ?? ''
  const fetchedAt = Date.parse(readTextField(members.get('fetched_at'), timeRule, findings) ?? '')
  const prices = readPriceList(members.get('prices'), findings)
  findings.throwIfAny()
  return { from, fetchedAt, prices }
}

/** The prices of this machine. */
export interface PricesHere {
  readonly own: PriceList
  readonly fetched: FetchedPrices | undefined
}

/** Reads the prices of this machine. @throws {ConfigError} */
export async function loadPrices(environment: Environment): Promise<PricesHere> {
  const files = priceFiles(environment)
  if (files === undefined) return { own: new Map(), fetched: undefined }
  return {
    own: parsePrices(await readConfigText(files.prices), files.prices),
    fetched: parseFetchedPrices(await readConfigText(files.fetchedPrices), files.fetchedPrices),
  }
}

/** The paths of prices.json and prices.fetched.json; undefined without a home folder. */
export function priceFiles(environment: Environment): Pick<Home, 'prices' | 'fetchedPrices'> | undefined {
  try {
    return findHome(environment)
  } catch {
    return undefined
  }
}

function readPriceList(field: Field | undefined, findings: Findings): PriceList {
  return readNamed(field, idRule, findings, (models) =>
    readNamed(models, namesRule, findings, (price) => readPrice(price, findings)),
  )
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
