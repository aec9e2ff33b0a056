import type { Edit } from '../../bytes/splice.ts'
import { encode } from '../../bytes/text.ts'
import type { ReasoningHistory } from '../../profiles/profile.ts'

/** Members of a message that can have reasoning. */
export const reasoningNames: readonly string[] = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
]

/** Whether the member has text, which every provider can read. */
export function isReasoningText(name: string): boolean {
  return name === 'reasoning_content' || name === 'reasoning'
}

/** A member with reasoning, as byte offsets. Ends are exclusive. */
export interface ReasoningMember {
  readonly name: string
  /** Opening brace of its message. */
  readonly message: number
  /** Opening quote of its name. */
  readonly start: number
  readonly valueStart: number
  readonly end: number
  /** End of the member before it; absent for the first of its message. */
  readonly previousEnd: number | undefined
}

/** Reasoning in the messages of a request, in the order of the bytes. */
export interface MessageReasoning {
  readonly members: readonly ReasoningMember[]
  /** Offsets of the opening braces of assistant messages without reasoning text. */
  readonly bare: readonly number[]
}

/** The blank for providers that require reasoning. (Moonshot rejects an empty string.) */
const blankMember = encode('"reasoning_content":" "')
const blankMemberFirst = encode('"reasoning_content":" ",')
const nothing = new Uint8Array(0)
const noEdits: readonly Edit[] = []
const quote = 0x22

/** Returns the edits that apply `history` to the reasoning in `body`, sorted by `start`. */
export function reasoningEdits(
  body: Uint8Array,
  { members, bare }: MessageReasoning,
  history: ReasoningHistory,
): readonly Edit[] {
  if (history === 'keep') return noEdits
  const added = history === 'required' ? bare.map((brace) => insertion(brace + 1)) : []
  if (members.length === 0) return added
  const changed = Map.groupBy(members, ({ message }) => message)
    .values()
    .flatMap((group) => messageEdits(body, group, history))
  // The sort is stable: an insertion stays before a removal at the same offset.
  return [...added, ...changed].toSorted((one, other) => one.start - other.start)
}

function insertion(start: number): Edit {
  return { start, end: start, replacement: blankMemberFirst }
}

/** The edits of one message: at most one member with text stays. */
function messageEdits(
  body: Uint8Array,
  members: readonly ReasoningMember[],
  history: Exclude<ReasoningHistory, 'keep'>,
): readonly Edit[] {
  const target = history === 'required' ? 'reasoning_content' : history
  const texts = history === 'drop' ? [] : members.filter(({ name }) => isReasoningText(name))
  const filled = texts.filter((member) => !isBlank(body, member))
  const kept =
    filled.find(({ name }) => name === target) ?? filled[0] ?? (history === 'required' ? texts[0] : undefined)
  const edits: Edit[] = []
  let leadingEnd: number | undefined
  for (const member of members) {
    const { name, start, valueStart, end, previousEnd } = member
    if (member === kept) {
      if (filled.length === 0) edits.push({ start, end, replacement: blankMember })
      else if (name !== target) edits.push({ start, end: valueStart, replacement: encode(`"${target}":`) })
    } else if (previousEnd === undefined || previousEnd === leadingEnd) {
      // No member before it stays, so the comma after it is removed too. `role` always follows.
      leadingEnd = end
      edits.push({ start, end: body.indexOf(quote, end), replacement: nothing })
    } else {
      edits.push({ start: previousEnd, end, replacement: nothing })
    }
  }
  return edits
}

/** `null` or an empty string. */
function isBlank(body: Uint8Array, { valueStart, end }: ReasoningMember): boolean {
  return body[valueStart] === 0x6e || (end - valueStart === 2 && body[valueStart] === quote)
}
