import { isRecord, type JsonObject } from '../base/json-value.ts'
import type { TargetProfile } from './profile.ts'

/** Why a strict target of this kind refuses a chat request; undefined: it takes it. */
type Refusal = (body: JsonObject, profile: TargetProfile) => string | undefined

/**
 * The refusal of a chat request by the strictest target with a profile: it refuses all that the profile names, in no
 * program's own words. Does not know how requests are fitted. For tests and their fakes.
 *
 * @returns undefined if it takes the request
 */
export function refusedBy(profile: TargetProfile, body: JsonObject): string | undefined {
  for (const refusal of refusals) {
    const said = refusal(body, profile)
    if (said !== undefined) return said
  }
  return undefined
}

function list(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}

function messagesOf(body: JsonObject): readonly JsonObject[] {
  return list(body['messages'])
}

function callsOf(message: JsonObject | undefined): readonly JsonObject[] {
  return list(message?.['tool_calls'])
}

function idsOf(message: JsonObject | undefined): readonly string[] {
  return callsOf(message).map(({ id }) => String(id))
}

function isRole(message: JsonObject | undefined, ...roles: readonly string[]): boolean {
  return roles.includes(String(message?.['role']))
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

const refusals: readonly Refusal[] = [
  (body, { developer }) =>
    developer === 'system' && messagesOf(body).some((message) => isRole(message, 'developer'))
      ? 'the role developer'
      : undefined,

  (body, { system }) => {
    const places = messagesOf(body).flatMap((message, place) => (isRole(message, 'system', 'developer') ? [place] : []))
    if (system === 'none' && places.length > 0) return 'a system message'
    return system === 'first' && places.some((place) => place > 0) ? 'a system message behind others' : undefined
  },

  (body, { alternates, joinsAnswers }) => {
    const pairs = messagesOf(body).map((message, place, all) => [all[place - 1], message] as const)
    const two = pairs.find(
      ([before, message]) =>
        (alternates && isRole(before, 'user') && isRole(message, 'user')) ||
        ((alternates || joinsAnswers) && isRole(before, 'assistant') && isRole(message, 'assistant')),
    )
    return two === undefined ? undefined : `two messages of the role ${String(two[1]['role'])} in a row`
  },

  (body, { userAfterTool }) => {
    const all = messagesOf(body)
    const isBroken = all.some((message, place) => isRole(message, 'user') && isRole(all[place - 1], 'tool'))
    return !userAfterTool && isBroken ? 'a user message behind a result' : undefined
  },

  (body, { needsUser }) =>
    needsUser && !messagesOf(body).some((message) => isRole(message, 'user', 'tool')) ? 'no user message' : undefined,

  (body, { emptyAnswers }) =>
    emptyAnswers === 'drop' &&
    messagesOf(body).some(
      (message) => isRole(message, 'assistant') && isBlank(message['content']) && callsOf(message).length === 0,
    )
      ? 'an empty message of the assistant'
      : undefined,

  (body, { callContent, textLists }) => {
    for (const message of messagesOf(body)) {
      const { content } = message
      if (
        callContent === 'text' &&
        isRole(message, 'assistant') &&
        typeof content !== 'string' &&
        !Array.isArray(content)
      )
        return 'content that is null'
      if (!textLists && Array.isArray(content) && list(content).every(({ type }) => type === 'text'))
        return 'a list of texts'
    }
    return undefined
  },

  (body, { pairedCalls }) => (pairedCalls ? unpaired(messagesOf(body)) : undefined),

  (body, { severalCalls }) =>
    !severalCalls && messagesOf(body).some((message) => callsOf(message).length > 1) ? 'several calls' : undefined,

  ({ tools, tool_choice: choice, parallel_tool_calls: parallel }, { emptyTools }) =>
    !emptyTools && list(tools).length === 0 && [tools, choice, parallel].some((each) => each !== undefined)
      ? 'no tools'
      : undefined,

  (body, { signedCalls }) =>
    signedCalls && messagesOf(body).some((message) => callsOf(message).some((call) => isBlank(call['extra_content'])))
      ? 'a call without a signature'
      : undefined,

  (body, { callIds }) => {
    const form = idForms[callIds]
    const odd = messagesOf(body)
      .flatMap((message) => [...idsOf(message), ...(isRole(message, 'tool') ? [String(message['tool_call_id'])] : [])])
      .find((id) => !form.test(id))
    return odd === undefined ? undefined : `the id ${odd}`
  },

  (body, { prefill }) => {
    const last = messagesOf(body).at(-1)
    if (!isRole(last, 'assistant') || callsOf(last).length > 0) return undefined
    if (prefill === 'refused') return 'an assistant message at the end'
    return prefill === 'prefix' && last?.['prefix'] !== true ? 'an assistant message without prefix' : undefined
  },

  (body, { drop, rename, dropInMessages, dropInTools, strict }) => {
    const refusedTools = strict === 'drop' ? [...dropInTools, 'strict'] : dropInTools
    const levels = [
      { objects: [body], names: [...drop, ...Object.keys(rename)] },
      { objects: messagesOf(body), names: dropInMessages },
      { objects: list(body['tools']).flatMap((tool) => [tool, member(tool, 'function')]), names: refusedTools },
      {
        objects: [member(body['response_format'], 'json_schema')],
        names: strict === 'drop' ? ['strict'] : [],
      },
    ]
    const found = levels.flatMap(({ objects, names }) =>
      names.filter((name) => objects.some((each) => has(each, name))),
    )
    return found.length === 0 ? undefined : `the member ${found.join()}`
  },

  (body, { sampling }) => {
    for (const [name, rule] of Object.entries(sampling)) {
      const value = body[name]
      if (value === undefined || value === null) continue
      if (rule === 'refused') return `the member ${name}`
      if (typeof value === 'number' && (value < rule[0] || value > rule[1])) return `${name} out of its range`
    }
    return undefined
  },

  ({ max_tokens: usual, max_completion_tokens: newer }, { minTokens, maxTokens }) =>
    [usual, newer].some((each) => typeof each === 'number' && (each < minTokens || each > maxTokens))
      ? 'a limit out of its range'
      : undefined,

  ({ stop }, { stops }) =>
    (Array.isArray(stop) ? stop.length : isBlank(stop) ? 0 : 1) > stops ? 'stop sequences' : undefined,

  ({ tools }, profile) => (list(tools).length > profile.tools ? 'too many tools' : undefined),

  ({ reasoning_effort: effort }, { efforts }) =>
    efforts !== undefined && typeof effort === 'string' && !efforts.some((each) => each === effort)
      ? `the effort ${effort}`
      : undefined,

  ({ tool_choice: choice, ...body }, { forcedTool, thinks }) => {
    const isNamed = isRecord(choice)
    if (!isNamed && choice !== 'required') return undefined
    if (forcedTool === 'auto' || (forcedTool === 'unthinking' && thinks === 'always')) return 'a forced call'
    if (forcedTool === 'required' && isNamed) return 'a named tool'
    return forcedTool === 'unthinking' && thinks !== 'never' && !isUnthinking(body)
      ? 'a forced call beside thinking'
      : undefined
  },

  (body, { answerFormat, jsonBesideTools, needsWordJson }) => {
    const type = member(body['response_format'], 'type')
    if (type !== 'json_object' && type !== 'json_schema') return undefined
    if (answerFormat === 'none' || (!jsonBesideTools && list(body['tools']).length > 0)) return 'a JSON answer'
    if (answerFormat === 'object' && type === 'json_schema') return 'a schema'
    if (answerFormat === 'schema' && type === 'json_object') return 'json_object'
    const hasWord = /json/i.test(JSON.stringify(body['messages']))
    return needsWordJson && type === 'json_object' && !hasWord ? 'json_object without the word' : undefined
  },
]

const idForms: Readonly<Record<TargetProfile['callIds'], RegExp>> = {
  any: /^/,
  short: /^.{0,40}$/s,
  letters9: /^[a-zA-Z0-9]{9}$/,
  kimi: /^functions\..+:\d+$/,
}

function has(value: unknown, name: string): boolean {
  const found = member(value, name)
  return found !== undefined && found !== null
}

function isUnthinking({ reasoning_effort, thinking, enable_thinking, chat_template_kwargs }: JsonObject): boolean {
  return (
    reasoning_effort === 'none' ||
    member(thinking, 'type') === 'disabled' ||
    enable_thinking === false ||
    member(chat_template_kwargs, 'enable_thinking') === false
  )
}

/** A call whose result does not stand behind it, before any other message, or a result without a call. */
function unpaired(messages: readonly JsonObject[]): string | undefined {
  const seen = new Set<string>()
  let open: readonly string[] = []
  for (const message of [...messages, {}]) {
    if (isRole(message, 'tool')) {
      const id = String(message['tool_call_id'])
      if (!open.includes(id)) return 'a result without a call'
      open = open.filter((each) => each !== id)
      continue
    }
    if (open.length > 0) return 'a call without a result'
    open = idsOf(message)
    if (open.some((id) => seen.has(id)) || new Set(open).size < open.length) return 'a repeated id'
    for (const id of open) seen.add(id)
  }
  return undefined
}
