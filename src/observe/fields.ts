import { jsonString } from '../base/shown-text.ts'
import type { Person } from '../people/person.ts'
import { usdOf } from '../prices/money.ts'

/** How values of one kind are written: in the log line, in entries of the page's API, and in rows. */
interface Unit<Value> {
  /** JSON for the log line, bounded. `undefined`: nothing is logged. */
  text(value: Value): string | undefined
  /** As the page shows it. `undefined`: the member is absent. */
  shown(value: Value): unknown
  /** As it is stored. Absent: as it is. */
  stored?(value: Value): Stored
  /** From a row. Absent: as `shown` of a number. */
  read?(row: Row, column: string): unknown
  /** Type of an attribute of a span, whose value is as the page shows it. Absent: it cannot be one. */
  readonly attribute?: AttributeType
}

export type AttributeType = 'text' | 'whole' | 'fraction' | 'truth' | 'texts'

/** The spans of a request: its own, one for all its attempts together, and one for each attempt. */
export type SpanKind = 'server' | 'inference' | 'attempt'

/** A stored row, with the names for its numbers. */
export interface Row {
  number(column: string): number
  /** `undefined`: NULL. */
  optional(column: string): number | undefined
  /** The text of the column, or the name for its number; empty for 0. */
  text(column: string): string
  /** The rows of its attempts. */
  readonly attempts: readonly Row[]
}

/** A value of a row, before names become numbers. */
export type Stored = string | number | Person | null | undefined

/** The kinds of names that rows refer to. */
export type LabelKind = 'model' | 'provider' | 'error' | 'api' | 'team' | 'limits'

/** Where a fact is written; each member may be absent. */
interface Places<Facts, Charge, Entry> {
  /** Member of entries; in lower case with `_` a column of files. */
  readonly name?: string
  /** Member of the log line. */
  readonly log?: string
  /** Column of rows. */
  readonly column?: string
  /** The column has the number of a name. */
  readonly label?: LabelKind | 'person'
  /** The column has a text of its own. */
  readonly isText?: true
  /** The stored value, if it is not that of the fact. */
  readonly stored?: (facts: Facts, charge: Charge) => Stored
  /** The member of an entry from a row, if it is not the value of the column. */
  readonly read?: (row: Row) => unknown
  /** A column of files; a function if its cells are not the member itself. */
  readonly file?: true | ((entry: Entry) => string | number | undefined)
  /** Name of the column of files, if it is not that of the member. */
  readonly fileAs?: string
  /** Names of attributes of spans. */
  readonly spans?: Readonly<Partial<Record<SpanKind, string>>>
  /** A histogram of this fact, in seconds. */
  readonly seconds?: {
    readonly name: string
    readonly help: string
    readonly isByProvider: boolean
    /** Upper bounds of its buckets. Absent: those of requests. */
    readonly bounds?: readonly number[]
  }
}

/** A fact, as functions for all that write it. */
export interface RecordField<Facts, Charge = unknown, Entry = unknown> extends Places<Facts, Charge, Entry> {
  /** The fact; `undefined`: it is absent. */
  readonly of: (facts: Facts) => unknown
  readonly unit: Unit<unknown>
  readonly toStore: (facts: Facts, charge: Charge) => Stored
  readonly fromRow: (row: Row) => unknown
}

/** @param of the fact; `undefined`: it is absent */
export function field<Facts, Value, Charge = unknown, Entry = unknown>(
  unit: Unit<Value>,
  of: (facts: Facts) => Value | undefined,
  places: Places<Facts, Charge, Entry>,
): RecordField<Facts, Charge, Entry> {
  const { column = '', label, stored, read } = places
  const storedFact = (facts: Facts): Stored => {
    const value = of(facts)
    return value === undefined ? undefined : unit.stored?.(value)
  }
  return {
    ...places,
    of,
    unit,
    toStore: stored ?? storedFact,
    fromRow: read ?? ((row) => (label === undefined ? unit.read?.(row, column) : row.text(column) || undefined)),
  }
}

/** A column of rows that nothing else has. */
export function column<Facts, Charge>(
  name: string,
  stored: (facts: Facts, charge: Charge) => Stored,
  label?: LabelKind | 'person',
): RecordField<Facts, Charge> {
  return field(number, () => undefined, { column: name, stored, ...(label === undefined ? {} : { label }) })
}

const textMax = 128
const nameMax = 64

const text: Unit<string> = unitOfTexts(textMax)
/** A text of few characters, such as the id of a provider. */
const name: Unit<string> = unitOfTexts(nameMax)

function unitOfTexts(charactersMax: number): Unit<string> {
  return {
    text: (value) => jsonString(value, charactersMax),
    shown: (value) => value,
    stored: (value) => value,
    read: (row, column) => row.text(column),
    attribute: 'text',
  }
}

const names: Unit<readonly string[]> = {
  text: (values) => `[${values.map((value) => jsonString(value, textMax)).join()}]`,
  shown: (values) => values,
  attribute: 'texts',
}

const number: Unit<number> = {
  text: numberText,
  shown: (value) => value,
  stored: (value) => value,
  read: (row, column) => row.optional(column),
  attribute: 'whole',
}

/** A number that need not be whole. */
const fraction: Unit<number> = { ...number, attribute: 'fraction' }

/** Milliseconds, shown in tenths and stored whole. */
const milliseconds: Unit<number> = {
  text: (value) => numberText(tenths(value)),
  shown: tenths,
  stored: Math.round,
  read: (row, column) => row.optional(column),
  attribute: 'fraction',
}

/** Milliseconds, shown in seconds. */
const seconds: Unit<number> = { ...milliseconds, shown: (value) => value / 1000 }

/** Nano-USD, shown in USD. */
const money: Unit<number> = {
  text: (nanoUsd) => numberText(usdOf(nanoUsd)),
  shown: usdOf,
  stored: (nanoUsd) => nanoUsd,
  read: (row, column) => usd(row.optional(column)),
  attribute: 'fraction',
}

const truth: Unit<boolean> = { text: String, shown: (value) => value, attribute: 'truth' }

/** True, or absent. */
const flag: Unit<boolean> = {
  text: (value) => (value ? 'true' : undefined),
  shown: (value) => (value ? true : undefined),
  attribute: 'truth',
}

/** How values are written. */
export const units = { text, name, names, number, fraction, milliseconds, seconds, money, truth, flag } as const

/** Some facts of a kind, which has a table of its own. */
export function unitOfList<Facts, Charge, Entry>(
  fields: readonly RecordField<Facts, Charge, Entry>[],
  most: number,
): Unit<readonly Facts[]> {
  const toLine = lineOf(fields)
  return {
    text(all) {
      let line = ''
      for (let index = 0; index < all.length && index < most; index++) {
        const facts = all[index]
        if (facts !== undefined) line += index === 0 ? `{${toLine(facts)}}` : `,{${toLine(facts)}}`
      }
      return `[${line}]`
    },
    shown: (all) => all.slice(0, most).map((facts) => shownOf(fields, facts)),
  }
}

/** USD of nano-USD. */
export function usd(nanoUsd: number | undefined): number | undefined {
  return nanoUsd === undefined ? undefined : usdOf(nanoUsd)
}

/** Milliseconds as they are shown. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10
}

function numberText(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null'
}

/** Writes the members of an object as JSON, without its braces. */
export function lineOf<Facts, Charge, Entry>(
  fields: readonly RecordField<Facts, Charge, Entry>[],
): (facts: Facts) => string {
  const logged = fields.flatMap(({ log, of, unit }) =>
    log === undefined ? [] : [{ first: `"${log}":`, later: `,"${log}":`, of, unit }],
  )
  return function write(facts) {
    let line = ''
    for (const { first, later, of, unit } of logged) {
      const fact = of(facts)
      const value = fact === undefined ? undefined : unit.text(fact)
      if (value !== undefined) line += (line === '' ? first : later) + value
    }
    return line
  }
}

/** The entry of facts. */
export function shownOf<Facts, Charge, Entry>(
  fields: readonly RecordField<Facts, Charge, Entry>[],
  facts: Facts,
): Entry {
  return entryOf(fields, ({ of, unit }) => {
    const fact = of(facts)
    return fact === undefined ? undefined : unit.shown(fact)
  })
}

/** The entry of a stored row. */
export function readOf<Facts, Charge, Entry>(fields: readonly RecordField<Facts, Charge, Entry>[], row: Row): Entry {
  return entryOf(fields, ({ fromRow }) => fromRow(row))
}

function entryOf<Facts, Charge, Entry>(
  fields: readonly RecordField<Facts, Charge, Entry>[],
  valueOf: (of: RecordField<Facts, Charge, Entry>) => unknown,
): Entry {
  const entry: Record<string, unknown> = {}
  for (const each of fields) {
    const value = each.name === undefined ? undefined : valueOf(each)
    if (each.name !== undefined && value !== undefined) entry[each.name] = value
  }
  // Each member of an entry is a line of its table.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return entry as Entry
}
