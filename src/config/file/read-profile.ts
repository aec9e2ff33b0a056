import { table } from '../../base/table.ts'
import { profileFields, type FieldForm, type TargetProfile } from '../../profiles/profile.ts'
import {
  readBooleanField,
  readElements,
  readIntegerField,
  readKnownMembers,
  readMembers,
  readTextField,
  readWord,
  refuse,
  type Field,
  type MemberNames,
} from './fields.ts'
import type { Findings } from './findings.ts'
import { readJsonField } from './read-json-field.ts'
import { reservedFields, sentNameRule } from './rules.ts'

/** The name of a field of profiles in providers.json: `call_ids` of `callIds`. */
export function profileMember(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

const fields = Object.entries(profileFields)
const members: MemberNames = {
  names: fields.map(([name]) => profileMember(name)),
  hints: Object.fromEntries(fields.map(([name]) => [name, profileMember(name)])),
}

/** Reads the owner's fields of a profile (docs/providers.md#your-own-profile). */
export function readProfile(field: Field | undefined, findings: Findings): Partial<TargetProfile> | undefined {
  if (field === undefined) return undefined
  const given = readKnownMembers(field, members, findings)
  const read = table<unknown>()
  for (const [name, { form }] of fields) {
    const member = given.get(profileMember(name))
    const value = member && readForm(form, member, findings)
    if (value !== undefined) read[name] = value
  }
  return isProfile(read) ? read : undefined
}

/** The values have the forms of their fields already. */
function isProfile(read: Readonly<Record<string, unknown>>): read is Partial<TargetProfile> {
  return Object.keys(read).every((name) => name in profileFields)
}

function readForm(form: FieldForm, field: Field, findings: Findings): unknown {
  switch (form.kind) {
    case 'one':
      return readOne(form.values, field, findings)
    case 'list':
      return readElements(field, findings)?.flatMap((item) => readOne(form.values, item, findings) ?? [])
    case 'count':
      return readIntegerField(field, 0, Number.MAX_SAFE_INTEGER, findings)
    case 'names':
      return readElements(field, findings)?.flatMap((item) => readTextField(item, sentNameRule, findings) ?? [])
    case 'renames':
      return readByName(field, findings, (member) => readTextField(member, sentNameRule, findings))
    case 'ranges':
      return readByName(field, findings, (member) => readRange(member, findings))
    case 'values':
      return readByName(field, findings, (member) => readJsonField(member, findings))
  }
}

function readOne(values: readonly unknown[], field: Field, findings: Findings): string | boolean | undefined {
  const words = values.filter((value) => typeof value === 'string')
  return words.length === 0 ? readBooleanField(field, findings) : readWord(field, words, findings)
}

/** Reads an object by names of fields of a request. */
function readByName(field: Field, findings: Findings, read: (member: Field) => unknown): Record<string, unknown> {
  const values = table<unknown>()
  for (const [name, member] of readMembers(field, findings) ?? []) {
    if (reservedFields.includes(name))
      findings.add(member, 'a field that cannot be changed', `any request field except ${reservedFields.join(', ')}`)
    const value = read(member)
    if (value !== undefined) values[name] = value
  }
  return values
}

function readRange(field: Field, findings: Findings): unknown {
  if (field.node.value === 'refused') return 'refused'
  const [min, max, ...others] = (field.node.children ?? []).map(({ value }): unknown => value)
  if (field.node.type !== 'array' || typeof min !== 'number' || typeof max !== 'number' || others.length > 0)
    return refuse(field, '"refused", or an array of the smallest and the largest number', findings)
  return min <= max ? [min, max] : refuse(field, 'the smallest number before the largest', findings)
}
