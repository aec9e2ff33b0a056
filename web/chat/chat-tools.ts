/** Rarely shown parts of the chat, loaded as one chunk. */
export { FirstUse } from './first-use.tsx'
export { LargerModel } from './larger-model.tsx'
export { LogprobsView } from './logprobs-view.tsx'
export { ProvenanceDetails } from './provenance-details.tsx'
export { RefusedFiles } from './refused-files.tsx'
