import { encode } from '../bytes/text.ts'
import type { Ask, Member } from './ask.ts'
import { encodeJson, objectOf, parseJsonBytes } from './exact-json.ts'

/** The members of a format's requests that limit the tokens of one answer. */
export interface AnswerLimitFields {
  /** Names of the limit. The first one is added to requests without it. */
  readonly names: readonly [string, ...string[]]
  /** Top-level members of which some servers take the limit, before these. They are removed. */
  readonly others?: readonly string[]
  /** Names of the top-level object that has the limit. The first one is added. Default: it is a top-level member. */
  readonly within?: readonly [string, ...string[]]
}

/** Members of llama.cpp and of Hugging Face's servers, which hold before `max_tokens`. */
export const otherLimits: readonly string[] = ['n_predict', 'max_new_tokens']

const space = 0x20

/**
 * Makes a function that limits the tokens of one answer of a request. Its members are removed, by blanks in their
 * place, and one is added at the end: no offset of another member changes.
 */
export function answerLimiter({
  names,
  others = [],
  within,
}: AnswerLimitFields): <Asked extends Ask>(ask: Asked, tokens: number) => Asked {
  const limiting: readonly string[] = within ?? names

  function addedMember({ body, members }: Ask, tokens: number): readonly [name: string, value: Uint8Array] {
    const stated = members.filter(({ name }) => limiting.includes(name))
    const name = stated.at(-1)?.name ?? limiting[0] ?? ''
    if (within === undefined) return [name, encode(String(tokens))]
    const objects = stated.map(({ valueStart, end }) => objectOf(parseJsonBytes(body.subarray(valueStart, end))))
    const all = objects.flatMap((object) => Object.entries(object))
    const others = all.filter(([each]) => !names.includes(each))
    const spelled = all.findLast(([each]) => names.includes(each))?.[0] ?? names[0]
    return [name, encodeJson({ ...Object.fromEntries(others), [spelled]: tokens })]
  }

  return function limited(ask, tokens) {
    const { body, members } = ask
    const [name, value] = addedMember(ask, tokens)
    const kept: Member[] = []
    const blank = body.slice()
    members.forEach((member, index) => {
      if (!limiting.includes(member.name) && !others.includes(member.name)) {
        kept.push(member)
        return
      }
      // With the comma before it, or with the one after it if no member before it stays.
      const before = kept.at(-1)
      if (before === undefined) blank.fill(space, member.start, members[index + 1]?.start ?? member.end)
      else blank.fill(space, before.end, member.end)
    })
    const last = kept.at(-1)
    const place = last?.end ?? blank.indexOf(0x7b) + 1
    const key = encode(`${last === undefined ? '' : ','}${JSON.stringify(name)}:`)
    const start = place + (last === undefined ? 0 : 1)
    const valueStart = place + key.length
    const added: Member = { name, start, valueStart, end: valueStart + value.length }
    const longer = Buffer.concat([blank.subarray(0, place), key, value, blank.subarray(place)])
    return { ...ask, body: new Uint8Array(longer.buffer, longer.byteOffset, longer.length), members: [...kept, added] }
  }
}
