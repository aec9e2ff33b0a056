/** Rarely shown parts of the chat, loaded as one chunk. */
export { EditMessage } from './edit-message.tsx'
export { ErrorCard } from './error-card.tsx'
export { FirstUse } from './first-use.tsx'
export { LogprobsView } from './logprobs-view.tsx'
export { PhaseNotice } from './phase-notice.tsx'
export { ProvenanceDetails } from './provenance-details.tsx'
export { RefusedFiles } from './refused-files.tsx'
export { RetryWith } from './retry-with.tsx'
