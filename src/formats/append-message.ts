import { join, splice } from '../bytes/splice.ts'
import { encode } from '../bytes/text.ts'
import type { Ask } from './ask.ts'

/** A request with a message after its last one. */
export interface Appended {
  readonly changed: Pick<Ask, 'body' | 'members'>
  /** Offset of the new message. */
  readonly start: number
}

/** Adds a message, as JSON, at the end of a list, such as `messages`. Undefined without it. */
export function appendMessage({ body, members }: Ask, list: string, message: Uint8Array): Appended | undefined {
  const last = members.findLast(({ name }) => name === list)
  if (last === undefined) return undefined
  const place = last.end - 1
  const replacement = join([comma, message])
  const added = replacement.length
  const shifted = members.map((member) => {
    if (member.end <= place) return member
    const { name, start, valueStart, end } = member
    if (member === last) return { name, start, valueStart, end: end + added }
    return { name, start: start + added, valueStart: valueStart + added, end: end + added }
  })
  const longer = join(splice(body, [{ start: place, end: place, replacement }]))
  return { changed: { body: longer, members: shifted }, start: place + comma.length }
}

const comma = encode(',')
