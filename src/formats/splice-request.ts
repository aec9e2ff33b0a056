import { JsonCursor } from '../bytes/json-cursor.ts'
import { splice, type Edit } from '../bytes/splice.ts'
import { encode } from '../bytes/text.ts'
import type { Ask, Member } from './ask.ts'
import { foldsTo } from './checked-names.ts'
import type { PassThroughTarget } from './format.ts'

/** Changes of a request for one upstream. Names are those of top-level members; only `model` changes `model`. */
export interface RequestChanges {
  /** The upstream's name for the model. */
  readonly model: string
  /**
   * The upstream's name → JSON value, or its bytes. Replaces the caller's value, or is added; members whose names
   * differ in case alone are removed.
   */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** As `overrides`, where the caller has no such member, or `null`. Renamed and removed as the caller's. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** The caller's name → the upstream's. The member is removed if another one has the upstream's name. */
  readonly rename?: Readonly<Record<string, string>>
  /** Names of members to remove, as the caller spells them. */
  readonly drop?: readonly string[]
}

/** Edits inside one member of a request. Ignored if the member is replaced or removed. */
export interface InnerEdits {
  readonly member: string
  readonly edits: readonly Edit[]
}

/** Returns the body of a request for one upstream, in pieces: the caller's bytes with the changes. */
export function spliceRequest(ask: Ask, changes: RequestChanges, inner?: InnerEdits): readonly Uint8Array[] {
  const { body, members } = ask
  if (!hasChanges(ask, changes, inner)) return [body]
  const { model, rename = {}, drop = [] } = changes
  const overrides = withDefaults(ask, changes)
  const hasNewNames = drop.length > 0 || Object.keys(rename).length > 0
  const forced = Object.entries(overrides).filter(([name, value]) => name !== 'model' && value !== undefined)
  const sent = hasNewNames ? upstreamNames(members, rename, drop) : members.map(({ name }) => name)
  const isForced = (name: string | undefined) => forced.some(([other]) => isOtherSpelling(name, other))
  const names = forced.length === 0 ? sent : sent.map((name) => (isForced(name) ? undefined : name))
  const added = forced.filter(([name]) => !names.includes(name))
  // Behind the model's name; requests that have it elsewhere get them behind their last member that stays.
  const last = names.includes('model') ? names.indexOf('model') : names.findLastIndex((name) => name !== undefined)
  const edits: Edit[] = []
  let isFirst = true
  members.forEach((member, index) => {
    const { start, valueStart, end } = member
    const name = names[index]
    if (name === undefined) {
      edits.push(removal(member, isFirst ? undefined : members[index - 1], members[index + 1]))
      return
    }
    isFirst = false
    if (name !== member.name) edits.push({ start, end: nameEnd(body, start), replacement: encodeJson(name) })
    const override = forced.find(([forcedName]) => forcedName === name)
    if (name === 'model') {
      if (model !== ask.model) edits.push({ start: valueStart, end, replacement: encodeJson(model) })
    } else if (override !== undefined) edits.push({ start: valueStart, end, replacement: encodeJson(override[1]) })
    else if (member.name === inner?.member) for (const edit of inner.edits) if (isWithin(member, edit)) edits.push(edit)
    if (index === last && added.length > 0) edits.push({ start: end, end, replacement: encodeMembers(added) })
  })
  return splice(body, edits)
}

function hasChanges(
  ask: Ask,
  { model, overrides, defaults, rename = {}, drop = [] }: RequestChanges,
  inner?: InnerEdits,
): boolean {
  return (
    model !== ask.model ||
    hasMembers(overrides) ||
    hasMembers(defaults) ||
    hasMembers(inner?.edits) ||
    ask.members.some(({ name }) => Object.hasOwn(rename, name) || drop.includes(name))
  )
}

/** The limit of an answer has several names, of which some providers take one alone. */
const limitNames: readonly string[] = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']

/** The overrides, and the defaults of fields that the caller does not send. */
function withDefaults(
  { body, members }: Ask,
  { overrides = {}, defaults = {}, rename = {}, drop = [] }: RequestChanges,
): Readonly<Record<string, unknown>> {
  if (!hasMembers(defaults)) return overrides
  const given = members.filter(({ valueStart }) => body[valueStart] !== letterN).map(({ name }) => name)
  const isGiven = (name: string): boolean =>
    given.some((each) => each === name || isOtherSpelling(each, name)) ||
    (limitNames.includes(name) && given.some((each) => limitNames.includes(each)))
  const added = Object.entries(defaults).flatMap(([name, value]) => {
    const sent = (Object.hasOwn(rename, name) ? rename[name] : undefined) ?? name
    return drop.includes(name) || isGiven(name) || isGiven(sent) ? [] : [[sent, value] as const]
  })
  return { ...Object.fromEntries(added), ...overrides }
}

/** The beginning of `null`. */
const letterN = 0x6e

/** Whether an owner sets the number of answers. */
export function setsChoices({ overrides, defaults = {} }: Pick<PassThroughTarget, 'overrides' | 'defaults'>): boolean {
  return Object.hasOwn(overrides, 'n') || Object.hasOwn(defaults, 'n')
}

function hasMembers(table: object | undefined): boolean {
  return table !== undefined && Object.keys(table).length > 0
}

/** Removes a member with the comma before it, or with the one after it if no member before it stays. */
function removal({ start, end }: Member, before: Member | undefined, after: Member | undefined): Edit {
  if (before === undefined) return { start, end: after?.start ?? end, replacement: nothing }
  return { start: before.end, end, replacement: nothing }
}

function isWithin({ valueStart, end }: Member, edit: Edit): boolean {
  return edit.start >= valueStart && edit.end <= end
}

/** Whether some programs take a name for the other one, whose value must count. */
function isOtherSpelling(name: string | undefined, other: string): boolean {
  return name !== undefined && name !== other && foldsTo(name, other.toLowerCase())
}

/** The upstream's name of each member; undefined for removed ones. */
function upstreamNames(
  members: readonly Member[],
  rename: Readonly<Record<string, string>>,
  drop: readonly string[],
): readonly (string | undefined)[] {
  const isDropped = (name: string) => name !== 'model' && drop.includes(name)
  const present = new Set(members.map(({ name }) => name))
  return members.map(({ name }) => {
    if (isDropped(name)) return undefined
    const target = name !== 'model' && Object.hasOwn(rename, name) ? rename[name] : undefined
    if (target === undefined || target === name) return name
    return present.has(target) && !isDropped(target) ? undefined : target
  })
}

function encodeMembers(members: readonly (readonly [string, unknown])[]): Uint8Array {
  return encode(members.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`).join(''))
}

function encodeJson(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : encode(JSON.stringify(value))
}

function nameEnd(body: Uint8Array, start: number): number {
  const cursor = new JsonCursor(body)
  cursor.position = start
  cursor.skip()
  return cursor.position
}

const nothing = new Uint8Array(0)
