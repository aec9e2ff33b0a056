import type { ParameterName } from './parameters.ts'

/** Texts about a parameter. */
export interface ParameterTexts {
  readonly label: string
  /** Its effect, in one sentence. */
  readonly explanation: string
}

/** Texts about every parameter. */
export const parameterTexts: Readonly<Record<ParameterName, ParameterTexts>> = {
  temperature: { label: 'Temperature', explanation: 'Lower is more predictable, higher more varied.' },
  top_p: {
    label: 'Top P',
    explanation:
      'Only the likeliest tokens that together have this probability are considered. ' +
      'Change this or the temperature, not both.',
  },
  frequency_penalty: {
    label: 'Frequency penalty',
    explanation: 'Above zero, a token becomes less likely each time it was used.',
  },
  presence_penalty: {
    label: 'Presence penalty',
    explanation: 'Above zero, a token becomes less likely once it was used, which leads to new topics.',
  },
  seed: {
    label: 'Seed',
    explanation: 'The same seed and the same request give the same answer, as far as the provider can.',
  },
  max_completion_tokens: {
    label: 'Max completion tokens',
    explanation: 'The answer ends after this many tokens, those of its reasoning included.',
  },
  max_tokens: {
    label: 'Max tokens',
    explanation: 'The older name of the same limit, which some providers still want.',
  },
  stop: {
    label: 'Stop sequences',
    explanation: 'The answer ends before any of these texts. Many providers take four at most.',
  },
  reasoning_effort: {
    label: 'Reasoning effort',
    explanation: 'How much a model that reasons thinks before it answers.',
  },
  enable_thinking: { label: 'Thinking', explanation: 'Switches thinking on or off, for models that allow it.' },
  logprobs: { label: 'Log probabilities', explanation: 'How likely each token of the answer was.' },
  top_logprobs: {
    label: 'Top log probabilities',
    explanation: 'How many other tokens are shown for each token of the answer.',
  },
  stream: {
    label: 'Stream the answer',
    explanation: 'Shows the answer while it is written. Switched off, it comes as a whole.',
  },
}
