import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { objectsOf, textOf } from '../exact-json.ts'
import type { RequestDraft } from '../request-draft.ts'
import { mark, marksIn } from './fit-content.ts'

/** Low: a mark on a prompt below the minimum is ignored, and costs nothing. */
const bytesPerToken = 3
/** Anthropic looks for an earlier prompt at most 20 blocks before a mark. */
const nearBlocks = 15

/**
 * Marks of caches for a request without any (docs/decisions/0040-prompt-caches.md): at most three. Tools and system,
 * which stay the same, get one. In a conversation the last user message gets one, and so does the user message before
 * it if the look-back of the first does not reach it.
 */
export function placeCacheMarks(draft: RequestDraft, { promptCache, cacheMinimum }: TargetProfile): void {
  const bytesMin = cacheMinimum * bytesPerToken
  if (promptCache === 'off' || draft.length < bytesMin || draft.mentions([mark])) return
  const messages = draft.objects('messages') ?? []
  const tools = draft.objects('tools') ?? []
  const system = systemOf(draft)
  // A name in escapes.
  if (draft.has('cache_control') || [...tools, ...system, ...messages].some((each) => marksIn(each) > 0)) return

  const marked = marking({ type: 'ephemeral', ...(promptCache === '1h' ? { ttl: '1h' } : {}) })
  if (draft.size('system') + draft.size('tools') >= bytesMin) {
    const isMarked = setMarked(draft, 'system', marked(system, system.findLastIndex(isCacheable)))
    const last = tools.findLastIndex(({ defer_loading }) => defer_loading !== true)
    if (!isMarked) setMarked(draft, 'tools', marked(tools, last))
  }
  const changed = [...messages]
  for (const { message, block } of placesIn(messages, tools.length > 0)) {
    const given = messages[message] ?? {}
    changed[message] = { ...given, content: marked(blocksOf(given), block) }
  }
  setMarked(draft, 'messages', changed)
}

function systemOf(draft: RequestDraft): readonly JsonObject[] {
  const blocks = draft.objects('system')
  return blocks ?? blocksOf({ content: textOf(draft.get('system')) })
}

function marking(cache_control: JsonObject) {
  return (blocks: readonly JsonObject[], place: number): readonly JsonObject[] =>
    blocks.map((block, index) => (index === place ? { ...block, cache_control } : block))
}

/** Sets a list if one of its objects, or of their blocks, has got a mark. Returns whether one has. */
function setMarked(draft: RequestDraft, name: string, objects: readonly JsonObject[]): boolean {
  if (!objects.some((each) => marksIn(each) > 0)) return false
  draft.setObjects(name, objects)
  return true
}

/** A block that can have a mark. */
interface Place {
  readonly message: number
  readonly block: number
  /** Blocks of all messages up to it. */
  readonly count: number
}

/** The last such block of the last user message of a conversation, and of the one before it if it is far away. */
function placesIn(messages: readonly JsonObject[], hasTools: boolean): readonly Place[] {
  const places: Place[] = []
  let count = 0
  for (const [message, each] of messages.entries()) {
    const blocks = blocksOf(each)
    const block = each['role'] === 'user' ? blocks.findLastIndex(isCacheable) : -1
    if (block !== -1) places.push({ message, block, count: count + block })
    count += blocks.length
  }
  const [before, last] = places.slice(-2)
  if (before === undefined || last === undefined) return hasTools ? places : []
  return last.count - before.count > nearBlocks ? [before, last] : [last]
}

const cacheable: ReadonlySet<unknown> = new Set(['image', 'document', 'tool_result', 'search_result'])

function isCacheable({ type, text }: JsonObject): boolean {
  return cacheable.has(type) || (type === 'text' && textOf(text)?.trim() !== '')
}

function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content)
}
