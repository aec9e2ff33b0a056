import type { TargetProfile } from '../../profiles/profile.ts'
import { WireError } from '../error.ts'
import { listOf } from '../exact-json.ts'
import { fitLimit, fitNumber, type FitStep, fittedBody } from '../fit-steps.ts'
import type { ChangeNotes } from '../format.ts'
import type { RequestDraft } from '../request-draft.ts'
import { untranslatable } from '../untranslatable.ts'
import { fitAnswer } from './fit-answer.ts'
import { fitMessages } from './fit-messages.ts'
import { fitReasoning } from './fit-reasoning.ts'
import { fitTools } from './fit-tools.ts'
import { parseChatRequest, type ChatRequest } from './request.ts'

/** In their order: each sees the changes of the steps before. */
const steps: readonly FitStep[] = [fitReasoning, fitTools, fitSampling, fitAnswer, fitMessages]

/**
 * The request in the form that a target takes ({@link TargetProfile}). Without a change it is the same request, with
 * the caller's bytes; members that stay keep their bytes.
 *
 * @throws {UpstreamFailure} `bad_request` for a request that the target cannot take in any form
 */
export function fitChatRequest(
  request: ChatRequest,
  profile: TargetProfile,
  changes: ChangeNotes | undefined,
): ChatRequest {
  const body = fittedBody(request, steps, { profile, changes })
  return body === undefined ? request : checked(body)
}

function checked(body: Uint8Array): ChatRequest {
  try {
    return parseChatRequest(body)
  } catch (error) {
    throw error instanceof WireError ? untranslatable(`A request with this content (${error.message})`) : error
  }
}

/** Sampling and stop sequences that the target refuses are left out; numbers beyond its range are moved into it. */
function fitSampling(draft: RequestDraft, profile: TargetProfile, changes: ChangeNotes | undefined): void {
  for (const [name, rule] of Object.entries(profile.sampling)) fitNumber(draft, name, rule, changes)
  for (const name of ['max_tokens', 'max_completion_tokens']) fitLimit(draft, name, profile, changes)
  fitStops(draft, profile.stops, changes)
  for (const [name, value] of Object.entries(profile.add)) if (!draft.has(name)) draft.set(name, value)
}

function fitStops(draft: RequestDraft, most: number, changes: ChangeNotes | undefined): void {
  if (most === Infinity) return
  const stop = draft.get('stop')
  const stops = typeof stop === 'string' ? [stop] : listOf(stop)
  if (stops.length <= most) return
  if (most === 0) draft.remove('stop')
  else draft.set('stop', stops.slice(0, most))
  changes?.drop('stop')
}
