import { table } from '../../base/table.ts'
import { profileFields, type FieldForm, type TargetProfile } from '../../profiles/profile.ts'
import { jsonShape, listShape, namedShape, objectShape } from '../../shapes/containers.ts'
import {
  flagShape,
  integerShape,
  mapShape,
  refuseNode,
  textShape,
  wordShape,
  type ValueShape,
} from '../../shapes/shape.ts'
import { refuseReserved, sentNameRule } from './rules.ts'

/** The name of a field of profiles in providers.json: `call_ids` of `callIds`. */
export function profileMember(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const fields = Object.entries(profileFields)
/** The name of a request field. */
export const sentName = textShape(sentNameRule)
const reserved = refuseReserved('a field that cannot be changed')

const rangeShape: ValueShape<unknown> = {
  read(node, faults) {
    if (node.value === 'refused') return 'refused'
    const [min, max, ...others] = node.elements().map(({ value }) => value)
    if (typeof min !== 'number' || typeof max !== 'number' || others.length > 0)
      return refuseNode(node, '"refused", or an array of the smallest and the largest number', faults)
    return min <= max ? [min, max] : refuseNode(node, 'the smallest number before the largest', faults)
  },
  schema: () => ({
    anyOf: [
      { const: 'refused' },
      { type: 'array', minItems: 2, maxItems: 2, items: { type: 'number', minimum: -1e308, maximum: 1e308 } },
    ],
  }),
}

/** The owner's fields of a profile (docs/providers.md#your-own-profile). */
export const profileShape = mapShape(
  objectShape(Object.fromEntries(fields.map(([name, { form }]) => [profileMember(name), formShape(form)])), {
    hints: Object.fromEntries(fields.map(([name]) => [name, profileMember(name)])),
  }),
  (values) => (isProfile(values) ? values : undefined),
)

/** The values have the forms of their fields already. */
function isProfile(read: object): read is Partial<TargetProfile> {
  return Object.keys(read).every((name) => name in profileFields)
}

function formShape(form: FieldForm): ValueShape<unknown> {
  switch (form.kind) {
    case 'one':
      return oneShape(form.values)
    case 'list':
      return listShape(oneShape(form.values))
    case 'count':
      return integerShape(0)
    case 'names':
      return listShape(sentName)
    case 'renames':
      return byName(sentName)
    case 'ranges':
      return byName(rangeShape)
    case 'values':
      return byName(jsonShape)
  }
}

function oneShape(values: readonly unknown[]): ValueShape<string | boolean> {
  const words = values.filter((value) => typeof value === 'string')
  return words.length === 0 ? flagShape : wordShape(words)
}

/** An object by names of fields of a request. */
function byName(of: ValueShape<unknown>): ValueShape<Readonly<Record<string, unknown>>> {
  return mapShape(namedShape(of, reserved), (values) => table(values))
}
