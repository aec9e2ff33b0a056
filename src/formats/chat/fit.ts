import type { TargetProfile } from '../../profiles/profile.ts'
import { WireError } from '../error.ts'
import { fittedBody, type FitStep } from '../fit-steps.ts'
import type { ChangeNotes } from '../format.ts'
import { untranslatable } from '../untranslatable.ts'
import { fitAnswer } from './fit-answer.ts'
import { fitMessages } from './fit-messages.ts'
import { fitReasoning } from './fit-reasoning.ts'
import { fitSampling } from './fit-sampling.ts'
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
