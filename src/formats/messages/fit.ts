import type { JsonObject } from '../../base/json-value.ts'
import type { TargetProfile } from '../../profiles/profile.ts'
import { checkBody } from '../check-body.ts'
import { isObject, listOf, numberOf, objectOf, objectsOf, omit, textOf } from '../exact-json.ts'
import { fitEffortIn, fitLimit, type FitStep, fittedBody, setOrRemove } from '../fit-steps.ts'
import type { ChangeNotes } from '../format.ts'
import type { RequestDraft } from '../request-draft.ts'
import { inDialects } from '../schema-dialects.ts'
import { markedSystem } from '../turns.ts'
import { fitCacheMarks, fitImages, fitPairs } from './fit-content.ts'
import { placeCacheMarks } from './place-cache-marks.ts'
import { messagesCheck, type MessagesRequest } from './request.ts'

const steps: readonly FitStep[] = [
  fitThinking,
  fitSampling,
  fitSchema,
  fitTools,
  placeSystem,
  fitImages,
  fitPairs,
  fitCacheMarks,
  placeCacheMarks,
]

/**
 * The request in the form that a target takes ({@link TargetProfile}); without a change the same request, with the
 * caller's bytes.
 */
export function fitMessagesRequest(
  request: MessagesRequest,
  profile: TargetProfile,
  changes: ChangeNotes | undefined,
): MessagesRequest {
  const body = fittedBody(request, steps, { profile, changes })
  return body === undefined ? request : checkBody(body, messagesCheck(request.format, [], request.headers))
}

/** Budgets of thinking as efforts, in tokens. */
const efforts: readonly (readonly [budget: number, effort: string])[] = [
  [4_096, 'low'],
  [16_384, 'medium'],
  [Infinity, 'high'],
]

function fitThinking(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  const thinking = objectOf(draft.get('thinking'))
  const config = objectOf(draft.get('output_config'))
  if (thinking['type'] === 'disabled' && !profile.effortWithoutThinking && 'effort' in config) {
    setOrRemove(draft, 'output_config', omit(config, ['effort']))
    changes?.drop('output_config.effort')
  }
  fitEffortIn(draft, 'output_config', profile, changes)
  if (profile.thinkingForm === 'budget' || thinking['type'] === undefined) return
  const isForm = profile.thinkingForm === 'adaptive' ? thinking['type'] !== 'enabled' : false
  if (isForm) return
  changes?.adjust('thinking')
  if (profile.thinkingForm === 'adaptive') {
    const { budget_tokens: _, ...others } = thinking
    draft.set('thinking', { ...others, type: 'adaptive' })
  } else draft.remove('thinking')
  const budget = numberOf(thinking['budget_tokens'])
  if (budget === undefined || 'effort' in config) return
  const effort = efforts.find(([most]) => budget < most)?.[1]
  draft.set('output_config', { ...config, effort })
}

function fitSampling(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  const { sampling, stops } = profile
  fitLimit(draft, 'max_tokens', profile, changes)
  for (const name of ['temperature', 'top_p', 'top_k'])
    if (sampling[name] === 'refused' && draft.remove(name)) changes?.drop(name)
  if (stops !== 0 || listOf(draft.get('stop_sequences')).length === 0) return
  draft.remove('stop_sequences')
  changes?.drop('stop_sequences')
}

function fitSchema(draft: RequestDraft, { answerSchema }: TargetProfile, changes: ChangeNotes | undefined): void {
  const config = objectOf(draft.get('output_config'))
  const format = objectOf(config['format'])
  if (answerSchema.length === 0 || !isObject(format['schema'])) return
  const schema = inDialects(format['schema'], answerSchema)
  if (schema === format['schema']) return
  draft.set('output_config', { ...config, format: { ...format, schema } })
  changes?.adjust('output_config.format')
}

function fitTools(draft: RequestDraft, { dropInTools, toolSchema }: TargetProfile): void {
  if (dropInTools.length + toolSchema.length === 0) return
  const tools = draft.objects('tools')
  if (tools === undefined) return
  const fitting = tools.map((tool) => {
    const kept = dropInTools.some((name) => name in tool) ? omit(tool, dropInTools) : tool
    const schema = kept['input_schema']
    const fits = !isObject(schema) || toolSchema.length === 0
    const input_schema = fits ? schema : inDialects(schema, toolSchema)
    return input_schema === schema ? kept : { ...kept, input_schema }
  })
  if (fitting.some((tool, index) => tool !== tools[index])) draft.setObjects('tools', fitting)
}

/** System messages among the others as marked user text: only Anthropic takes them there. */
function placeSystem(draft: RequestDraft, { system }: TargetProfile, changes: ChangeNotes | undefined): void {
  if (system === 'any') return
  const messages = draft.objects('messages') ?? []
  if (!messages.some(({ role }) => role === 'system')) return
  changes?.adjust('system')
  const placed: JsonObject[] = []
  for (const message of messages) {
    const next = message['role'] === 'system' ? asUser(message) : message
    const last = placed.at(-1)
    const isJoined = last !== undefined && last['role'] === 'user' && next['role'] === 'user'
    if (isJoined) placed[placed.length - 1] = { ...last, content: [...blocksOf(last), ...blocksOf(next)] }
    else placed.push(next)
  }
  draft.setObjects('messages', placed)
}

function asUser(message: JsonObject): JsonObject {
  const text = blocksOf(message)
    .map(({ text }) => textOf(text) ?? '')
    .join('\n')
  return { role: 'user', content: [{ type: 'text', text: markedSystem(text) }] }
}

function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content)
}
