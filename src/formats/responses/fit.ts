import type { TargetProfile } from '../../profiles/profile.ts'
import { nearestEffort } from '../chat/fit-reasoning.ts'
import { fitSampling } from '../chat/fit-sampling.ts'
import { checkBody } from '../check-body.ts'
import { objectOf, omit, textOf } from '../exact-json.ts'
import { fittedBody, type FitStep } from '../fit-steps.ts'
import type { ChangeNotes } from '../format.ts'
import { dropInTools } from '../messages/fit.ts'
import type { RequestDraft } from '../request-draft.ts'
import { requestReader, type ResponsesRequest } from './request.ts'

const steps: readonly FitStep[] = [fitEffort, fitSampling, dropInside, dropInTools]

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

/** The effort of reasoning as the nearest that the target takes. */
function fitEffort(draft: RequestDraft, { efforts }: TargetProfile, changes: ChangeNotes | undefined): void {
  const reasoning = objectOf(draft.get('reasoning'))
  const effort = textOf(reasoning['effort'])
  if (effort === undefined || efforts === undefined || efforts.some((taken) => taken === effort)) return
  const nearest = nearestEffort(effort, efforts)
  draft.set('reasoning', nearest === undefined ? omit(reasoning, ['effort']) : { ...reasoning, effort: nearest })
  if (nearest === undefined) changes?.drop('reasoning.effort')
  else changes?.adjust('reasoning.effort')
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
