import type { RecordField } from '../../observe/fields.ts'
import { attemptFields, requestFields, trailMax } from '../../observe/record.ts'
import type { NamesTable } from './names-table.ts'
import type { ChargedRequest } from './use-batch.ts'

type ColumnValue = string | number | null

/** The columns of a request, but for `seq`, in the order of {@link requestValues}. */
export const requestColumns = columnsOf(requestFields)

/** The columns of an attempt but for `seq`, the number of its request, in the order of {@link attemptValues}. */
export const attemptColumns = ['n', ...columnsOf(attemptFields)]

/** Values of {@link requestColumns}. */
export function requestValues({ record, charges }: ChargedRequest, names: NamesTable): readonly ColumnValue[] {
  return valuesOf(requestFields, record, charges[0], names)
}

/** Values of {@link attemptColumns}: none if the first attempt was answered. */
export function attemptValues(
  { record: { trail } }: ChargedRequest,
  names: NamesTable,
): readonly (readonly ColumnValue[])[] {
  if (trail.length < 2 && trail[0]?.failure === undefined) return []
  return trail.slice(0, trailMax).map((attempt, n) => [n, ...valuesOf(attemptFields, attempt, undefined, names)])
}

function columnsOf(fields: readonly { readonly column?: string }[]): readonly string[] {
  return fields.flatMap(({ column }) => column ?? [])
}

function valuesOf<Facts, Charge, Entry>(
  fields: readonly RecordField<Facts, Charge, Entry>[],
  facts: Facts,
  charge: Charge,
  names: NamesTable,
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
