/** Rarely shown parts of the chat, loaded as one chunk. */
export { ErrorCard } from './error-card.tsx'
export { FirstUse } from './first-use.tsx'
export { LogprobsView } from './logprobs-view.tsx'
export { ProvenanceDetails } from './provenance-details.tsx'
export { RefusedFiles } from './refused-files.tsx'
