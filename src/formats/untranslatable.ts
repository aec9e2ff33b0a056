import { UpstreamFailure, type FailureDetails } from '../service/failure.ts'

/**
 * The failure of a request that the provider's format cannot express. The next provider is tried. `what` is the subject
 * of the message.
 */
export function untranslatable(
  what: string,
  details: Pick<FailureDetails, 'field' | 'unsupported'> = {},
): UpstreamFailure {
  return new UpstreamFailure('bad_request', `${what} cannot be translated for this provider`, details)
}
