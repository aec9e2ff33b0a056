/** Rarely shown parts of the chat, loaded as one chunk. */
export { FirstUse } from './first-use.tsx'
export { LogprobsView } from './logprobs-view.tsx'
export { ModelsThatFit } from './models-that-fit.tsx'
export { ProvenanceDetails } from './provenance-details.tsx'
export { RefusedFiles } from './refused-files.tsx'
