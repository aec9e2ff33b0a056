import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { cacheControlOf } from '../cache-control.ts'
import { objectOf, objectsOf, omit, textOf } from '../exact-json.ts'
import type { ChangeNotes } from '../format.ts'
import { imageBeginnings, imageTypeOf } from '../image-type.ts'
import { interruptedText, orphanText, pairCalls, type CallView } from '../pair-calls.ts'
import type { RequestDraft } from '../request-draft.ts'

/** The label of each image as its bytes say, where the target compares them. */
export function fitImages(
  draft: RequestDraft,
  { comparesImages }: TargetProfile,
  changes: ChangeNotes | undefined,
): void {
  if (!comparesImages || !hasWrongLabel(draft)) return
  const messages = draft.objects('messages') ?? []
  const fitting = messages.map((message) => withBlocks(message, withLabel))
  if (fitting.every((message, index) => message === messages[index])) return
  draft.setObjects('messages', fitting)
  changes?.adjust('messages.image.media_type')
}

/** Labels and the beginnings of their images, as JSON has them. */
const labels = imageBeginnings.map(([beginning, type]) => [encode(`"${beginning}`), encode(`"${type}"`)] as const)

/** Whether some label may be wrong: without a look at the blocks, since images are large. */
function hasWrongLabel(draft: RequestDraft): boolean {
  return labels.some(([beginning, label]) => draft.times(beginning) !== draft.times(label))
}

function withLabel(block: JsonObject): JsonObject {
  const source = objectOf(block['source'])
  const media_type = imageTypeOf(textOf(source['data']) ?? '')
  if (block['type'] !== 'image' || media_type === undefined || media_type === source['media_type']) return block
  return { ...block, source: { ...source, media_type } }
}

/** The result of each call directly behind it, where a refusal has taught that the target needs it. */
export function fitPairs(draft: RequestDraft, { pairedCalls }: TargetProfile, changes: ChangeNotes | undefined): void {
  if (!pairedCalls || !draft.mentions(toolBlocks)) return
  const apart = (draft.objects('messages') ?? []).flatMap(resultsApart)
  const paired = pairCalls(apart, messagesCalls)
  if (paired === apart) return
  changes?.adjust('messages')
  const joined: JsonObject[] = []
  for (const message of paired) {
    const last = joined.at(-1)
    if (last?.['role'] === 'user' && message['role'] === 'user')
      joined[joined.length - 1] = { ...last, content: [...blocksOf(last), ...blocksOf(message)] }
    else joined.push(message)
  }
  draft.setObjects('messages', joined)
}

const toolBlocks = ['"tool_use"', '"tool_result"'].map((text) => encode(text))

/** Each result of a tool as a message of its own, before the rest of its message. */
function resultsApart(message: JsonObject): readonly JsonObject[] {
  const blocks = blocksOf(message)
  const results = blocks.filter(isResult)
  if (message['role'] !== 'user' || results.length === 0 || blocks.length === 1) return [message]
  const rest = blocks.filter((block) => !isResult(block))
  const alone = results.map((block) => ({ ...message, content: [block] }))
  return rest.length === 0 ? alone : [...alone, { ...message, content: rest }]
}

const messagesCalls: CallView<JsonObject> = {
  calls: (message) =>
    message['role'] === 'assistant' ? blocksOf(message).flatMap((block) => (isCall(block) ? idOf(block) : [])) : [],
  result(message) {
    const block = blocksOf(message).find(isResult)
    return message['role'] === 'user' && block !== undefined ? (textOf(block['tool_use_id']) ?? '') : undefined
  },
  withIds(message, ids) {
    const rest = [...ids]
    const content = blocksOf(message).map((block) => {
      if (isCall(block)) return { ...block, id: rest.shift() }
      return isResult(block) ? { ...block, tool_use_id: rest.shift() } : block
    })
    return { ...message, content }
  },
  missing: (id) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: interruptedText, is_error: true }],
  }),
  asText(message) {
    const content = blocksOf(message).flatMap(blocksOf)
    return { role: 'user', content: [{ type: 'text', text: orphanText }, ...content] }
  },
}

function idOf({ id }: JsonObject): string {
  return textOf(id) ?? ''
}

function isCall({ type }: JsonObject): boolean {
  return type === 'tool_use'
}

function isResult({ type }: JsonObject): boolean {
  return type === 'tool_result'
}

/** The last marks of caches, as many as the target takes: they cover what is before them. */
export function fitCacheMarks(
  draft: RequestDraft,
  { cacheMarks }: TargetProfile,
  changes: ChangeNotes | undefined,
): void {
  if (draft.times(mark) <= cacheMarks) return
  const names = ['tools', 'system', 'messages'].filter((name) => draft.objects(name) !== undefined)
  const given = Object.fromEntries(names.map((name) => [name, draft.objects(name)]))
  const fitting = withLastMarks(given, cacheMarks)
  if (fitting === given) return
  for (const name of names) draft.setObjects(name, objectsOf(fitting[name]))
  changes?.adjust('cache_control')
}

/** The name of a mark of caches, as nearly all programs write it. */
export const mark = encode('"cache_control"')

/** `tools`, `system` and `messages` of a request with its last marks. The same request if it has no more. */
export function withLastMarks(request: JsonObject, most: number): JsonObject {
  const { tools, system, messages } = request
  let surplus = -most
  for (const each of [...objectsOf(tools), ...objectsOf(system), ...objectsOf(messages)]) surplus += marksIn(each)
  if (surplus <= 0) return request
  const unmarked = (block: JsonObject): JsonObject => {
    if (surplus <= 0 || marksIn(block) === 0) return block
    const isMarked = cacheControlOf(block) !== undefined
    // The blocks inside of a block are before its own mark.
    const inside = withBlocks(block, unmarked)
    if (!isMarked || surplus <= 0) return inside
    surplus -= 1
    return omit(inside, ['cache_control'])
  }
  // In their order in the prompt.
  const fitting = { tools: changed(tools, unmarked), system: changed(system, unmarked) }
  return { ...request, ...defined({ ...fitting, messages: changed(messages, unmarked) }) }
}

function changed(list: unknown, change: (block: JsonObject) => JsonObject): unknown {
  return Array.isArray(list) ? objectsOf(list).map(change) : list
}

function defined(members: JsonObject): JsonObject {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(members)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** Marks of a block or message, and in it. */
export function marksIn(block: JsonObject): number {
  const own = cacheControlOf(block) === undefined ? 0 : 1
  return objectsOf(block['content']).reduce((sum, inner) => sum + marksIn(inner), own)
}

/** The object with each block of its content, and of the results in it, changed. The same one if none changes. */
function withBlocks(message: JsonObject, change: (block: JsonObject) => JsonObject): JsonObject {
  const { content } = message
  if (!Array.isArray(content)) return message
  const blocks = objectsOf(content)
  const changed = blocks.map((block) => (isResult(block) ? change(withBlocks(block, change)) : change(block)))
  return changed.every((block, index) => block === blocks[index]) ? message : { ...message, content: changed }
}

function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content)
}
