import type { RecordField } from '../../observe/fields.ts'
import { attemptFields, requestFields, trailMax } from '../../observe/record.ts'
import type { ChargedRequest } from './use-batch.ts'
import type { UseNames } from './use-names.ts'

type ColumnValue = string | number | null

/** The columns of a request, but for `seq`, in the order of {@link RowValues}. */
export const requestColumns = columnsOf(requestFields)

/** Those of them that have a text of their own. */
export const requestTexts: ReadonlySet<string> = new Set(columnsOf(requestFields.filter(({ isText }) => isText)))

/** The columns of an attempt but for `seq`, the number of its request, in the order of {@link RowValues}. */
export const attemptColumns = ['n', ...columnsOf(attemptFields)]

/** A request as rows. */
export interface RowValues {
  /** Values of {@link requestColumns}. */
  readonly request: readonly ColumnValue[]
  /** Values of {@link attemptColumns}: none if the first attempt was answered. */
  readonly attempts: readonly (readonly ColumnValue[])[]
}

/** The rows of a request. */
export function rowValues({ record, charges }: ChargedRequest, names: UseNames): RowValues {
  const { trail } = record
  const tried = trail.length < 2 && trail[0]?.failure === undefined ? [] : trail.slice(0, trailMax)
  return {
    request: valuesOf(requestFields, record, charges[0], names),
    attempts: tried.map((attempt, n) => [n, ...valuesOf(attemptFields, attempt, undefined, names)]),
  }
}

function columnsOf(fields: readonly { readonly column?: string }[]): readonly string[] {
  return fields.flatMap(({ column }) => column ?? [])
}

function valuesOf<Facts, Charge, Entry>(
  fields: readonly RecordField<Facts, Charge, Entry>[],
  facts: Facts,
  charge: Charge,
  names: UseNames,
): ColumnValue[] {
  const values: ColumnValue[] = []
  for (const { column, label, toStore } of fields) {
    if (column === undefined) continue
    const value = toStore(facts, charge) ?? undefined
    if (label === 'person' || typeof value === 'object')
      values.push(names.idOfPerson(typeof value === 'object' ? value : undefined))
    else values.push(label === undefined ? (value ?? null) : names.idOf(label, String(value ?? '')))
  }
  return values
}
