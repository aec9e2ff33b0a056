import type { TargetProfile } from '../../profiles/profile.ts'
import { checkBody } from '../check-body.ts'
import { isObject, objectOf, omit } from '../exact-json.ts'
import { fitEffortIn, fitLimit, fitNumber, type FitStep, fittedBody } from '../fit-steps.ts'
import type { ChangeNotes } from '../format.ts'
import type { RequestDraft } from '../request-draft.ts'
import { inDialects, ofObject } from '../schema-dialects.ts'
import { requestReader, type ResponsesRequest } from './request.ts'

const steps: readonly FitStep[] = [fitSampling, fitEffort, fitTools, fitAnswer, dropInside]

/**
 * The request in the form that a target takes ({@link TargetProfile}); without a change the same request, with the
 * caller's bytes.
 */
export function fitResponsesRequest(
  request: ResponsesRequest,
  profile: TargetProfile,
  changes: ChangeNotes | undefined,
): ResponsesRequest {
  const body = fittedBody(request, steps, { profile, changes })
  return body === undefined ? request : checkBody(body, requestReader(request.format))
}

function fitSampling(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  fitLimit(draft, 'max_output_tokens', profile, changes)
  for (const name of ['temperature', 'top_p', 'top_logprobs']) {
    const rule = profile.sampling[name]
    if (rule !== undefined) fitNumber(draft, name, rule, changes)
  }
}

function fitEffort(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  fitEffortIn(draft, 'reasoning', profile, changes)
}

/** Parameters of strict tools, and of all tools where the dialect is not that of strict ones alone. */
function fitTools(draft: RequestDraft, { strict, toolSchema, dropInTools }: TargetProfile): void {
  if (strict === 'keep' && toolSchema.length + dropInTools.length === 0) return
  const tools = draft.objects('tools')
  if (tools === undefined) return
  const fitting = tools.map((given) => {
    const tool = dropInTools.some((name) => name in given) ? omit(given, dropInTools) : given
    if (tool['type'] !== 'function') return tool
    const needed = toolSchema.filter((dialect) => dialect !== 'closed' || tool['strict'] === true)
    const parameters = needed.length === 0 ? tool['parameters'] : inDialects(ofObject(tool['parameters']), needed)
    const isRefused = strict === 'drop' && 'strict' in tool
    if (parameters === tool['parameters'] && !isRefused) return tool
    return { ...(isRefused ? omit(tool, ['strict']) : tool), parameters }
  })
  if (fitting.some((tool, index) => tool !== tools[index])) draft.setObjects('tools', fitting)
}

function fitAnswer(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  const { answerSchema, strict } = profile
  if (strict === 'keep' && answerSchema.length === 0) return
  const text = objectOf(draft.get('text'))
  const format = objectOf(text['format'])
  if (!isObject(format['schema'])) return
  const schema = inDialects(format['schema'], answerSchema)
  const isRefused = strict === 'drop' && 'strict' in format
  if (schema === format['schema'] && !isRefused) return
  draft.set('text', { ...text, format: { ...(isRefused ? omit(format, ['strict']) : format), schema } })
  if (schema !== format['schema']) changes?.adjust('text.format')
}

/** Members of members that the target refuses, such as `reasoning.summary`. */
function dropInside(draft: RequestDraft, { drop }: TargetProfile, changes: ChangeNotes | undefined): void {
  for (const name of drop) {
    const [outer = '', inner] = name.split('.')
    if (inner === undefined) continue
    const value = objectOf(draft.get(outer))
    if (!(inner in value)) continue
    draft.set(outer, omit(value, [inner]))
    changes?.drop(name)
  }
}
