import type { JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { listOf, objectOf, objectsOf, omit, textOf } from '../exact-json.ts'
import type { ChangeNotes } from '../format.ts'
import { foreignSignature } from '../gemini/write-contents.ts'
import { interruptedText, orphanText, pairCalls, type CallView } from '../pair-calls.ts'
import type { RequestDraft } from '../request-draft.ts'
import { markedSystem } from '../turns.ts'
import { fitCallIds } from './fit-call-ids.ts'

type Messages = readonly JsonObject[]
/** Returns the same messages if none has to change. */
type MessagesStep = (messages: Messages, profile: TargetProfile, changes: ChangeNotes | undefined) => Messages

const steps: readonly MessagesStep[] = [
  renameDeveloper,
  placeSystem,
  addUser,
  pairResults,
  splitCalls,
  dropEmptyAnswers,
  joinNeighbours,
  separateResults,
  fitCallIds,
  signCalls,
  fitContent,
  fitEnd,
  dropMembers,
]

/** The messages in the order, the roles and the form that the target takes. */
export function fitMessages(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  if (!mayChange(profile, draft)) return
  const messages = draft.objects('messages')
  if (messages === undefined) return
  const fitting = steps.reduce((each, step) => step(each, profile, changes), messages)
  if (fitting !== messages) draft.setObjects('messages', fitting)
}

const [system, developer, assistant, calls] = ['"system"', '"developer"', '"assistant"', '"tool_call'].map((text) => [
  encode(text),
])
/** Changes that a profile may make to messages, and the texts without which it makes none. */
const needs: readonly (readonly [(profile: TargetProfile) => boolean, readonly Uint8Array[] | undefined])[] = [
  [(profile) => profile.system !== 'any', system],
  [(profile) => profile.system !== 'any' || profile.developer === 'system', developer],
  [({ pairedCalls, signedCalls, callIds }) => pairedCalls || signedCalls || callIds !== 'any', calls],
  [({ userAfterTool, severalCalls }) => !userAfterTool || !severalCalls, calls],
  [
    ({ callContent, emptyAnswers, joinsAnswers }) => callContent === 'text' || emptyAnswers === 'drop' || joinsAnswers,
    assistant,
  ],
  [({ prefill }) => prefill === 'prefix' || prefill === 'refused', assistant],
  [
    ({ alternates, needsUser, textLists, dropInMessages }) =>
      alternates || needsUser || !textLists || dropInMessages.length > 0,
    undefined,
  ],
]

/** Whether the messages may have to change: else they are not even parsed. */
function mayChange(profile: TargetProfile, draft: RequestDraft): boolean {
  return needs.some(([deviates, texts]) => deviates(profile) && (texts === undefined || draft.mentions(texts)))
}

function isRole(message: JsonObject | undefined, ...roles: readonly string[]): boolean {
  return roles.includes(textOf(message?.['role']) ?? '')
}

function renameDeveloper(messages: Messages, { developer }: TargetProfile): Messages {
  if (developer === 'keep' || !messages.some((message) => isRole(message, 'developer'))) return messages
  return messages.map((message) => (isRole(message, 'developer') ? { ...message, role: 'system' } : message))
}

/** One system message at the beginning, later ones as marked user text in their place. */
function placeSystem(messages: Messages, { system }: TargetProfile, changes: ChangeNotes | undefined): Messages {
  if (system === 'any') return messages
  const isSystem = (message: JsonObject): boolean => isRole(message, 'system', 'developer')
  const first = messages.findIndex((message) => !isSystem(message))
  const leading = first === -1 ? messages : messages.slice(0, first)
  const later = first === -1 ? [] : messages.slice(first)
  const hasLater = later.some(isSystem)
  if (!hasLater && (leading.length === 0 || (leading.length === 1 && system === 'first'))) return messages
  if (hasLater || system === 'none') changes?.adjust('system')
  const role = system === 'none' ? 'user' : 'system'
  const [head] = leading
  const joined =
    head === undefined ? [] : [{ ...head, role, content: joinedContent(leading.map(({ content }) => content)) }]
  return [
    ...joined,
    ...later.map((message) =>
      isSystem(message) ? { role: 'user', content: markedSystem(textsOf(message['content'])) } : message,
    ),
  ]
}

/** The content of several messages in one: a text, or a list of parts if one of them is a list of others than texts. */
function joinedContent(contents: readonly unknown[]): unknown {
  if (contents.length === 1) return contents[0]
  const isPlain = contents.every((content) => !Array.isArray(content) || content.every(isTextPart))
  if (isPlain)
    return contents
      .map(textsOf)
      .filter((text) => text !== '')
      .join('\n\n')
  return contents.flatMap((content) =>
    Array.isArray(content) ? listOf(content) : [{ type: 'text', text: textsOf(content) }],
  )
}

function isTextPart(part: unknown): boolean {
  const { type, cache_control } = objectOf(part)
  return type === 'text' && cache_control === undefined
}

/** The texts of a message's content. */
function textsOf(content: unknown): string {
  if (typeof content === 'string') return content
  return objectsOf(content)
    .flatMap(({ text }) => textOf(text) ?? [])
    .join('\n')
}

function addUser(messages: Messages, { needsUser }: TargetProfile, changes: ChangeNotes | undefined): Messages {
  if (!needsUser || messages.some((message) => isRole(message, 'user', 'tool'))) return messages
  const last = messages.findLastIndex((message) => isRole(message, 'system', 'developer'))
  if (last === -1) return [{ role: 'user', content: '.' }, ...messages]
  changes?.adjust('system')
  return messages.map((message, position) => (position === last ? { ...message, role: 'user' } : message))
}

function pairResults(messages: Messages, { pairedCalls }: TargetProfile, changes: ChangeNotes | undefined): Messages {
  if (!pairedCalls) return messages
  const paired = pairCalls(messages, chatCalls)
  if (paired !== messages) changes?.adjust('messages')
  return paired
}

const chatCalls: CallView<JsonObject> = {
  calls: (message) =>
    isRole(message, 'assistant') ? objectsOf(message['tool_calls']).map(({ id }) => textOf(id) ?? '') : [],
  result: (message) => (isRole(message, 'tool') ? (textOf(message['tool_call_id']) ?? '') : undefined),
  withIds: (message, ids) =>
    isRole(message, 'tool')
      ? { ...message, tool_call_id: ids[0] }
      : {
          ...message,
          tool_calls: objectsOf(message['tool_calls']).map((call, index) => ({ ...call, id: ids[index] })),
        },
  missing: (id) => ({ role: 'tool', tool_call_id: id, content: interruptedText }),
  asText: ({ content }) => ({ role: 'user', content: `${orphanText}${textsOf(content)}` }),
}

/** Several calls of one message as messages of their own, each with its result behind it. */
function splitCalls(messages: Messages, { severalCalls }: TargetProfile): Messages {
  const hasSeveral = ({ tool_calls }: JsonObject): boolean => listOf(tool_calls).length > 1
  if (severalCalls || !messages.some(hasSeveral)) return messages
  const moved = new Set<JsonObject>()
  return messages.flatMap((message, position): Messages => {
    if (moved.has(message)) return []
    if (!hasSeveral(message)) return [message]
    const next = messages.findIndex((each, place) => place > position && !isRole(each, 'tool'))
    const results = messages.slice(position + 1, next === -1 ? undefined : next)
    return objectsOf(message['tool_calls']).flatMap((call, index) => {
      const own = results.filter(({ tool_call_id }) => tool_call_id === call['id'])
      for (const each of own) moved.add(each)
      return [{ ...message, ...(index === 0 ? {} : { content: null }), tool_calls: [call] }, ...own]
    })
  })
}

function dropEmptyAnswers(messages: Messages, { emptyAnswers }: TargetProfile): Messages {
  if (emptyAnswers === 'keep' || !messages.some(isEmptyAnswer)) return messages
  return messages.filter((message) => !isEmptyAnswer(message))
}

function isEmptyAnswer(message: JsonObject): boolean {
  const { content, tool_calls, audio, refusal, function_call } = message
  const hasMore = [audio, refusal, function_call].some((member) => member !== undefined && member !== null)
  const isBlank = content === '' || isNothing(content)
  return isRole(message, 'assistant') && !hasMore && isBlank && listOf(tool_calls).length === 0
}

function isNothing(content: unknown): boolean {
  return content === undefined || content === null || (Array.isArray(content) && content.length === 0)
}

/** Neighbours of the user, and of the assistant, are joined by a blank line. */
function joinNeighbours(messages: Messages, { alternates, joinsAnswers }: TargetProfile): Messages {
  if (!alternates && !joinsAnswers) return messages
  const joined: JsonObject[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (last !== undefined && mayJoin(last, message, alternates))
      joined[joined.length - 1] = joinedMessage(last, message)
    else joined.push(message)
  }
  return joined.length === messages.length ? messages : joined
}

function mayJoin(last: JsonObject, message: JsonObject, alternates: boolean): boolean {
  if (isRole(last, 'user')) return alternates && isRole(message, 'user')
  return isRole(last, 'assistant') && isRole(message, 'assistant')
}

function joinedMessage(last: JsonObject, message: JsonObject): JsonObject {
  const contents = [last, message].map(({ content }) => content).filter((content) => !isNothing(content))
  const calls = [last, message].flatMap(({ tool_calls }) => listOf(tool_calls))
  const content = contents.length === 0 ? message['content'] : joinedContent(contents)
  return { ...last, ...message, content, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
}

/** The text of the assistant between the result of a tool and a user message. */
const between = 'OK.'

function separateResults(
  messages: Messages,
  { userAfterTool }: TargetProfile,
  changes: ChangeNotes | undefined,
): Messages {
  const isBroken = (message: JsonObject, position: number): boolean =>
    isRole(message, 'user') && isRole(messages[position - 1], 'tool', 'function')
  if (userAfterTool || !messages.some(isBroken)) return messages
  changes?.adjust('messages')
  return messages.flatMap((message, position) =>
    isBroken(message, position) ? [{ role: 'assistant', content: between }, message] : [message],
  )
}

/** Calls of answers of others with Google's placeholder for its signature. */
function signCalls(messages: Messages, { signedCalls }: TargetProfile): Messages {
  const isBare = (call: JsonObject): boolean => call['extra_content'] === undefined
  if (!signedCalls || !messages.some(({ tool_calls }) => objectsOf(tool_calls).some(isBare))) return messages
  const signature = { google: { thought_signature: foreignSignature } }
  return messages.map((message) => {
    const calls = objectsOf(message['tool_calls'])
    return calls.length === 0
      ? message
      : { ...message, tool_calls: calls.map((call) => (isBare(call) ? { ...call, extra_content: signature } : call)) }
  })
}

/** `content` in the form that the target takes. */
function fitContent(messages: Messages, { callContent, textLists }: TargetProfile): Messages {
  let isChanged = false
  const fitting = messages.map((message) => {
    const content = contentOf(message, callContent, textLists)
    if (content === message['content'] && !hasEmptyCalls(message)) return message
    isChanged = true
    return { ...(hasEmptyCalls(message) ? omit(message, ['tool_calls']) : message), content }
  })
  return isChanged ? fitting : messages
}

function contentOf(message: JsonObject, callContent: TargetProfile['callContent'], textLists: boolean): unknown {
  const { content } = message
  if (isRole(message, 'assistant') && isNothing(content))
    return callContent === 'text' ? '' : Array.isArray(content) ? null : content
  return !textLists && Array.isArray(content) && content.length > 0 && content.every(isTextPart)
    ? textsOf(content)
    : content
}

function hasEmptyCalls({ tool_calls }: JsonObject): boolean {
  return Array.isArray(tool_calls) && tool_calls.length === 0
}

/** The text of the user behind the last answer, for targets that do not continue one. */
const goOn = 'Continue exactly where you stopped.'

/** The end of a conversation that ends with an assistant message. */
function fitEnd(messages: Messages, { prefill }: TargetProfile, changes: ChangeNotes | undefined): Messages {
  const last = messages.at(-1)
  if (last === undefined || !isRole(last, 'assistant') || listOf(last['tool_calls']).length > 0) return messages
  switch (prefill) {
    case 'any':
    case 'continued':
      return messages
    case 'prefix':
      return last['prefix'] === true ? messages : [...messages.slice(0, -1), { ...last, prefix: true }]
    case 'refused':
      changes?.adjust('messages')
      return [...messages, { role: 'user', content: goOn }]
  }
}

function dropMembers(messages: Messages, { dropInMessages }: TargetProfile): Messages {
  if (!messages.some((message) => dropInMessages.some((name) => name in message))) return messages
  return messages.map((message) => omit(message, dropInMessages))
}
